// The ops of shape.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/shape.h"
#include "ir/dims.h"
#include "ir/interpret/strided_copy.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/shape.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/shape.cpp.inc"
      >();
});

using namespace mlir;

namespace pdg {

//===- ConstantOp ----------------------------------------------------------===//

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult ConstantOp::vjp(OpBuilder &, Reverse &) { return success(); }
ShardingRule ConstantOp::getShardingRule() { return {}; }

LogicalResult ConstantOp::evaluate(Evaluation &eval) {
  auto value = llvm::cast<DenseElementsAttr>(getValue());
  HostTensor &out = eval.result(0, value.getType().getShape());
  dispatch(AnyType{}, out.dtype(), [&]<class T>() {
    int64_t i = 0;
    if constexpr (std::is_floating_point_v<T>)
      for (APFloat x : value.getValues<APFloat>())
        out.data<T>()[i++] = static_cast<T>(x.convertToDouble());
    else
      for (APInt x : value.getValues<APInt>())
        out.data<T>()[i++] =
            static_cast<T>(std::is_same_v<T, bool> ? x.getZExtValue() : x.getSExtValue());
  });
  return success();
}

//===- DimOp ---------------------------------------------------------------===//

FailureOr<Dims> DimOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (failed(checkAxis(op.getAxis(), dims[0].size(), rule)))
    return failure();
  return Dims();
}

Type DimOp::elementOf(Adaptor op) { return IntegerType::get(op.getX().getContext(), 64); }
ShardingRule DimOp::getShardingRule() { return {}; }
LogicalResult DimOp::vjp(OpBuilder &, Reverse &) { return success(); }
LogicalResult DimOp::lower(Lowering &lowering) {
  lowering.storeScalar(lowering.sizes(getX())[getAxis()], getResult());
  return success();
}

LogicalResult DimOp::verify() { return success(); }

AffineExpr DimOp::inferValue(ArrayRef<AffineExpr>, ArrayRef<Dims> dims) {
  return dims[0][getAxis()];
}

OpFoldResult DimOp::fold(FoldAdaptor) {
  int64_t size = llvm::cast<RankedTensorType>(getX().getType()).getDimSize(getAxis());
  if (ShapedType::isDynamic(size))
    return {};
  auto type = llvm::cast<RankedTensorType>(getType());
  return DenseElementsAttr::get(type, IntegerAttr::get(type.getElementType(), size));
}

LogicalResult DimOp::evaluate(Evaluation &eval) {
  eval.result(0, {}).data<int64_t>()[0] = eval.operand(0).shape()[getAxis()];
  return success();
}

//===- Shape arguments -----------------------------------------------------===//

/// The shape argument of one execution: `shape` with the run's values of `sizes`, which are the
/// operands from `first` on.
static SmallVector<int64_t> runShape(Evaluation &eval, ArrayRef<int64_t> shape, unsigned first) {
  SmallVector<int64_t> result(shape);
  for (int64_t &size : result)
    if (ShapedType::isDynamic(size))
      size = eval.operand(first++).data<int64_t>()[0];
  return result;
}

//===- ReshapeOp -----------------------------------------------------------===//

FailureOr<Dims> ReshapeOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  Dims result = rule.shapeArgument(op.getShape(), op.getSizes());
  AffineExpr from = productOf(dims[0], rule.context()), to = productOf(result, rule.context());
  auto known = [](AffineExpr e) { return llvm::dyn_cast<AffineConstantExpr>(e); };
  if (known(from) && known(to) && from != to) {
    rule.setConflict(known(from).getValue(), known(to).getValue());
    rule.error() << "expects as many elements as before: " << known(from).getValue() << ", got "
                 << known(to).getValue();
    return failure();
  }
  if (from != to && failed(rule.unify(from, to, "number of elements")))
    return failure();
  return result;
}

Type ReshapeOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }

ShardingRule ReshapeOp::getShardingRule() {
  // Axis 0 passes when it stays as it is or is joined with others behind it.
  ShardingRule rule;
  auto from = llvm::cast<RankedTensorType>(getX().getType());
  auto to = llvm::cast<RankedTensorType>(getType());
  if (!from.getRank() || !to.getRank() || from.isDynamicDim(0) != to.isDynamicDim(0))
    return rule;
  // Known sizes that differ: rows are joined or cut, which not all slices can be.
  if (from.getDimSize(0) != to.getDimSize(0))
    return rule;
  SmallVector<int> operand(from.getRank(), -1), result(to.getRank(), -1);
  operand[0] = result[0] = 0;
  rule.operands = {operand};
  rule.operands.append(getSizes().size(), SmallVector<int>());
  rule.results = {result};
  rule.kinds = {FactorKind::Parallel};
  return rule;
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  auto type = llvm::cast<RankedTensorType>(getType());
  if (getX().getType() == type && (type.hasStaticShape() || type.getRank() == 1))
    return getX();
  return {};
}

LogicalResult ReshapeOp::evaluate(Evaluation &eval) {
  const HostTensor &x = eval.operand(0);
  HostTensor &out = eval.result(0, runShape(eval, getShape(), 1));
  if (out.numElements() != x.numElements())
    return eval.mismatch(x, out);
  std::memcpy(out.bytes(), x.bytes(), x.numBytes());
  return success();
}

