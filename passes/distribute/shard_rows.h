// Reading and adding rows of a table that is split: each server does it for its own rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dialect.h"

#include "mlir/IR/Builders.h"

namespace pdg {

/// Whether `op` reads rows of the table `value` along axis 0 and is made of whole batches, so that
/// rows are to travel and not the table.
bool readsRowsOf(mlir::Operation *op, mlir::Value value);

/// Builds the result of `op`, which reads rows of a table, from slices of the table that begin at
/// `bounds`: each gives a row for each index, of which the right one is taken. An index outside of
/// the table is outside of the first or the last slice.
mlir::Value gatherFromSlices(mlir::OpBuilder &b, mlir::Operation *op, mlir::ValueRange slices,
                             llvm::ArrayRef<int64_t> bounds);

/// Builds the slices of the result of `op`, which adds rows at indices into zeros: rows that belong
/// to other slices go to a row that is left out.
llvm::SmallVector<mlir::Value> scatterIntoSlices(mlir::OpBuilder &b, mlir::Operation *op,
                                                 llvm::ArrayRef<int64_t> bounds);

} // namespace pdg
