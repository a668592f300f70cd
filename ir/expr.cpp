// Builds the ops behind formulas.
// SPDX-License-Identifier: Apache-2.0
#include "ir/expr.h"
#include "ir/ops/compare.h"
#include "ir/ops/contraction.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/elementwise_math.h"
#include "ir/ops/elementwise_unary.h"
#include "ir/ops/layout.h"
#include "ir/ops/reduction.h"
#include "ir/ops/shape.h"

using namespace mlir;

namespace pdg {

//===- Constants and shapes ------------------------------------------------===//

Value scalarConstant(OpBuilder &b, Location loc, Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  auto tensor = RankedTensorType::get({}, element);
  Attribute attribute;
  if (isa<FloatType>(element))
    attribute = b.getFloatAttr(element, value);
  else
    attribute = IntegerAttr::get(element, static_cast<int64_t>(value));
  return ConstantOp::create(b, loc, DenseElementsAttr::get(tensor, attribute));
}

Value sizeConstant(OpBuilder &b, Location loc, int64_t value) {
  auto type = RankedTensorType::get({}, b.getI64Type());
  return ConstantOp::create(b, loc, DenseElementsAttr::get(type, b.getI64IntegerAttr(value)));
}

void shapeOf(OpBuilder &b, Location loc, Value value, SmallVectorImpl<int64_t> &shape,
             SmallVectorImpl<Value> &sizes) {
  auto type = cast<RankedTensorType>(value.getType());
  for (auto [axis, size] : llvm::enumerate(type.getShape())) {
    shape.push_back(size);
    if (ShapedType::isDynamic(size))
      sizes.push_back(DimOp::create(b, loc, value, axis));
  }
}

Value broadcastTo(OpBuilder &b, Location loc, Value value, Value like) {
  if (cast<RankedTensorType>(value.getType()).getShape() ==
          cast<RankedTensorType>(like.getType()).getShape() &&
      cast<RankedTensorType>(value.getType()).hasStaticShape())
    return value;
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  shapeOf(b, loc, like, shape, sizes);
  return BroadcastOp::create(b, loc, value, sizes, shape);
}

Value constantLike(OpBuilder &b, Location loc, Value like, double value) {
  return broadcastTo(b, loc, scalarConstant(b, loc, like.getType(), value), like);
}

Value reshapeTo(OpBuilder &b, Location loc, Value value, Value like) {
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  shapeOf(b, loc, like, shape, sizes);
  return ReshapeOp::create(b, loc, value, sizes, shape);
}

/// `value` with the adjacent axes [first, last] joined into one, whose size is their product.
static Value joinAxes(OpBuilder &b, Location loc, Value value, int64_t first, int64_t last) {
  if (first == last)
    return value;
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  auto type = cast<RankedTensorType>(value.getType());
  int64_t product = 1;
  Value dynamic;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    int64_t size = type.getDimSize(axis);
    Value dim = ShapedType::isDynamic(size) ? DimOp::create(b, loc, value, axis) : Value();
    if (axis < first || axis > last) {
      shape.push_back(size);
      if (dim)
        sizes.push_back(dim);
      continue;
    }
    if (dim)
      dynamic = dynamic ? Value(MulOp::create(b, loc, dynamic, dim)) : dim;
    else
      product *= size;
    if (axis < last)
      continue;
    if (dynamic && product != 1)
      dynamic = MulOp::create(b, loc, dynamic, sizeConstant(b, loc, product));
    shape.push_back(dynamic ? ShapedType::kDynamic : product);
    if (dynamic)
      sizes.push_back(dynamic);
  }
  return ReshapeOp::create(b, loc, value, sizes, shape);
}

/// `value` with axes of size 1 where `axes` of `original` were.
static Value restoreAxes(OpBuilder &b, Location loc, Value value, Value original,
                         ArrayRef<int64_t> axes) {
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  auto type = cast<RankedTensorType>(original.getType());
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    bool gone = llvm::is_contained(axes, axis);
    shape.push_back(gone ? 1 : type.getDimSize(axis));
    if (!gone && type.isDynamicDim(axis))
      sizes.push_back(DimOp::create(b, loc, original, axis));
  }
  return ReshapeOp::create(b, loc, value, sizes, shape);
}

Value sumOver(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> axes, bool keep) {
  if (axes.empty())
    return value;
  Value original = value;
  SmallVector<int64_t> order(axes);
  llvm::sort(order);
  bool first = order.front() == 0;
  // Axis 0 is summed last and alone: it is the one that replicas split.
  ArrayRef<int64_t> rest = ArrayRef(order).drop_front(first ? 1 : 0);
  while (!rest.empty()) {
    size_t group = 1;
    while (group < rest.size() && rest[rest.size() - group - 1] + 1 == rest[rest.size() - group])
      ++group;
    int64_t begin = rest[rest.size() - group], end = rest.back();
    value = SumOp::create(b, loc, joinAxes(b, loc, value, begin, end), begin);
    rest = rest.drop_back(group);
  }
  if (first)
    value = SumOp::create(b, loc, value, 0);
  return keep ? restoreAxes(b, loc, value, original, axes) : value;
}

