// The ops of layout.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/layout.h"
#include "ir/interpret/strided_copy.h"
#include "ir/ops/indexing.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/layout.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/layout.cpp.inc"
      >();
});

using namespace mlir;

namespace pdg {

/// Every axis but `axis` is a factor; `axis` stays whole.
static ShardingRule allButAxis(Operation *op, int64_t axis) {
  ShardingRule rule = elementwiseSharding(op);
  rule.kinds[axis] = FactorKind::Whole;
  return rule;
}

static Value index64(ElementContext &context, int64_t value) {
  return arith::ConstantIntOp::create(context.b, context.loc, value, 64);
}

//===- TransposeOp ---------------------------------------------------------===//

LogicalResult TransposeOp::verify() {
  SmallVector<int64_t> sorted(getPermutation());
  llvm::sort(sorted);
  auto type = llvm::cast<RankedTensorType>(getX().getType());
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, type.getRank())))
    return emitOpError("expects a permutation of the ") << type.getRank() << " axes";
  return success();
}

FailureOr<Dims> TransposeOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  Dims result;
  for (int64_t axis : op.getPermutation()) {
    if (failed(checkAxis(axis, dims[0].size(), rule)))
      return failure();
    result.push_back(dims[0][axis]);
  }
  return result;
}

Type TransposeOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }

ShardingRule TransposeOp::getShardingRule() {
  ShardingRule rule = elementwiseSharding(*this);
  rule.results[0].assign(getPermutation().begin(), getPermutation().end());
  return rule;
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (llvm::equal(getPermutation(), llvm::seq<int64_t>(0, getPermutation().size())))
    return getX();
  return {};
}

static SmallVector<int64_t> inverseOf(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> inverse(permutation.size());
  for (auto [axis, from] : llvm::enumerate(permutation))
    inverse[from] = axis;
  return inverse;
}

Value TransposeOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  SmallVector<AxisIndex> at;
  for (int64_t axis : inverseOf(getPermutation()))
    at.push_back(index[axis]);
  return context.load(0, at);
}

LogicalResult TransposeOp::evaluate(Evaluation &eval) {
  const HostTensor &x = eval.operand(0);
  SmallVector<int64_t> from = rowMajorStrides(x.shape()), strides, shape;
  for (int64_t axis : getPermutation()) {
    strides.push_back(from[axis]);
    shape.push_back(x.shape()[axis]);
  }
  copyStrided(x, 0, strides, eval.result(0, shape));
  return success();
}

LogicalResult TransposeOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (g && reverse.isActive(getX()))
    reverse.add(getX(), TransposeOp::create(b, getLoc(), g, inverseOf(getPermutation())));
  return success();
}

//===- SliceOp -------------------------------------------------------------===//

FailureOr<Dims> SliceOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  int64_t axis = op.getAxis(), offset = op.getOffset(), size = op.getSize();
  if (failed(checkAxis(axis, dims[0].size(), rule)))
    return failure();
  Dims result = dims[0];
  auto known = llvm::dyn_cast<AffineConstantExpr>(result[axis]);
  int64_t end = offset + std::max<int64_t>(size, 0);
  if (offset < 0 || (known && end > known.getValue())) {
    if (known)
      rule.setConflict(end, known.getValue());
    rule.error() << "expects a range inside axis " << axis << ", got [" << offset << ", "
                 << (size < 0 ? offset : offset + size) << ")"; // C1
    return failure();
  }
  if (!known) {
    // The run compares `end` with the smaller one of `end` and the size: it is the size if what is
    // left behind `end` is negative, when a division by a large number gives -1.
    AffineExpr left = result[axis] - end;
    AffineExpr least = rule.constant(end) - left * left.floorDiv(int64_t(1) << 48);
    if (failed(rule.unify(rule.constant(end), least, std::to_string(axis))))
      return failure();
  }
  result[axis] = size >= 0 ? rule.constant(size) : result[axis] - offset;
  return result;
}

Type SliceOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }
ShardingRule SliceOp::getShardingRule() { return allButAxis(*this, getAxis()); }

Value SliceOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  SmallVector<AxisIndex> at(index);
  Value &position = at[getAxis()].value;
  Value offset = index64(context, getOffset());
  if (auto vector = dyn_cast<VectorType>(position.getType()))
    offset = vector::BroadcastOp::create(context.b, context.loc, vector, offset);
  position = arith::AddIOp::create(context.b, context.loc, position, offset);
  return context.load(0, at);
}

