// The ops of convolution.td. Each of the three is linear in its operands, and its gradients are the
// other two.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/convolution.h"
#include "ir/interpret/evaluate_convolution.h"
#include "ir/interpret/evaluate_leaves.h"
#include "ir/ops/leaves.h"
#include "ir/ops/window.h"
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

/// Height and width of a picture or of weights, which the verifier has found static.
static std::array<int64_t, 2> pictureOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return {type.getDimSize(2), type.getDimSize(3)};
}

static LogicalResult checkGroups(int64_t groups, AffineExpr filters, ShapeRule &rule) {
  auto known = dyn_cast<AffineConstantExpr>(filters);
  if (!known) {
    rule.error() << "expects weights whose sizes are known when compiling"; // C2
    return failure();
  }
  if (groups >= 1 && known.getValue() > 0 && known.getValue() % groups == 0)
    return success();
  rule.error() << "expects a number of groups that divides the " << known.getValue()
               << " filters, got " << groups;
  return failure();
}

//===- Conv2dOp ------------------------------------------------------------===//

FailureOr<Dims> Conv2dOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (failed(checkPictures(dims.take_front(2), rule)) ||
      failed(checkGroups(op.getGroups(), dims[1][0], rule)))
    return failure();
  auto weights = knownPicture(dims[1], "weights", rule);
  if (failed(weights))
    return failure();
  auto picture = knownPicture(dims[0], "pictures", rule);
  if (failed(picture) ||
      failed(rule.unify(dims[0][1], dims[1][1] * op.getGroups(), "channels of all groups")))
    return failure();
  if (dims.size() > 2) {
    if (dims[2].size() != 1) {
      rule.error() << "expects a bias with one axis, got " << dims[2].size();
      return failure();
    }
    if (failed(rule.unify(dims[2][0], dims[1][0], "bias")))
      return failure();
  }
  auto window = readWindow(*weights, op.getStride(), op.getPadding(), op.getDilation(), rule);
  if (failed(window))
    return failure();
  auto count = windowsOver(*picture, *window, rule);
  if (failed(count))
    return failure();
  return Dims{dims[0][0], dims[1][0], rule.constant((*count)[0]), rule.constant((*count)[1])};
}

Type Conv2dOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }
ShardingRule Conv2dOp::getShardingRule() { return byExample(*this, {0}); }

ConvolutionRule Conv2dOp::getConvolutionRule() {
  return {ConvolutionRule::Forward,
          windowOf(pictureOf(getW()), getStride(), getPadding(), getDilation()),
          static_cast<int64_t>(getGroups()), getRelu()};
}

LogicalResult Conv2dOp::evaluate(Evaluation &eval) {
  return evaluateConv2d(getConvolutionRule(), bool(getBias()), eval);
}

LogicalResult Conv2dOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (!g)
    return success();
  if (getRelu()) {
    TensorExpr ct{b, getLoc(), g};
    g = select(gt(ct.with(getResult()), 0.0), ct, 0.0).value;
  }
  if (reverse.isActive(getX()))
    reverse.add(getX(),
                Conv2dInputGradOp::create(b, getLoc(), g, getW(), pictureOf(getX()), getStride(),
                                          getPadding(), getDilation(), getGroups()));
  if (reverse.isActive(getW()))
    reverse.add(getW(),
                Conv2dWeightGradOp::create(b, getLoc(), getX(), g, pictureOf(getW()), getStride(),
                                           getPadding(), getDilation(), getGroups()));
  if (getBias() && reverse.isActive(getBias()))
    reverse.add(getBias(), sumOver(b, getLoc(), g, {0, 2, 3}, false));
  return success();
}

/// The convolution of `x` by `w` that moves as `op` does.
template <class OpTy> static Value convolve(OpBuilder &b, OpTy op, Value x, Value w) {
  return Conv2dOp::create(b, op.getLoc(), x, w, Value(), false, op.getStride(), op.getPadding(),
                          op.getDilation(), op.getGroups());
}

//===- Conv2dInputGradOp ---------------------------------------------------===//

FailureOr<Dims> Conv2dInputGradOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (failed(checkPictures(dims, rule)) || failed(checkGroups(op.getGroups(), dims[1][0], rule)) ||
      failed(rule.unify(dims[0][1], dims[1][0], "filters")))
    return failure();
  auto weights = knownPicture(dims[1], "weights", rule);
  if (failed(weights))
    return failure();
  auto window = readWindow(*weights, op.getStride(), op.getPadding(), op.getDilation(), rule);
  ArrayRef<int64_t> picture = op.getPicture();
  if (failed(window))
    return failure();
  if (picture.size() != 2 || picture[0] < 1 || picture[1] < 1) {
    rule.error() << "expects a height and a width of the picture";
    return failure();
  }
  auto count = windowsOver(picture, *window, rule);
  if (failed(count) || failed(checkWindows(dims[0], *count, rule)))
    return failure();
  return Dims{dims[0][0], dims[1][1] * op.getGroups(), rule.constant(picture[0]),
              rule.constant(picture[1])};
}

Type Conv2dInputGradOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getG().getType()); }
ShardingRule Conv2dInputGradOp::getShardingRule() { return byExample(*this, {0}); }

ConvolutionRule Conv2dInputGradOp::getConvolutionRule() {
  return {ConvolutionRule::InputGrad,
          windowOf(pictureOf(getW()), getStride(), getPadding(), getDilation()),
          static_cast<int64_t>(getGroups())};
}

