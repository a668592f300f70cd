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

/// The step of an op that is being parsed may not be there yet.
static int64_t stepOf(IntegerAttr attribute) { return attribute ? attribute.getInt() : 1; }

/// One position behind the last one that a slice of `size` elements reads.
static int64_t endOfSlice(int64_t offset, int64_t size, int64_t step) {
  return size > 0 ? offset + (size - 1) * step + 1 : offset;
}

/// The elements from `offset` to the end, `step` apart.
template <class T> static T restOfSlice(T length, int64_t offset, int64_t step) {
  if (step == 1)
    return length - offset;
  if constexpr (std::is_same_v<T, int64_t>)
    return (length - offset + step - 1) / step;
  else
    return (length - offset + (step - 1)).floorDiv(step);
}

/// Offsets, sizes and steps beyond this overflow when they are added and multiplied.
static constexpr int64_t MaxExtent = int64_t(1) << 40;

FailureOr<Dims> SliceOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  int64_t axis = op.getAxis(), offset = op.getOffset(), size = op.getSize();
  int64_t step = stepOf(op.getStepAttr());
  if (failed(checkAxis(axis, dims[0].size(), rule)))
    return failure();
  if (step < 1 || step > MaxExtent) {
    rule.error() << "expects a step of at least 1, got " << step; // C2
    return failure();
  }
  Dims result = dims[0];
  auto known = llvm::dyn_cast<AffineConstantExpr>(result[axis]);
  bool isFar = offset > MaxExtent || size > MaxExtent ||
               (size > 1 && size - 1 > MaxExtent / step); // its end would overflow
  int64_t end = isFar ? MaxExtent : endOfSlice(offset, size, step);
  if (offset < 0 || isFar || (known && end > known.getValue())) {
    if (known)
      rule.setConflict(end, known.getValue());
    rule.error() << "expects a range inside axis " << axis << ", got [" << offset << ", " << end
                 << ")"; // C1
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
  result[axis] = size >= 0 ? rule.constant(size) : restOfSlice(result[axis], offset, step);
  return result;
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  // All of a static axis: the sizes are equal only if every element is taken.
  auto type = llvm::cast<RankedTensorType>(getType());
  bool isWhole = getX().getType() == type && !type.isDynamicDim(getAxis());
  return isWhole && getStep() == 1 ? OpFoldResult(getX()) : OpFoldResult();
}

Type SliceOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }
ShardingRule SliceOp::getShardingRule() { return allButAxis(*this, getAxis()); }

/// `value`, an i64, in as many lanes as `like` has.
static Value lanesLike(ElementContext &context, Value value, Value like) {
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector ? vector::BroadcastOp::create(context.b, context.loc, vector, value).getResult()
                : value;
}

Value SliceOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  SmallVector<AxisIndex> at(index);
  AxisIndex &axis = at[getAxis()];
  int64_t step = getStep();
  if (step != 1) {
    Value position = context.materialize(axis);
    Value factor = lanesLike(context, index64(context, step), position);
    axis = {arith::MulIOp::create(context.b, context.loc, position, factor)};
  }
  Value offset = lanesLike(context, index64(context, getOffset()), axis.value);
  axis.value = arith::AddIOp::create(context.b, context.loc, axis.value, offset);
  return context.load(0, at);
}

LogicalResult SliceOp::evaluate(Evaluation &eval) {
  const HostTensor &x = eval.operand(0);
  SmallVector<int64_t> shape(ArrayRef<int64_t>(x.shape())), strides = rowMajorStrides(x.shape());
  int64_t axis = getAxis(), offset = getOffset(), size = getSize(), step = getStep();
  int64_t length = shape[axis];
  shape[axis] = size >= 0 ? size : restOfSlice(std::max(length, offset), offset, step);
  HostTensor &out = eval.result(0, shape);
  if (endOfSlice(offset, shape[axis], step) > length)
    return eval.mismatch(x, out);
  int64_t begin = offset * strides[axis];
  strides[axis] *= step;
  copyStrided(x, begin, strides, out);
  return success();
}

LogicalResult SliceOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (!g || !reverse.isActive(getX()))
    return success();
  int64_t whole = llvm::cast<RankedTensorType>(getX().getType()).getDimSize(getAxis());
  int64_t size = getSize(), offset = getOffset(), step = getStep();
  if (ShapedType::isDynamic(whole) && (size >= 0 || step != 1))
    return emitOpError("has no gradient for a fixed slice of an axis that only the run knows");
  int64_t after = 0;
  if (!ShapedType::isDynamic(whole)) {
    size = size < 0 ? restOfSlice(whole, offset, step) : size;
    after = whole - endOfSlice(offset, size, step);
  }
  reverse.add(getX(), PadOp::create(b, getLoc(), g, getAxis(), offset, after, step));
  return success();
}

//===- PadOp ---------------------------------------------------------------===//

/// The positions from the first to the last of `size` elements that are `step` apart.
static int64_t spreadSize(int64_t size, int64_t step) {
  return size > 0 ? (size - 1) * step + 1 : 0;
}

