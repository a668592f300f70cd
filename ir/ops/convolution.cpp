// The ops of convolution.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/convolution.h"
#include "ir/interpret/evaluate_convolution.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/convolution.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/convolution.cpp.inc"
      >();
});

using namespace mlir;

namespace pdg {

/// The size of a picture axis after a window has moved over it.
static FailureOr<AffineExpr> moved(AffineExpr size, int64_t window, int64_t stride, int64_t padding,
                                   ShapeRule &rule) {
  auto known = llvm::dyn_cast<AffineConstantExpr>(size);
  if (stride < 1 || padding < 0 || window < 1) {
    rule.error() << "expects a positive window and stride and a padding that is not negative";
    return failure();
  }
  if (known && known.getValue() + 2 * padding < window) {
    rule.error() << "expects a picture of at least " << window << " along each axis, got "
                 << known.getValue() + 2 * padding << " with padding";
    return failure();
  }
  return (size + (2 * padding - window)).floorDiv(stride) + 1;
}

/// Reports operands or attributes of the wrong number of axes.
static LogicalResult checkWindow(ArrayRef<Dims> dims, ArrayRef<int64_t> stride,
                                 ArrayRef<int64_t> padding, ShapeRule &rule) {
  for (const Dims &operand : dims) {
    if (operand.size() == 4)
      continue;
    rule.error() << "expects four axes [examples, channels, height, width], got "
                 << operand.size(); // C1
    return failure();
  }
  if (stride.size() == 2 && padding.size() == 2)
    return success();
  rule.error() << "expects two numbers for stride and for padding"; // C1
  return failure();
}

//===- Conv2dOp ------------------------------------------------------------===//

FailureOr<Dims> Conv2dOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (failed(checkWindow(dims, op.getStride(), op.getPadding(), rule)) ||
      failed(rule.unify(dims[0][1], dims[1][1], "channels")))
    return failure();
  Dims result{dims[0][0], dims[1][0]};
  for (int axis : {0, 1}) {
    auto window = llvm::dyn_cast<AffineConstantExpr>(dims[1][2 + axis]);
    if (!window) {
      rule.error() << "expects a window whose size is known when compiling";
      return failure();
    }
    auto size = moved(dims[0][2 + axis], window.getValue(), op.getStride()[axis],
                      op.getPadding()[axis], rule);
    if (failed(size))
      return failure();
    result.push_back(*size);
  }
  return result;
}

Type Conv2dOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }

/// Examples are parallel, everything else is whole.
static ShardingRule byExample(unsigned operands, ArrayRef<unsigned> withExamples) {
  ShardingRule rule;
  for (unsigned i = 0; i < operands; ++i)
    rule.operands.push_back({llvm::is_contained(withExamples, i) ? 0 : -1, -1, -1, -1});
  rule.results = {{0, -1, -1, -1}};
  rule.kinds = {FactorKind::Parallel};
  return rule;
}

ShardingRule Conv2dOp::getShardingRule() { return byExample(2, {0}); }

/// The window of a convolution of pictures `x` by `w`.
static Window windowOf(ArrayRef<int64_t> stride, ArrayRef<int64_t> padding) {
  return {{stride[0], stride[1]}, {padding[0], padding[1]}};
}

ConvolutionForm Conv2dOp::getConvolutionForm() {
  return {ConvolutionForm::Forward, windowOf(getStride(), getPadding())};
}

ConvolutionForm Conv2dInputGradOp::getConvolutionForm() {
  return {ConvolutionForm::InputGrad, windowOf(getStride(), getPadding())};
}

ConvolutionForm Conv2dWeightGradOp::getConvolutionForm() {
  return {ConvolutionForm::WeightGrad, windowOf(getStride(), getPadding())};
}

LogicalResult Conv2dOp::evaluate(Evaluation &eval) {
  return evaluateConv2d(windowOf(getStride(), getPadding()), eval);
}

LogicalResult Conv2dOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (!g)
    return success();
  if (reverse.isActive(getX()))
    reverse.add(getX(), Conv2dInputGradOp::create(b, getLoc(), g, getW(), getX(), getStride(),
                                                  getPadding()));
  if (reverse.isActive(getW()))
    reverse.add(getW(), Conv2dWeightGradOp::create(b, getLoc(), getX(), g, getW(), getStride(),
                                                   getPadding()));
  return success();
}

