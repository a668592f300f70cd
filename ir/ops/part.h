// The op classes of ir/ops/part.td.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dialect.h"

#define GET_OP_CLASSES
#include "ir/ops/part.h.inc"