LogicalResult Conv2dInputGradOp::evaluate(Evaluation &eval) {
  return evaluateConv2dInputGrad(getConvolutionRule(), getPicture(), eval);
}

LogicalResult Conv2dInputGradOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value ct = reverse.cotangent(getResult());
  if (!ct)
    return success();
  if (reverse.isActive(getG()))
    reverse.add(getG(), convolve(b, *this, ct, getW()));
  if (reverse.isActive(getW()))
    reverse.add(getW(),
                Conv2dWeightGradOp::create(b, getLoc(), ct, getG(), pictureOf(getW()), getStride(),
                                           getPadding(), getDilation(), getGroups()));
  return success();
}

//===- Conv2dWeightGradOp --------------------------------------------------===//

/// The sizes of the weights for which a gradient sums over pictures and cotangents.
template <class Adaptor>
static FailureOr<Dims> weightDims(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (failed(checkPictures(dims, rule)) || failed(checkGroups(op.getGroups(), dims[1][1], rule)) ||
      failed(rule.unify(dims[0][0], dims[1][0], "examples")))
    return failure();
  auto channels = dyn_cast<AffineConstantExpr>(dims[0][1]);
  int64_t groups = op.getGroups();
  if (!channels || channels.getValue() < 1 || channels.getValue() % groups) {
    rule.error() << "expects a number of channels that is known when compiling and that the "
                 << groups << " groups divide";
    return failure();
  }
  auto picture = knownPicture(dims[0], "pictures", rule);
  if (failed(picture))
    return failure();
  auto window = readWindow(op.getWindow(), op.getStride(), op.getPadding(), op.getDilation(), rule);
  if (failed(window))
    return failure();
  auto count = windowsOver(*picture, *window, rule);
  if (failed(count) || failed(checkWindows(dims[1], *count, rule)))
    return failure();
  return Dims{dims[1][1], rule.constant(channels.getValue() / groups),
              rule.constant(window->size[0]), rule.constant(window->size[1])};
}

FailureOr<Dims> Conv2dWeightGradOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  return weightDims(op, dims, rule);
}

Type Conv2dWeightGradOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }

ShardingRule Conv2dWeightGradOp::getShardingRule() {
  ShardingRule rule = byExample(*this, {0, 1});
  rule.results = {{-1, -1, -1, -1}};
  rule.kinds = {FactorKind::Sum};
  return rule;
}

ConvolutionRule Conv2dWeightGradOp::getConvolutionRule() {
  return {ConvolutionRule::WeightGrad,
          windowOf(getWindow(), getStride(), getPadding(), getDilation()),
          static_cast<int64_t>(getGroups())};
}

int64_t Conv2dWeightGradOp::getLeafBound() {
  return leafBound(cast<RankedTensorType>(getX().getType()).getDimSize(0));
}

Value Conv2dWeightGradOp::addToLeaves(OpBuilder &b, Value leaves) {
  return Conv2dWeightLeavesOp::create(b, getLoc(), getX(), getG(), leaves, getWindow(), getStride(),
                                      getPadding(), getDilation(), getGroups());
}

LogicalResult Conv2dWeightGradOp::evaluate(Evaluation &eval) {
  return evaluateConv2dWeightGrad(getConvolutionRule(), eval);
}

LogicalResult Conv2dWeightGradOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value ct = reverse.cotangent(getResult());
  if (!ct)
    return success();
  if (reverse.isActive(getX()))
    reverse.add(getX(),
                Conv2dInputGradOp::create(b, getLoc(), getG(), ct, pictureOf(getX()), getStride(),
                                          getPadding(), getDilation(), getGroups()));
  if (reverse.isActive(getG()))
    reverse.add(getG(), convolve(b, *this, getX(), ct));
  return success();
}

//===- Conv2dWeightLeavesOp ------------------------------------------------===//

// C3
LogicalResult Conv2dWeightLeavesOp::verify() { return verifyLeaves(*this, getLeaves()); }

FailureOr<Dims> Conv2dWeightLeavesOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  FailureOr<Dims> sum = weightDims(op, dims.take_front(2), rule);
  if (failed(sum))
    return failure();
  return leavesDims(dims[2], *sum, rule);
}

Type Conv2dWeightLeavesOp::elementOf(Adaptor op) {
  return getElementTypeOrSelf(op.getX().getType());
}

unsigned Conv2dWeightLeavesOp::getUpdatedOperand() { return 2; }

ShardingRule Conv2dWeightLeavesOp::getShardingRule() {
  ShardingRule rule = byExample(*this, {0, 1, 2});
  rule.results = {{0, -1, -1, -1, -1}};
  rule.kinds = {FactorKind::Leaves};
  return rule;
}

ConvolutionRule Conv2dWeightLeavesOp::getConvolutionRule() {
  return {ConvolutionRule::WeightGrad,
          windowOf(getWindow(), getStride(), getPadding(), getDilation()),
          static_cast<int64_t>(getGroups())};
}

LogicalResult Conv2dWeightLeavesOp::evaluate(Evaluation &eval) {
  return evaluateConv2dWeightLeaves(getConvolutionRule(), eval);
}

LogicalResult Conv2dWeightLeavesOp::vjp(OpBuilder &, Reverse &) {
  return emitOpError("is made after gradients are taken");
}

} // namespace pdg
