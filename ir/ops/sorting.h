// The op classes of ir/ops/sorting.td.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dialect.h"
#include "ir/order_interfaces.h"

#define GET_OP_CLASSES
#include "ir/ops/sorting.h.inc"
