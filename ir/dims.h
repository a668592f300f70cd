// Sizes of tensors as expressions of the few sizes that only the run knows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/interfaces.h"

#include "llvm/ADT/DenseMap.h"

namespace pdg {

class FusedOp;

/// Where a symbol of a size expression gets its value: the examples in a batch of a loop over data
/// (the loop's first field), or an i64 scalar that nothing is known about.
struct SizeSymbol {
  mlir::Value value;     ///< A field of a `pdg.for_each`, or a scalar i64.
  bool isScalar = false; ///< `value` is the size itself; else its axis 0 has it.
  int64_t bound = 0;     ///< The size is at most this; 0: no bound is known.
};

/// Attribute of an op that gives a scalar i64: it is at most this. So whoever moves the op that
/// would say so to another program passes on what is known: `%n = pdg.recv ... {pdg.bound = 64 :
/// i64}`.
inline constexpr llvm::StringLiteral kBoundAttribute = "pdg.bound";

/// Sizes of values, computed on demand and remembered. Values of one region that are equal for a
/// reason the shape rules know get equal expressions: two uses of the same batch, N*T and N*T.
///
/// Valid as long as no op is erased; new ops may appear.
class ShapeAnalysis {
public:
  /// The sizes of `value`, a tensor.
  Dims dimsOf(mlir::Value value);
  /// The value of an i64 scalar as an expression of sizes.
  mlir::AffineExpr valueOf(mlir::Value scalar);
  /// Pairs of sizes that `op` needs to be equal and that only the run can compare.
  llvm::SmallVector<std::pair<mlir::AffineExpr, mlir::AffineExpr>> checksOf(mlir::Operation *op);
  llvm::ArrayRef<SizeSymbol> symbols() const { return symbols_; }
  /// The largest value that `size` can have, or nullopt if a symbol has no bound.
  std::optional<int64_t> boundOf(mlir::AffineExpr size) const;
  /// The largest number of elements of `value`, or nullopt.
  std::optional<int64_t> elementBoundOf(mlir::Value value);

private:
  mlir::AffineExpr newSymbol(SizeSymbol symbol, mlir::MLIRContext *context);
  Dims compute(mlir::Value value);
  Dims computeArgument(mlir::BlockArgument argument);
  mlir::AffineExpr computeScalar(mlir::Value scalar);
  mlir::AffineExpr computeFused(FusedOp fused, mlir::OpResult result);

  llvm::DenseMap<mlir::Value, Dims> dims_;
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> scalars_;
  llvm::SmallVector<SizeSymbol> symbols_;
};

/// Static sizes as a tensor shape has them: kDynamic for all that is not a constant.
llvm::SmallVector<int64_t> staticShape(llvm::ArrayRef<mlir::AffineExpr> dims);

/// The product of `dims` (1 for none).
mlir::AffineExpr productOf(llvm::ArrayRef<mlir::AffineExpr> dims, mlir::MLIRContext *context);

} // namespace pdg
