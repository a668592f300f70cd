// Formulas in C++ that build pdg ops: what gradients are written in.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/interfaces.h"

namespace pdg {

/// A tensor value with the place where ops are built. Operators build element-wise ops; both
/// operands must have equal sizes, or one is a number, which becomes a constant of the other's type
/// and shape.
struct TensorExpr {
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Value value;
  TensorExpr with(mlir::Value other) const { return {b, loc, other}; }
};

/// The constant `value` with the type and sizes of `like`.
mlir::Value constantLike(mlir::OpBuilder &b, mlir::Location loc, mlir::Value like, double value);

/// A scalar constant of element type `type` (a tensor or an element type).
mlir::Value scalarConstant(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, double value);

/// A scalar i64 constant.
mlir::Value sizeConstant(mlir::OpBuilder &b, mlir::Location loc, int64_t value);

/// The sizes of `value` as a shape argument: static ones as numbers, a `pdg.dim` for each other.
void shapeOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
             llvm::SmallVectorImpl<int64_t> &shape, llvm::SmallVectorImpl<mlir::Value> &sizes);

/// `value` in the sizes of `like`: no op if it has them.
mlir::Value broadcastTo(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                        mlir::Value like);

/// `value` summed over the axes that a broadcast to it repeated, so that it has the sizes of
/// `like`.
mlir::Value sumTo(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, mlir::Value like);

/// `value` in the shape of `like`, which has as many elements.
mlir::Value reshapeTo(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, mlir::Value like);

/// The sum of `value` over `axes` (distinct, in range). The order is the one of meaning: adjacent
/// axes count as one, axis 0 comes last. With `keep` the axes stay, with size 1.
mlir::Value sumOver(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                    llvm::ArrayRef<int64_t> axes, bool keep);

/// The contraction by `rule`, transposes of the operands folded into it; the order of its sums is
/// fixed here.
mlir::Value contract(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef rule, mlir::Value lhs,
                     mlir::Value rhs);

TensorExpr operator+(TensorExpr x, TensorExpr y);
TensorExpr operator-(TensorExpr x, TensorExpr y);
TensorExpr operator*(TensorExpr x, TensorExpr y);
TensorExpr operator/(TensorExpr x, TensorExpr y);
TensorExpr operator-(TensorExpr x);
TensorExpr operator+(TensorExpr x, double y);
TensorExpr operator-(TensorExpr x, double y);
TensorExpr operator*(TensorExpr x, double y);
TensorExpr operator/(TensorExpr x, double y);
TensorExpr operator+(double x, TensorExpr y);
TensorExpr operator-(double x, TensorExpr y);
TensorExpr operator*(double x, TensorExpr y);
TensorExpr exp(TensorExpr x);
TensorExpr log(TensorExpr x);
TensorExpr sqrt(TensorExpr x);
TensorExpr sinh(TensorExpr x);
TensorExpr cosh(TensorExpr x);
TensorExpr sin(TensorExpr x);
TensorExpr cos(TensorExpr x);
TensorExpr sign(TensorExpr x);
TensorExpr pow(TensorExpr x, TensorExpr y);
TensorExpr floorDiv(TensorExpr x, TensorExpr y);
TensorExpr gt(TensorExpr x, double y);
TensorExpr ge(TensorExpr x, TensorExpr y);
TensorExpr le(TensorExpr x, TensorExpr y);
TensorExpr select(TensorExpr condition, TensorExpr x, double y);
TensorExpr select(TensorExpr condition, double x, TensorExpr y);

} // namespace pdg
