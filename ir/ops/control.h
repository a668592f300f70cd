// The op classes of ir/ops/control.td.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dialect.h"
#include "ir/ops/variable.h"

#define GET_OP_CLASSES
#include "ir/ops/control.h.inc"
