// The values that loops carry and conditions yield, alike for all ops with regions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/interfaces.h"

namespace pdg {

/// The operands of `op`, which has regions, that are not carried: bounds, a condition.
mlir::OperandRange ownOperands(mlir::Operation *op);

/// The operands of `op` that are the first carried values, if it is a loop.
mlir::OperandRange initialValues(mlir::Operation *op);

/// The values that a region carries or gives: operands of its yield, as many as its op has results.
mlir::OperandRange yieldedValues(mlir::Block &block);

/// Builds `op` with other operands and results, and moves its regions there, as they are.
mlir::Operation *rebuildWithRegions(mlir::OpBuilder &b, mlir::Operation *op,
                                    mlir::ValueRange operands, mlir::TypeRange results);

/// Builds the yield of `block` with other values and erases the old one.
void replaceYield(mlir::Block &block, mlir::ValueRange values, mlir::Value goesOn);

} // namespace pdg
