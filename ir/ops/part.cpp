// The ops of part.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/part.h"
#include "ir/interpret/strided_copy.h"
#include "ir/ops/shape.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/part.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/part.cpp.inc"
      >();
});

using namespace mlir;

namespace pdg {

//===- PartBeginOp ---------------------------------------------------------===//

LogicalResult PartBeginOp::verify() {
  // C1
  int64_t part = getPart(), of = getOf();
  if (of < 1 || of > 65536 || part < 0 || part > of)
    return emitOpError("expects a part of 0 to the number of parts, at most 65536, got ")
           << part << " of " << of;
  return success();
}

FailureOr<Dims> PartBeginOp::dimsOf(Adaptor, ArrayRef<Dims>, ShapeRule &) { return Dims(); }
Type PartBeginOp::elementOf(Adaptor op) { return IntegerType::get(op.getN().getContext(), 64); }
ShardingRule PartBeginOp::getShardingRule() { return {}; }
LogicalResult PartBeginOp::vjp(OpBuilder &, Reverse &) { return success(); }

LogicalResult PartBeginOp::evaluate(Evaluation &eval) {
  int64_t n = std::max<int64_t>(eval.operand(0).data<int64_t>()[0], 0);
  int64_t part = getPart(), of = getOf(), begin = 0;
  if (getPlus())
    part += std::clamp<int64_t>(eval.operand(1).data<int64_t>()[0], 0, of - part);
  if (getLeaves()) {
    int64_t leaves = leafCount(n);
    begin = n / leaves * (leaves * part / of);
  } else {
    // n * part may be too large for 64 bits.
    begin = n / of * part + n % of * part / of;
  }
  eval.result(0, {}).data<int64_t>()[0] = begin;
  return success();
}

OpFoldResult PartBeginOp::fold(FoldAdaptor) {
  Attribute plus;
  if (getPlus() && matchPattern(getPlus(), m_Constant(&plus))) {
    int64_t more = cast<DenseElementsAttr>(plus).getSplatValue<APInt>().getSExtValue();
    setPart(getPart() + std::clamp<int64_t>(more, 0, getOf() - getPart()));
    getPlusMutable().clear();
    return getResult();
  }
  if (!getPlus() && getPart() == 0)
    return DenseElementsAttr::get(cast<ShapedType>(getType()), int64_t(0));
  // A size is never negative.
  if (!getPlus() && getPart() == getOf() && getN().getDefiningOp<DimOp>())
    return getN();
  return {};
}

/// L(n), as code.
static Value emitLeafCount(Lowering &lowering, Location loc, Value n) {
  OpBuilder &b = lowering.b;
  Value leaves = lowering.constant(1);
  // From few to many, so that the last one that fits stays.
  for (int64_t count : {2, 4, 8, 16}) {
    Value rest = arith::RemSIOp::create(b, loc, n, lowering.constant(count));
    Value divides =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest, lowering.constant(0));
    Value isLong =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, n, lowering.constant(16 * count));
    Value fits = arith::AndIOp::create(b, loc, divides, isLong);
    leaves = arith::SelectOp::create(b, loc, fits, lowering.constant(count), leaves);
  }
  return leaves;
}

LogicalResult PartBeginOp::lower(Lowering &lowering) {
  OpBuilder &b = lowering.b;
  Location loc = getLoc();
  auto times = [&](Value x, Value y) -> Value { return arith::MulIOp::create(b, loc, x, y); };
  auto over = [&](Value x, Value y) -> Value { return arith::DivSIOp::create(b, loc, x, y); };
  Value n = arith::MaxSIOp::create(b, loc, lowering.loadScalar(getN()), lowering.constant(0));
  Value part = lowering.constant(getPart()), of = lowering.constant(getOf());
  if (getPlus()) {
    Value more =
        arith::MaxSIOp::create(b, loc, lowering.loadScalar(getPlus()), lowering.constant(0));
    more = arith::MinSIOp::create(b, loc, more, lowering.constant(getOf() - getPart()));
    part = arith::AddIOp::create(b, loc, part, more);
  }
  Value begin;
  if (getLeaves()) {
    Value leaves = emitLeafCount(lowering, loc, n);
    begin = times(over(n, leaves), over(times(leaves, part), of));
  } else {
    Value rest = arith::RemSIOp::create(b, loc, n, of);
    begin = arith::AddIOp::create(b, loc, times(over(n, of), part), over(times(rest, part), of));
  }
  lowering.storeScalar(begin, getResult());
  return success();
}

//===- PartOp --------------------------------------------------------------===//

/// Sizes and positions are below this.
static constexpr int64_t Beyond = int64_t(1) << 48;

FailureOr<Dims> PartOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  int64_t axis = op.getAxis();
  if (failed(checkAxis(axis, dims[0].size(), rule)))
    return failure();
  constexpr int64_t unknown = ShapedType::kDynamic;
  AffineExpr begin = rule.shapeArgument({unknown}, {op.getBegin()}).front();
  AffineExpr size = rule.shapeArgument({unknown}, {op.getSize()}).front();
  // A quotient by a large number is 0, or -1 for what is negative. The run compares it with 0.
  AffineExpr left = dims[0][axis] - begin - size;
  for (AffineExpr number : {begin, size, left})
    if (failed(rule.unify(rule.constant(0), number.floorDiv(Beyond), std::to_string(axis))))
      return failure();
  Dims result = dims[0];
  result[axis] = size;
  return result;
}

Type PartOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }

ShardingRule PartOp::getShardingRule() {
  ShardingRule rule;
  auto axes = llvm::to_vector(llvm::seq<int>(0, llvm::cast<RankedTensorType>(getType()).getRank()));
  rule.operands = {axes, {}, {}};
  rule.results = {axes};
  rule.kinds.assign(axes.size(), FactorKind::Parallel);
  rule.kinds[getAxis()] = FactorKind::Whole;
  return rule;
}

Value PartOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  SmallVector<AxisIndex> at(index);
  AxisIndex &axis = at[getAxis()];
  Value begin = context.load(1, {});
  if (auto vector = dyn_cast<VectorType>(axis.value.getType()))
    begin = vector::BroadcastOp::create(context.b, context.loc, vector, begin);
  axis.value = arith::AddIOp::create(context.b, context.loc, axis.value, begin);
  return context.load(0, at);
}

LogicalResult PartOp::evaluate(Evaluation &eval) {
  const HostTensor &x = eval.operand(0);
  SmallVector<int64_t> shape(ArrayRef<int64_t>(x.shape())), strides = rowMajorStrides(x.shape());
  int64_t axis = getAxis(), length = shape[axis];
  int64_t begin = eval.operand(1).data<int64_t>()[0], size = eval.operand(2).data<int64_t>()[0];
  if (begin < 0 || size < 0 || begin > length || size > length - begin)
    return eval.mismatch(x, eval.operand(2));
  shape[axis] = size;
  copyStrided(x, begin * strides[axis], strides, eval.result(0, shape));
  return success();
}

LogicalResult PartOp::vjp(OpBuilder &, Reverse &) {
  return emitOpError("is made after gradients are taken");
}

} // namespace pdg
