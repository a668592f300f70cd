// All elementary functions: exp expm1 exp2 sigmoid, log log1p log2 log10, pow rsqrt, erf, sin cos
// tan and their inverses, sinh cosh tanh and theirs, and the arithmetic of arithmetic.h. Each runs
// on any value of value.h and gives the same bits on all. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/math/arithmetic.h"
#include "ir/math/error_function.h"
#include "ir/math/exponential.h"
#include "ir/math/hyperbolic.h"
#include "ir/math/inverse_trigonometric.h"
#include "ir/math/logarithm.h"
#include "ir/math/power.h"
#include "ir/math/trigonometric.h"