LogicalResult SliceOp::evaluate(Evaluation &eval) {
  const HostTensor &x = eval.operand(0);
  SmallVector<int64_t> shape(ArrayRef<int64_t>(x.shape())), strides = rowMajorStrides(x.shape());
  shape[getAxis()] =
      static_cast<int64_t>(getSize()) >= 0 ? getSize() : shape[getAxis()] - getOffset();
  HostTensor &out = eval.result(0, shape);
  if (static_cast<int64_t>(getOffset()) + shape[getAxis()] > x.shape()[getAxis()])
    return eval.mismatch(x, out);
  copyStrided(x, getOffset() * strides[getAxis()], strides, out);
  return success();
}

LogicalResult SliceOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (!g || !reverse.isActive(getX()))
    return success();
  int64_t whole = llvm::cast<RankedTensorType>(getX().getType()).getDimSize(getAxis());
  int64_t size = getSize(), offset = getOffset();
  if (size >= 0 && ShapedType::isDynamic(whole))
    return emitOpError("has no gradient for a fixed slice of an axis that only the run knows");
  int64_t after = size < 0 ? 0 : whole - offset - size;
  reverse.add(getX(), PadOp::create(b, getLoc(), g, getAxis(), offset, after));
  return success();
}

//===- PadOp ---------------------------------------------------------------===//

FailureOr<Dims> PadOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (failed(checkAxis(op.getAxis(), dims[0].size(), rule)))
    return failure();
  int64_t before = op.getBefore(), after = op.getAfter();
  if (before < 0 || after < 0) {
    rule.error() << "expects numbers of zeros that are not negative";
    return failure();
  }
  Dims result = dims[0];
  result[op.getAxis()] = result[op.getAxis()] + (before + after);
  return result;
}

Type PadOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }
ShardingRule PadOp::getShardingRule() { return allButAxis(*this, getAxis()); }

/// A zero of the register type of `element`, in as many lanes as are being built.
static Value zeroOf(ElementContext &context, Type element) {
  Type type = registerType(element);
  if (context.lanes() > 1)
    type = VectorType::get({context.lanes()}, type);
  return arith::ConstantOp::create(context.b, context.loc, context.b.getZeroAttr(type));
}

/// `value` in as many lanes as are being built.
static Value inLanes(ElementContext &context, Value value) {
  if (context.lanes() == 1 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(context.b, context.loc,
                                     VectorType::get({context.lanes()}, value.getType()), value);
}

/// The element of operand `operand` where `inside` holds and its index is valid, else `otherwise`.
/// The index is clamped to [0, size) first, so that nothing outside is read.
static Value loadInside(ElementContext &context, unsigned operand, ArrayRef<AxisIndex> index,
                        int64_t axis, int64_t offset, Value otherwise) {
  OpBuilder &b = context.b;
  Location loc = context.loc;
  Value position = context.materialize(index[axis]);
  auto constant = [&](Value scalar) -> Value {
    auto vector = dyn_cast<VectorType>(position.getType());
    return vector ? vector::BroadcastOp::create(b, loc, vector, scalar).getResult() : scalar;
  };
  Value zero = constant(index64(context, 0)), size = constant(context.dim(operand, axis));
  Value at = arith::SubIOp::create(b, loc, position, constant(index64(context, offset)));
  Value low = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, at, zero);
  Value high = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at, size);
  Value inside = arith::AndIOp::create(b, loc, low, high);
  SmallVector<AxisIndex> clamped(index);
  clamped[axis] = {arith::SelectOp::create(b, loc, inside, at, zero), false};
  Value element = inLanes(context, context.load(operand, clamped));
  inside = inLanes(context, inside);
  return arith::SelectOp::create(b, loc, inside, element, otherwise);
}

Value PadOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  Value zero = zeroOf(context, getElementTypeOrSelf(getX().getType()));
  return loadInside(context, 0, index, getAxis(), getBefore(), zero);
}

LogicalResult PadOp::evaluate(Evaluation &eval) {
  const HostTensor &x = eval.operand(0);
  SmallVector<int64_t> shape(ArrayRef<int64_t>(x.shape()));
  shape[getAxis()] += getBefore() + getAfter();
  HostTensor &out = eval.result(0, shape);
  std::memset(out.bytes(), 0, out.numBytes());
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  writeStrided(x, getBefore() * strides[getAxis()], strides, out);
  return success();
}

LogicalResult PadOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (!g || !reverse.isActive(getX()))
    return success();
  int64_t size = llvm::cast<RankedTensorType>(getX().getType()).getDimSize(getAxis());
  if (ShapedType::isDynamic(size))
    return emitOpError("has no gradient along an axis that only the run knows");
  reverse.add(getX(), SliceOp::create(b, getLoc(), g, getAxis(), getBefore(), size));
  return success();
}

//===- ConcatOp ------------------------------------------------------------===//

