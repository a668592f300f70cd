// The op classes of ir/ops/random.td.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dialect.h"

#define GET_OP_CLASSES
#include "ir/ops/random.h.inc"