LogicalResult ReshapeOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (g && reverse.isActive(getX()))
    reverse.add(getX(), reshapeTo(b, getLoc(), g, getX()));
  return success();
}

//===- BroadcastOp ---------------------------------------------------------===//

FailureOr<Dims> BroadcastOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  Dims result = rule.shapeArgument(op.getShape(), op.getSizes());
  if (result.size() < dims[0].size()) {
    rule.error() << "expects at least " << dims[0].size() << " axes to broadcast to, got "
                 << result.size();
    return failure();
  }
  // Whether an axis is repeated is told by its type, not by what the run finds.
  ArrayRef<int64_t> shape = llvm::cast<RankedTensorType>(op.getX().getType()).getShape();
  size_t missing = result.size() - dims[0].size();
  for (auto [axis, size] : llvm::enumerate(dims[0]))
    if (shape[axis] != 1 &&
        failed(rule.unify(size, result[missing + axis], std::to_string(missing + axis))))
      return failure();
  return result;
}

Type BroadcastOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }

/// True where axis `axis` of a broadcast operand is repeated.
static bool isRepeated(BroadcastOp op, int64_t axis) {
  return llvm::cast<RankedTensorType>(op.getX().getType()).getDimSize(axis) == 1;
}

ShardingRule BroadcastOp::getShardingRule() {
  ShardingRule rule;
  int64_t rank = llvm::cast<RankedTensorType>(getType()).getRank();
  int64_t operandRank = llvm::cast<RankedTensorType>(getX().getType()).getRank();
  SmallVector<int> operand;
  for (int64_t axis = 0; axis < operandRank; ++axis)
    operand.push_back(isRepeated(*this, axis) ? -1 : axis + rank - operandRank);
  rule.operands = {operand};
  rule.operands.append(getSizes().size(), SmallVector<int>());
  rule.results = {llvm::to_vector(llvm::seq<int>(0, rank))};
  rule.kinds.assign(rank, FactorKind::Parallel);
  return rule;
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  auto type = llvm::cast<RankedTensorType>(getType());
  return getX().getType() == type && type.hasStaticShape() ? OpFoldResult(getX()) : OpFoldResult();
}

bool BroadcastOp::isCheap() { return true; }

bool BroadcastOp::isUniform() {
  return llvm::all_of(llvm::cast<RankedTensorType>(getX().getType()).getShape(),
                      [](int64_t size) { return size == 1; });
}

Value BroadcastOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  int64_t rank = llvm::cast<RankedTensorType>(getX().getType()).getRank();
  SmallVector<AxisIndex> at;
  AxisIndex zero{arith::ConstantIntOp::create(context.b, context.loc, 0, 64)};
  for (int64_t axis = 0; axis < rank; ++axis)
    at.push_back(isRepeated(*this, axis) ? zero : index[index.size() - rank + axis]);
  return context.load(0, at);
}

LogicalResult BroadcastOp::evaluate(Evaluation &eval) {
  const HostTensor &x = eval.operand(0);
  SmallVector<int64_t> shape = runShape(eval, getShape(), 1);
  SmallVector<int64_t> strides = rowMajorStrides(x.shape());
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    if (isRepeated(*this, axis))
      strides[axis] = 0;
    else if (x.shape()[axis] != shape[shape.size() - x.rank() + axis])
      return eval.mismatch(x, eval.result(0, shape));
  }
  strides.insert(strides.begin(), shape.size() - x.rank(), 0);
  copyStrided(x, 0, strides, eval.result(0, shape));
  return success();
}

LogicalResult BroadcastOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (g && reverse.isActive(getX()))
    reverse.add(getX(), sumTo(b, getLoc(), g, getX()));
  return success();
}

//===- IotaOp --------------------------------------------------------------===//

FailureOr<Dims> IotaOp::dimsOf(Adaptor op, ArrayRef<Dims>, ShapeRule &rule) {
  if (!op.getElement().isSignlessInteger(64)) {
    rule.error() << "expects the element type i64"; // C1
    return failure();
  }
  Dims result = rule.shapeArgument(op.getShape(), op.getSizes());
  if (failed(checkAxis(op.getAxis(), result.size(), rule)))
    return failure();
  return result;
}

Type IotaOp::elementOf(Adaptor op) { return op.getElement(); }
ShardingRule IotaOp::getShardingRule() { return {}; }
LogicalResult IotaOp::vjp(OpBuilder &, Reverse &) { return success(); }

bool IotaOp::isCheap() { return true; }

Value IotaOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  Value position = context.materialize(index[getAxis()]);
  return convert(Emitted(context.b, context.loc, position), Elem::I64).value;
}

LogicalResult IotaOp::evaluate(Evaluation &eval) {
  SmallVector<int64_t> shape = runShape(eval, getShape(), 0);
  HostTensor &out = eval.result(0, shape);
  int64_t inner = 1;
  for (int64_t size : ArrayRef(shape).drop_front(getAxis() + 1))
    inner *= size;
  for (int64_t i = 0; i < out.numElements(); ++i)
    out.data<int64_t>()[i] = i / inner % shape[getAxis()];
  return success();
}

} // namespace pdg