FailureOr<Dims> ConcatOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  int64_t axis = op.getAxis();
  if (failed(checkAxis(axis, dims[0].size(), rule)))
    return failure();
  Dims others[2] = {dims[0], dims[1]};
  for (Dims &side : others)
    if (axis < static_cast<int64_t>(side.size()))
      side[axis] = rule.constant(0);
  auto result = sameDims(others, rule);
  if (failed(result))
    return failure();
  (*result)[axis] = dims[0][axis] + dims[1][axis];
  return result;
}

Type ConcatOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }
ShardingRule ConcatOp::getShardingRule() { return allButAxis(*this, getAxis()); }

Value ConcatOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  Value zero = zeroOf(context, getElementTypeOrSelf(getX().getType()));
  Value first = loadInside(context, 0, index, getAxis(), 0, zero);
  OpBuilder &b = context.b;
  Location loc = context.loc;
  // The second part starts where the first ends: shift the index, then read inside.
  Value position = context.materialize(index[getAxis()]);
  Value size = context.dim(0, getAxis());
  auto vector = dyn_cast<VectorType>(position.getType());
  Value shift = vector ? vector::BroadcastOp::create(b, loc, vector, size).getResult() : size;
  SmallVector<AxisIndex> shifted(index);
  shifted[getAxis()] = {arith::SubIOp::create(b, loc, position, shift), false};
  return loadInside(context, 1, shifted, getAxis(), 0, first);
}

LogicalResult ConcatOp::evaluate(Evaluation &eval) {
  const HostTensor &x = eval.operand(0), &y = eval.operand(1);
  SmallVector<int64_t> shape(ArrayRef<int64_t>(x.shape()));
  shape[getAxis()] += y.shape()[getAxis()];
  HostTensor &out = eval.result(0, shape);
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (axis != static_cast<int64_t>(getAxis()) && x.shape()[axis] != y.shape()[axis])
      return eval.mismatch(x, y);
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  writeStrided(x, 0, strides, out);
  writeStrided(y, x.shape()[getAxis()] * strides[getAxis()], strides, out);
  return success();
}

LogicalResult ConcatOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (!g)
    return success();
  auto x = llvm::cast<RankedTensorType>(getX().getType());
  auto y = llvm::cast<RankedTensorType>(getY().getType());
  int64_t axis = getAxis();
  if (x.isDynamicDim(axis) || y.isDynamicDim(axis))
    return emitOpError("has no gradient along an axis that only the run knows");
  if (reverse.isActive(getX()))
    reverse.add(getX(), SliceOp::create(b, getLoc(), g, axis, 0, x.getDimSize(axis)));
  if (reverse.isActive(getY()))
    reverse.add(getY(),
                SliceOp::create(b, getLoc(), g, axis, x.getDimSize(axis), y.getDimSize(axis)));
  return success();
}

//===- UpdateRowOp ---------------------------------------------------------===//

FailureOr<Dims> UpdateRowOp::dimsOf(Adaptor, ArrayRef<Dims> dims, ShapeRule &rule) {
  Dims row = dims[1];
  row.insert(row.begin(), dims[0].empty() ? rule.constant(0) : dims[0].front());
  return sameDims({dims[0], row}, rule);
}

Type UpdateRowOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }
unsigned UpdateRowOp::getUpdatedOperand() { return 0; }

ShardingRule UpdateRowOp::getShardingRule() {
  ShardingRule rule;
  int rank = llvm::cast<RankedTensorType>(getRow().getType()).getRank();
  auto row = llvm::to_vector(llvm::seq<int>(0, rank));
  SmallVector<int> table{-1};
  llvm::append_range(table, row);
  rule.operands = {table, row, {}};
  rule.results = {table};
  rule.kinds.assign(rank, FactorKind::Parallel);
  return rule;
}

LogicalResult UpdateRowOp::lower(Lowering &lowering) {
  lowering.copyRow(getRow(), getResult(), getAt());
  return success();
}

LogicalResult UpdateRowOp::evaluate(Evaluation &eval) {
  const HostTensor &x = eval.operand(0), &row = eval.operand(1);
  int64_t at = eval.operand(2).data<int64_t>()[0];
  HostTensor &out = eval.result(0, x.shape());
  std::memcpy(out.bytes(), x.bytes(), x.numBytes());
  if (at < 0 || at >= x.shape()[0] || row.numBytes() * x.shape()[0] != x.numBytes())
    return eval.mismatch(x, row);
  std::memcpy(out.bytes() + at * row.numBytes(), row.bytes(), row.numBytes());
  return success();
}

LogicalResult UpdateRowOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (!g)
    return success();
  if (reverse.isActive(getX())) {
    Value zeros = constantLike(b, getLoc(), getRow(), 0);
    reverse.add(getX(), UpdateRowOp::create(b, getLoc(), g, zeros, getAt()));
  }
  if (reverse.isActive(getRow()))
    reverse.add(getRow(), GatherOp::create(b, getLoc(), g, getAt()));
  return success();
}

} // namespace pdg