//===- Gradients of a convolution ------------------------------------------===//

FailureOr<Dims> Conv2dInputGradOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (failed(checkWindow(dims, op.getStride(), op.getPadding(), rule)))
    return failure();
  return dims[2];
}

Type Conv2dInputGradOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getG().getType()); }
ShardingRule Conv2dInputGradOp::getShardingRule() { return byExample(3, {0, 2}); }

LogicalResult Conv2dInputGradOp::evaluate(Evaluation &eval) {
  return evaluateConv2dInputGrad(windowOf(getStride(), getPadding()), eval);
}

/// The input gradient is linear in both; each partial is one of the other two ops.
LogicalResult Conv2dInputGradOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value ct = reverse.cotangent(getResult());
  if (!ct)
    return success();
  if (reverse.isActive(getG()))
    reverse.add(getG(), Conv2dOp::create(b, getLoc(), ct, getW(), getStride(), getPadding()));
  if (reverse.isActive(getW()))
    reverse.add(getW(), Conv2dWeightGradOp::create(b, getLoc(), ct, getG(), getW(), getStride(),
                                                   getPadding()));
  return success();
}

FailureOr<Dims> Conv2dWeightGradOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (failed(checkWindow(dims, op.getStride(), op.getPadding(), rule)))
    return failure();
  return dims[2];
}

Type Conv2dWeightGradOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }

ShardingRule Conv2dWeightGradOp::getShardingRule() {
  ShardingRule rule = byExample(3, {0, 1});
  rule.results = {{-1, -1, -1, -1}};
  rule.kinds = {FactorKind::Sum};
  return rule;
}

LogicalResult Conv2dWeightGradOp::evaluate(Evaluation &eval) {
  return evaluateConv2dWeightGrad(windowOf(getStride(), getPadding()), eval);
}

LogicalResult Conv2dWeightGradOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value ct = reverse.cotangent(getResult());
  if (!ct)
    return success();
  if (reverse.isActive(getX()))
    reverse.add(getX(), Conv2dInputGradOp::create(b, getLoc(), getG(), ct, getX(), getStride(),
                                                  getPadding()));
  if (reverse.isActive(getG()))
    reverse.add(getG(), Conv2dOp::create(b, getLoc(), getX(), ct, getStride(), getPadding()));
  return success();
}

//===- Pooling -------------------------------------------------------------===//

FailureOr<Dims> MaxPool2dOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (failed(checkWindow(dims, op.getStride(), op.getPadding(), rule)))
    return failure();
  Dims result{dims[0][0], dims[0][1]};
  for (int axis : {0, 1}) {
    if (op.getWindow().size() != 2 || op.getPadding()[axis] >= op.getWindow()[axis]) {
      rule.error() << "expects a window of two numbers, each above its padding";
      return failure();
    }
    auto size = moved(dims[0][2 + axis], op.getWindow()[axis], op.getStride()[axis],
                      op.getPadding()[axis], rule);
    if (failed(size))
      return failure();
    result.push_back(*size);
  }
  return result;
}

Type MaxPool2dOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }
ShardingRule MaxPool2dOp::getShardingRule() { return byExample(1, {0}); }

LogicalResult MaxPool2dOp::evaluate(Evaluation &eval) {
  return evaluateMaxPool2d(getWindow(), windowOf(getStride(), getPadding()), eval);
}

LogicalResult MaxPool2dOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (g && reverse.isActive(getX()))
    reverse.add(getX(), MaxPool2dGradOp::create(b, getLoc(), g, getX(), getWindow(), getStride(),
                                                getPadding()));
  return success();
}

FailureOr<Dims> MaxPool2dGradOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (failed(checkWindow(dims, op.getStride(), op.getPadding(), rule)))
    return failure();
  return dims[1];
}

Type MaxPool2dGradOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getG().getType()); }
ShardingRule MaxPool2dGradOp::getShardingRule() { return byExample(2, {0, 1}); }

LogicalResult MaxPool2dGradOp::evaluate(Evaluation &eval) {
  return evaluateMaxPool2dGrad(getWindow(), windowOf(getStride(), getPadding()), eval);
}

LogicalResult MaxPool2dGradOp::vjp(OpBuilder &, Reverse &reverse) {
  if (!reverse.cotangent(getResult()))
    return success();
  return emitOpError("has no gradient: a second derivative through pooling is not supported");
}

} // namespace pdg
