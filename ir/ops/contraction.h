// The op classes of ir/ops/contraction.td.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dialect.h"

#define GET_OP_CLASSES
#include "ir/ops/contraction.h.inc"
