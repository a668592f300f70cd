// All elementary functions: exp expm1 sigmoid tanh, log log1p, pow rsqrt, erf, sin cos, and the
// arithmetic of arithmetic.h. Each runs on any value of value.h and gives the same bits on all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/math/arithmetic.h"
#include "ir/math/error_function.h"
#include "ir/math/exponential.h"
#include "ir/math/logarithm.h"
#include "ir/math/power.h"
#include "ir/math/trigonometric.h"
