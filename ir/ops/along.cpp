// The ops of along.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/along.h"
#include "ir/interpret/evaluate_order.h"
#include "ir/ops/compare.h"
#include "ir/ops/shape.h"
#include "ir/rules.h"

namespace pdg {

/// Operands 1 and 2 have equal sizes, and those of operand 0 but for `axis`.
static mlir::FailureOr<Dims> placeDims(int64_t axis, llvm::ArrayRef<Dims> dims, ShapeRule &rule) {
  if (failed(checkAxis(axis, dims[0].size(), rule)))
    return mlir::failure();
  Dims others[2] = {dims[0], dims[1]};
  for (Dims &side : others)
    if (axis < static_cast<int64_t>(side.size()))
      side[axis] = rule.constant(0);
  if (failed(sameDims(others, rule)) || failed(sameDims(dims.drop_front(), rule)))
    return mlir::failure();
  return dims[0];
}

/// Every axis but `axis` is a factor of all operands.
static ShardingRule placeSharding(mlir::Operation *op, int64_t axis) {
  ShardingRule rule = elementwiseSharding(op);
  for (auto &factors : rule.operands)
    factors[axis] = -1;
  rule.kinds[axis] = FactorKind::Whole;
  return rule;
}

static mlir::LogicalResult verifyPlace(mlir::Operation *op) {
  if (mlir::getElementTypeOrSelf(op->getOperand(0)) ==
      mlir::getElementTypeOrSelf(op->getOperand(2)))
    return mlir::success();
  return op->emitOpError("expects values with the element type of x"); // C1
}

} // namespace pdg

#define GET_OP_CLASSES
#include "ir/ops/along.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/along.cpp.inc"
      >();
});

using namespace mlir;

namespace pdg {

//===- TakeAlongOp ---------------------------------------------------------===//

FailureOr<Dims> TakeAlongOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (failed(placeDims(op.getAxis(), dims, rule)))
    return failure();
  return dims[1];
}

Type TakeAlongOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX()); }

std::optional<RunCheck> TakeAlongOp::getRunCheck() {
  return RunCheck{RunCheck::IndexInRange, 1, 0, static_cast<int64_t>(getAxis())};
}

ShardingRule TakeAlongOp::getShardingRule() {
  // A slice of the indices reads the whole axis of x.
  ShardingRule rule = elementwiseSharding(*this);
  rule.operands[0][getAxis()] = -1;
  return rule;
}

Value TakeAlongOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  Value id = context.load(1, index);
  Type element = getElementTypeOrSelf(getIds().getType());
  SmallVector<AxisIndex> at(index);
  at[getAxis()] = {convert(emitted(context, id, element), Elem::I64).value};
  return context.load(0, at);
}

LogicalResult TakeAlongOp::evaluate(Evaluation &eval) {
  return evaluateTake(static_cast<int64_t>(getAxis()), eval);
}

LogicalResult TakeAlongOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (!g || !reverse.isActive(getX()))
    return success();
  Value zero = constantLike(b, getLoc(), getX(), 0);
  reverse.add(getX(), AddAlongOp::create(b, getLoc(), zero, getIds(), g, getAxis()));
  return success();
}

//===- PutAlongOp, AddAlongOp ----------------------------------------------===//

LogicalResult AddAlongOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (!g)
    return success();
  if (reverse.isActive(getX()))
    reverse.add(getX(), g);
  if (reverse.isActive(getValues()))
    reverse.add(getValues(), TakeAlongOp::create(b, getLoc(), g, getIds(), getAxis()));
  return success();
}

LogicalResult PutAlongOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (!g)
    return success();
  Location loc = getLoc();
  if (reverse.isActive(getX())) {
    Value zero = constantLike(b, loc, getValues(), 0);
    reverse.add(getX(), PutAlongOp::create(b, loc, g, getIds(), zero, getAxis()));
  }
  if (!reverse.isActive(getValues()))
    return success();
  // Of several values for one place only the last has a gradient: the one whose position is found
  // where all positions were written.
  SmallVector<int64_t> shape, places;
  SmallVector<Value> sizes, placeSizes;
  shapeOf(b, loc, getX(), shape, sizes);
  shapeOf(b, loc, getIds(), places, placeSizes);
  Value position = IotaOp::create(b, loc, b.getI64Type(), getAxis(), placeSizes, places);
  Value nobody = broadcastTo(b, loc, sizeConstant(b, loc, -1), getX());
  Value written = PutAlongOp::create(b, loc, nobody, getIds(), position, getAxis());
  Value winner = TakeAlongOp::create(b, loc, written, getIds(), getAxis());
  TensorExpr taken{b, loc, TakeAlongOp::create(b, loc, g, getIds(), getAxis())};
  Value stays = EqOp::create(b, loc, winner, position);
  reverse.add(getValues(), select(taken.with(stays), taken, 0.0).value);
  return success();
}

} // namespace pdg
