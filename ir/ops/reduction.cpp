// The ops of reduction.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/reduction.h"
#include "ir/interpret/evaluate_leaves.h"
#include "ir/ops/compare.h"
#include "ir/ops/leaves.h"
#include "ir/ops/shape.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/reduction.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/reduction.cpp.inc"
      >();
});

using namespace mlir;

namespace pdg {

/// `value`, which lacks axis `axis` of `like`, repeated along it.
static Value spread(OpBuilder &b, Location loc, Value value, Value like, int64_t axis) {
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  shapeOf(b, loc, value, shape, sizes);
  shape.insert(shape.begin() + axis, 1);
  Value kept = ReshapeOp::create(b, loc, value, sizes, shape);
  return broadcastTo(b, loc, kept, like);
}

LogicalResult SumOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (g && reverse.isActive(getX()))
    reverse.add(getX(), spread(b, getLoc(), g, getX(), getAxis()));
  return success();
}

int64_t SumOp::getLeafBound() {
  auto type = llvm::cast<RankedTensorType>(getX().getType());
  return getAxis() == 0 && isFloatTensor(type) ? leafBound(type.getDimSize(0)) : 0;
}

Value SumOp::addToLeaves(OpBuilder &b, Value leaves) {
  return SumLeavesOp::create(b, getLoc(), getX(), leaves);
}

/// All of the cotangent goes to the first element that has the extreme value.
template <class ArgOp, class OpTy>
static LogicalResult sendToExtreme(OpTy op, OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(op.getResult()), x = op.getX();
  if (!g || !reverse.isActive(x))
    return success();
  Location loc = op.getLoc();
  int64_t axis = op.getAxis();
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  shapeOf(b, loc, x, shape, sizes);
  Value position = IotaOp::create(b, loc, b.getI64Type(), axis, sizes, shape);
  Value chosen = spread(b, loc, ArgOp::create(b, loc, x, axis), x, axis);
  TensorExpr ct{b, loc, spread(b, loc, g, x, axis)};
  reverse.add(x, select(ct.with(EqOp::create(b, loc, position, chosen)), ct, 0.0).value);
  return success();
}

LogicalResult ReduceMaxOp::vjp(OpBuilder &b, Reverse &reverse) {
  return sendToExtreme<ArgMaxOp>(*this, b, reverse);
}

LogicalResult ReduceMinOp::vjp(OpBuilder &b, Reverse &reverse) {
  return sendToExtreme<ArgMinOp>(*this, b, reverse);
}

LogicalResult ArgMaxOp::vjp(OpBuilder &, Reverse &) { return success(); }
LogicalResult ArgMinOp::vjp(OpBuilder &, Reverse &) { return success(); }

} // namespace pdg
