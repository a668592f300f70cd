// The ops of pooling.td. The gradient of each is another one of them.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/pooling.h"
#include "ir/interpret/evaluate_pooling.h"
#include "ir/ops/window.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/pooling.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/pooling.cpp.inc"
      >();
});

using namespace mlir;

namespace pdg {

/// The sizes of what a pooling with these attributes gives from `picture`.
template <class Adaptor>
static FailureOr<Dims> pooled(Adaptor op, const Dims &channels, ArrayRef<int64_t> picture,
                              ShapeRule &rule) {
  auto window = readWindow(op.getWindow(), op.getStride(), op.getPadding(), {1, 1}, rule);
  if (failed(window))
    return failure();
  for (int axis : {0, 1})
    if (std::max(window->before[axis], window->after[axis]) >= window->size[axis]) {
      rule.error() << "expects a padding that is smaller than the window of " << window->size[axis]
                   << ", got " << std::max(window->before[axis], window->after[axis]);
      return failure();
    }
  auto count = windowsOver(picture, *window, rule);
  if (failed(count))
    return failure();
  return Dims{channels[0], channels[1], rule.constant((*count)[0]), rule.constant((*count)[1])};
}

/// The sizes of what a pooling gives from a picture of `dims`.
template <class Adaptor>
static FailureOr<Dims> pooledPicture(Adaptor op, const Dims &dims, ShapeRule &rule) {
  if (failed(checkPictures(dims, rule)))
    return failure();
  auto picture = knownPicture(dims, "pictures", rule);
  if (failed(picture))
    return failure();
  return pooled(op, dims, *picture, rule);
}

/// Reports sizes of `found` that are not those of `expected`.
static LogicalResult unifyAll(const Dims &found, const Dims &expected, ShapeRule &rule) {
  const char *const names[] = {"examples", "channels", "height", "width"};
  for (int axis = 0; axis < 4; ++axis)
    if (failed(rule.unify(found[axis], expected[axis], names[axis])))
      return failure();
  return success();
}

template <class OpTy> static PoolingRule formOf(PoolingRule::Kind kind, OpTy op) {
  return {kind, windowOf(op.getWindow(), op.getStride(), op.getPadding())};
}

//===- The largest ---------------------------------------------------------===//

FailureOr<Dims> MaxPool2dOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  return pooledPicture(op, dims[0], rule);
}

Type MaxPool2dOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }
ShardingRule MaxPool2dOp::getShardingRule() { return byExample(*this, {0}); }
PoolingRule MaxPool2dOp::getPoolingRule() { return formOf(PoolingRule::Max, *this); }
LogicalResult MaxPool2dOp::evaluate(Evaluation &eval) {
  return evaluatePooling(getPoolingRule(), {}, eval);
}

LogicalResult MaxPool2dOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (g && reverse.isActive(getX()))
    reverse.add(getX(), MaxPool2dGradOp::create(b, getLoc(), g, getX(), getWindow(), getStride(),
                                                getPadding()));
  return success();
}

FailureOr<Dims> MaxPool2dAtOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (failed(checkPictures(dims, rule)) || failed(unifyAll(dims[1], dims[0], rule)))
    return failure();
  return pooledPicture(op, dims[0], rule);
}

Type MaxPool2dAtOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }
ShardingRule MaxPool2dAtOp::getShardingRule() { return byExample(*this, {0, 1}); }
PoolingRule MaxPool2dAtOp::getPoolingRule() { return formOf(PoolingRule::MaxAt, *this); }
LogicalResult MaxPool2dAtOp::evaluate(Evaluation &eval) {
  return evaluatePooling(getPoolingRule(), {}, eval);
}

/// Linear in y; the places do not move with x.
LogicalResult MaxPool2dAtOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (g && reverse.isActive(getY()))
    reverse.add(getY(), MaxPool2dGradOp::create(b, getLoc(), g, getX(), getWindow(), getStride(),
                                                getPadding()));
  return success();
}

FailureOr<Dims> MaxPool2dGradOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (failed(checkPictures(dims, rule)))
    return failure();
  FailureOr<Dims> output = pooledPicture(op, dims[1], rule);
  if (failed(output) || failed(unifyAll(dims[0], *output, rule)))
    return failure();
  return dims[1];
}

Type MaxPool2dGradOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getG().getType()); }
ShardingRule MaxPool2dGradOp::getShardingRule() { return byExample(*this, {0, 1}); }
PoolingRule MaxPool2dGradOp::getPoolingRule() { return formOf(PoolingRule::MaxGrad, *this); }
LogicalResult MaxPool2dGradOp::evaluate(Evaluation &eval) {
  return evaluatePooling(getPoolingRule(), {}, eval);
}

LogicalResult MaxPool2dGradOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value ct = reverse.cotangent(getResult());
  if (ct && reverse.isActive(getG()))
    reverse.add(getG(), MaxPool2dAtOp::create(b, getLoc(), getX(), ct, getWindow(), getStride(),
                                              getPadding()));
  return success();
}

//===- The sum -------------------------------------------------------------===//

FailureOr<Dims> SumPool2dOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  return pooledPicture(op, dims[0], rule);
}

Type SumPool2dOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }
ShardingRule SumPool2dOp::getShardingRule() { return byExample(*this, {0}); }
PoolingRule SumPool2dOp::getPoolingRule() { return formOf(PoolingRule::Sum, *this); }
LogicalResult SumPool2dOp::evaluate(Evaluation &eval) {
  return evaluatePooling(getPoolingRule(), {}, eval);
}

LogicalResult SumPool2dOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (!g || !reverse.isActive(getX()))
    return success();
  auto picture = cast<RankedTensorType>(getX().getType()).getShape().take_back(2);
  reverse.add(getX(), SumPool2dGradOp::create(b, getLoc(), g, picture, getWindow(), getStride(),
                                              getPadding()));
  return success();
}

FailureOr<Dims> SumPool2dGradOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  ArrayRef<int64_t> picture = op.getPicture();
  if (failed(checkPictures(dims, rule)))
    return failure();
  if (picture.size() != 2 || picture[0] < 1 || picture[1] < 1) {
    rule.error() << "expects a height and a width of the picture";
    return failure();
  }
  FailureOr<Dims> output = pooled(op, dims[0], picture, rule);
  if (failed(output) || failed(unifyAll(dims[0], *output, rule)))
    return failure();
  return Dims{dims[0][0], dims[0][1], rule.constant(picture[0]), rule.constant(picture[1])};
}

Type SumPool2dGradOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getG().getType()); }
ShardingRule SumPool2dGradOp::getShardingRule() { return byExample(*this, {0}); }
PoolingRule SumPool2dGradOp::getPoolingRule() { return formOf(PoolingRule::SumGrad, *this); }
LogicalResult SumPool2dGradOp::evaluate(Evaluation &eval) {
  return evaluatePooling(getPoolingRule(), getPicture(), eval);
}

LogicalResult SumPool2dGradOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value ct = reverse.cotangent(getResult());
  if (ct && reverse.isActive(getG()))
    reverse.add(getG(),
                SumPool2dOp::create(b, getLoc(), ct, getWindow(), getStride(), getPadding()));
  return success();
}

} // namespace pdg
