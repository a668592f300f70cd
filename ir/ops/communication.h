// The op classes of ir/ops/communication.td.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dialect.h"

#define GET_OP_CLASSES
#include "ir/ops/communication.h.inc"