Value sumTo(OpBuilder &b, Location loc, Value value, Value like) {
  auto from = cast<RankedTensorType>(value.getType());
  auto to = cast<RankedTensorType>(like.getType());
  int64_t missing = from.getRank() - to.getRank();
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < from.getRank(); ++axis)
    if (axis < missing || (to.getDimSize(axis - missing) == 1 && from.getDimSize(axis) != 1))
      axes.push_back(axis);
  if (axes.empty())
    return value;
  Value sum = sumOver(b, loc, value, axes, false);
  return cast<RankedTensorType>(sum.getType()).getRank() == to.getRank()
             ? sum
             : reshapeTo(b, loc, sum, like);
}

//===- Contractions --------------------------------------------------------===//

/// Replaces `operand` by what its transposes read, with its letters in that order.
static Value foldTransposes(Value operand, std::string &letters) {
  while (auto transpose = operand.getDefiningOp<TransposeOp>()) {
    std::string source(letters.size(), ' ');
    for (auto [axis, from] : llvm::enumerate(transpose.getPermutation()))
      source[from] = letters[axis];
    letters = source;
    operand = transpose.getX();
  }
  return operand;
}

Value contract(OpBuilder &b, Location loc, StringRef rule, Value lhs, Value rhs) {
  auto [inputs, out] = rule.split("->");
  auto [left, right] = inputs.split(',');
  std::string lhsLetters = left.str(), rhsLetters = right.str();
  lhs = foldTransposes(lhs, lhsLetters);
  rhs = foldTransposes(rhs, rhsLetters);
  bool leaves = !lhsLetters.empty() && !rhsLetters.empty() &&
                lhsLetters.front() == rhsLetters.front() && !out.contains(lhsLetters.front());
  std::string folded = lhsLetters + "," + rhsLetters + "->" + out.str();
  return ContractOp::create(b, loc, folded, lhs, rhs, leaves);
}

//===- Operators -----------------------------------------------------------===//

static TensorExpr constant(TensorExpr like, double value) {
  return like.with(constantLike(like.b, like.loc, like.value, value));
}
template <class OpTy> static TensorExpr unary(TensorExpr x) {
  return x.with(OpTy::create(x.b, x.loc, x.value));
}
template <class OpTy> static TensorExpr binary(TensorExpr x, TensorExpr y) {
  return x.with(OpTy::create(x.b, x.loc, x.value, y.value));
}

TensorExpr operator+(TensorExpr x, TensorExpr y) { return binary<AddOp>(x, y); }
TensorExpr operator-(TensorExpr x, TensorExpr y) { return binary<SubOp>(x, y); }
TensorExpr operator*(TensorExpr x, TensorExpr y) { return binary<MulOp>(x, y); }
TensorExpr operator/(TensorExpr x, TensorExpr y) { return binary<DivOp>(x, y); }
TensorExpr operator-(TensorExpr x) { return unary<NegOp>(x); }
TensorExpr operator+(TensorExpr x, double y) { return x + constant(x, y); }
TensorExpr operator-(TensorExpr x, double y) { return x - constant(x, y); }
TensorExpr operator*(TensorExpr x, double y) { return x * constant(x, y); }
TensorExpr operator/(TensorExpr x, double y) { return x / constant(x, y); }
TensorExpr operator+(double x, TensorExpr y) { return constant(y, x) + y; }
TensorExpr operator-(double x, TensorExpr y) { return constant(y, x) - y; }
TensorExpr operator*(double x, TensorExpr y) { return constant(y, x) * y; }
TensorExpr exp(TensorExpr x) { return unary<ExpOp>(x); }
TensorExpr log(TensorExpr x) { return unary<LogOp>(x); }
TensorExpr sqrt(TensorExpr x) { return unary<SqrtOp>(x); }
TensorExpr sinh(TensorExpr x) { return unary<SinhOp>(x); }
TensorExpr cosh(TensorExpr x) { return unary<CoshOp>(x); }
TensorExpr sin(TensorExpr x) { return unary<SinOp>(x); }
TensorExpr cos(TensorExpr x) { return unary<CosOp>(x); }
TensorExpr sign(TensorExpr x) { return unary<SignOp>(x); }
TensorExpr pow(TensorExpr x, TensorExpr y) { return binary<PowOp>(x, y); }
TensorExpr floorDiv(TensorExpr x, TensorExpr y) { return binary<FloorDivOp>(x, y); }
TensorExpr gt(TensorExpr x, double y) { return binary<GtOp>(x, constant(x, y)); }
TensorExpr ge(TensorExpr x, TensorExpr y) { return binary<GeOp>(x, y); }
TensorExpr le(TensorExpr x, TensorExpr y) { return binary<LeOp>(x, y); }
TensorExpr select(TensorExpr condition, TensorExpr x, double y) {
  return x.with(SelectOp::create(x.b, x.loc, condition.value, x.value, constant(x, y).value));
}
TensorExpr select(TensorExpr condition, double x, TensorExpr y) {
  return y.with(SelectOp::create(y.b, y.loc, condition.value, constant(y, x).value, y.value));
}

} // namespace pdg