FailureOr<Dims> PadOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (failed(checkAxis(op.getAxis(), dims[0].size(), rule)))
    return failure();
  int64_t before = op.getBefore(), after = op.getAfter(), step = stepOf(op.getStepAttr());
  if (before < 0 || after < 0 || before > MaxExtent || after > MaxExtent) {
    rule.error() << "expects numbers of zeros that are not negative"; // C1
    return failure();
  }
  Dims result = dims[0];
  AffineExpr &size = result[op.getAxis()];
  auto known = llvm::dyn_cast<AffineConstantExpr>(size);
  if (step < 1 || step > MaxExtent || (step > 1 && !known) ||
      (known && known.getValue() > MaxExtent / step)) {
    rule.error() << "expects a step of at least 1 of a known size, got " << step; // C2
    return failure();
  }
  if (step > 1)
    size = rule.constant(spreadSize(known.getValue(), step));
  size = size + (before + after);
  return result;
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  bool isNothing = getBefore() == 0 && getAfter() == 0 && getStep() == 1;
  return isNothing ? OpFoldResult(getX()) : OpFoldResult();
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

/// The element of operand `operand` where its index is valid, else `otherwise`. The operand's
/// elements are `step` apart from `offset` on. The index is brought inside first, so that nothing
/// outside is read.
static Value loadInside(ElementContext &context, unsigned operand, ArrayRef<AxisIndex> index,
                        int64_t axis, int64_t offset, Value otherwise, int64_t step = 1) {
  OpBuilder &b = context.b;
  Location loc = context.loc;
  Value position = context.materialize(index[axis]);
  auto constant = [&](Value scalar) { return lanesLike(context, scalar, position); };
  Value zero = constant(index64(context, 0)), size = constant(context.dim(operand, axis));
  Value at = arith::SubIOp::create(b, loc, position, constant(index64(context, offset)));
  Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, at, zero);
  if (step != 1) {
    Value factor = constant(index64(context, step));
    Value spread = at;
    at = arith::DivUIOp::create(b, loc, spread, factor);
    Value back = arith::MulIOp::create(b, loc, at, factor);
    Value isThere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, back, spread);
    inside = arith::AndIOp::create(b, loc, inside, isThere);
  }
  Value high = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at, size);
  inside = arith::AndIOp::create(b, loc, inside, high);
  SmallVector<AxisIndex> clamped(index);
  clamped[axis] = {arith::SelectOp::create(b, loc, inside, at, zero), false};
  Value element = inLanes(context, context.load(operand, clamped));
  inside = inLanes(context, inside);
  return arith::SelectOp::create(b, loc, inside, element, otherwise);
}

Value PadOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  Value zero = zeroOf(context, getElementTypeOrSelf(getX().getType()));
  return loadInside(context, 0, index, getAxis(), getBefore(), zero, getStep());
}

LogicalResult PadOp::evaluate(Evaluation &eval) {
  const HostTensor &x = eval.operand(0);
  SmallVector<int64_t> shape(ArrayRef<int64_t>(x.shape()));
  int64_t axis = getAxis(), before = getBefore(), after = getAfter(), step = getStep();
  shape[axis] = spreadSize(shape[axis], step) + before + after;
  HostTensor &out = eval.result(0, shape);
  std::memset(out.bytes(), 0, out.numBytes());
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  int64_t begin = before * strides[axis];
  strides[axis] *= step;
  writeStrided(x, begin, strides, out);
  return success();
}

LogicalResult PadOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (!g || !reverse.isActive(getX()))
    return success();
  int64_t size = llvm::cast<RankedTensorType>(getX().getType()).getDimSize(getAxis());
  if (ShapedType::isDynamic(size))
    return emitOpError("has no gradient along an axis that only the run knows");
  reverse.add(getX(), SliceOp::create(b, getLoc(), g, getAxis(), getBefore(), size, getStep()));
  return success();
}

//===- FlipOp --------------------------------------------------------------===//

FailureOr<Dims> FlipOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (failed(checkAxis(op.getAxis(), dims[0].size(), rule)))
    return failure();
  return dims[0];
}

Type FlipOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }
ShardingRule FlipOp::getShardingRule() { return allButAxis(*this, getAxis()); }
bool FlipOp::isCheap() { return true; }

OpFoldResult FlipOp::fold(FoldAdaptor) {
  // flip(flip(x)) -> x
  auto inner = getX().getDefiningOp<FlipOp>();
  if (inner && inner.getAxis() == getAxis() && inner.getX().getType() == getType())
    return inner.getX();
  bool isOne = llvm::cast<RankedTensorType>(getType()).getDimSize(getAxis()) == 1;
  return isOne ? OpFoldResult(getX()) : OpFoldResult();
}

Value FlipOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  SmallVector<AxisIndex> at(index);
  Value position = context.materialize(at[getAxis()]);
  Value one = index64(context, 1), size = context.dim(0, getAxis());
  Value last = arith::SubIOp::create(context.b, context.loc, size, one);
  at[getAxis()] = {
      arith::SubIOp::create(context.b, context.loc, lanesLike(context, last, position), position)};
  return context.load(0, at);
}

LogicalResult FlipOp::evaluate(Evaluation &eval) {
  const HostTensor &x = eval.operand(0);
  SmallVector<int64_t> strides = rowMajorStrides(x.shape());
  int64_t axis = getAxis(), begin = (x.shape()[axis] - 1) * strides[axis];
  strides[axis] = -strides[axis];
  copyStrided(x, begin, strides, eval.result(0, x.shape()));
  return success();
}

LogicalResult FlipOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (g && reverse.isActive(getX()))
    reverse.add(getX(), FlipOp::create(b, getLoc(), g, getAxis()));
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
