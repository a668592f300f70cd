// What one-line ops are made of: shape rules, sharding rules, formulas applied to elements, and the
// sending of cotangents. Included by op groups only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/expr.h"
#include "ir/interfaces.h"
#include "ir/interpret/evaluate_elementwise.h"
#include "ir/math/emit_value.h"
#include "ir/math/functions.h"

namespace pdg {

//===- Shapes --------------------------------------------------------------===//

/// The sizes of `type`, with a new symbol for each that is not known.
Dims dimsOfType(mlir::Type type, ShapeRule &rule);

/// Sizes as the shape of a type.
llvm::SmallVector<int64_t> shapeFromDims(llvm::ArrayRef<mlir::AffineExpr> dims);

/// The body of `inferReturnTypes` for an op with `dimsOf` and `elementOf`.
template <class OpTy>
mlir::LogicalResult inferFromDims(mlir::MLIRContext *context, std::optional<mlir::Location> loc,
                                  typename OpTy::Adaptor op,
                                  llvm::SmallVectorImpl<mlir::Type> &types) {
  ShapeRule rule(context, loc);
  llvm::SmallVector<Dims> operands;
  for (mlir::Value operand : op.getOperands())
    operands.push_back(dimsOfType(operand.getType(), rule));
  mlir::FailureOr<Dims> dims = OpTy::dimsOf(op, operands, rule);
  if (failed(dims))
    return mlir::failure();
  types.push_back(mlir::RankedTensorType::get(shapeFromDims(*dims), OpTy::elementOf(op)));
  return mlir::success();
}

/// Rule of element-wise ops: all operands have equal sizes.
mlir::FailureOr<Dims> sameDims(llvm::ArrayRef<Dims> dims, ShapeRule &rule);

/// `dims` without axis `axis`; an error if there is no such axis.
mlir::FailureOr<Dims> dropAxis(const Dims &dims, int64_t axis, ShapeRule &rule);

/// Reports an axis that is not in [0, rank).
mlir::LogicalResult checkAxis(int64_t axis, size_t rank, ShapeRule &rule);

//===- Sharding ------------------------------------------------------------===//

/// Every axis is a factor of its own, the same in all operands and the result.
ShardingRule elementwiseSharding(mlir::Operation *op);

/// The reduced axis is a sum or a maximum; argmax and argmin need it whole.
ShardingRule reductionSharding(ReductionOpInterface op);

/// From an index rule: free indices are parallel, summed ones are sums.
ShardingRule contractionSharding(const ContractionRule &rule);

//===- Elements ------------------------------------------------------------===//

/// The value of an element in a register, with the sign that its type has.
Emitted emitted(ElementContext &context, mlir::Value value, mlir::Type element);

/// Loads all operands at `index` and applies the formula `fn`.
template <class OpTy, class Fn>
mlir::Value emitElementwise(OpTy op, ElementContext &context, llvm::ArrayRef<AxisIndex> index,
                            Fn fn) {
  auto at = [&](unsigned i) {
    mlir::Value operand = op->getOperand(i);
    return emitted(context, context.load(i, index), mlir::getElementTypeOrSelf(operand.getType()));
  };
  // Operands are loaded in order, so that the code is the same with every compiler. One that is
  // the same in all lanes comes as one element.
  Emitted x = at(0);
  if constexpr (std::is_invocable_v<Fn, Emitted>) {
    return fn(x).value;
  } else {
    Emitted y = at(1);
    if constexpr (std::is_invocable_v<Fn, Emitted, Emitted>) {
      return fn(broadcastLike(x, y), broadcastLike(y, x)).value;
    } else {
      Emitted z = at(2);
      Emitted wide = broadcastLike(broadcastLike(x, y), z);
      return fn(wide, broadcastLike(y, wide), broadcastLike(z, wide)).value;
    }
  }
}

//===- Gradients -----------------------------------------------------------===//

/// Sends `vjp(g, x, r)` to the operand of a unary op, if it is wanted.
template <class OpTy, class Fn>
void sendUnary(OpTy op, mlir::OpBuilder &b, Reverse &reverse, Fn vjp) {
  mlir::Value g = reverse.cotangent(op.getResult());
  if (!g || !reverse.isActive(op.getX()))
    return;
  TensorExpr ct{b, op.getLoc(), g};
  reverse.add(op.getX(), vjp(ct, ct.with(op.getX()), ct.with(op.getResult())).value);
}

/// Sends `vjp(g, x, y, r)` to operand `side` of a binary op, if it is wanted.
template <class OpTy, class Fn>
void sendBinary(OpTy op, mlir::OpBuilder &b, Reverse &reverse, unsigned side, Fn vjp) {
  mlir::Value g = reverse.cotangent(op.getResult());
  mlir::Value to = op->getOperand(side);
  if (!g || !reverse.isActive(to))
    return;
  TensorExpr ct{b, op.getLoc(), g};
  reverse.add(to, vjp(ct, ct.with(op.getX()), ct.with(op.getY()), ct.with(op.getResult())).value);
}

/// Sends the cotangent of a select to the chosen side.
void sendSelect(mlir::Operation *op, mlir::OpBuilder &b, Reverse &reverse);

} // namespace pdg
