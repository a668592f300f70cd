// How the interpreter runs ops that walk an axis in order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/order_interfaces.h"

namespace pdg {

/// Evaluates a scan by its recurrence.
mlir::LogicalResult evaluateScan(const ScanForm &form, Evaluation &eval);

/// Evaluates an argsort by a sort of positions.
mlir::LogicalResult evaluateSort(const SortForm &form, Evaluation &eval);

/// Reads along `axis` at the indices in operand 1, which are in range.
mlir::LogicalResult evaluateTake(int64_t axis, Evaluation &eval);

/// Writes or adds operand 2 at the indices in operand 1, which are in range.
mlir::LogicalResult evaluatePlace(const PlaceForm &form, Evaluation &eval);

} // namespace pdg
