// The op classes of ir/ops/convolution.td.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dialect.h"
#include "ir/window_interfaces.h"

#define GET_OP_CLASSES
#include "ir/ops/convolution.h.inc"
