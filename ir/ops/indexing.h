// The op classes of ir/ops/indexing.td.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dialect.h"
#include "ir/placing_interface.h"

#define GET_OP_CLASSES
#include "ir/ops/indexing.h.inc"
