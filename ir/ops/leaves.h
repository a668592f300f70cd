// The op classes of ir/ops/leaves.td.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dialect.h"

#define GET_OP_CLASSES
#include "ir/ops/leaves.h.inc"

namespace pdg {

/// Reports operands that are no leaves: axis 0 has 1, 2, 4, 8 or 16 elements.
mlir::LogicalResult verifyLeaves(mlir::Operation *op, mlir::Value leaves);

/// The sizes of leaves that must be leaves of a sum with the sizes `sum`.
mlir::FailureOr<Dims> leavesDims(const Dims &leaves, Dims sum, ShapeRule &rule);

} // namespace pdg
