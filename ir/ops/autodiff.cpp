// The ops of autodiff.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/autodiff.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/autodiff.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/autodiff.cpp.inc"
      >();
});

using namespace mlir;

namespace pdg {

LogicalResult GradientOp::verify() {
  if (getNumResults() != getNames().size() + getWrt().size())
    return emitOpError("expects a result for each name and each value");
  if (llvm::cast<RankedTensorType>(getLoss().getType()).getRank() != 0)
    return emitOpError("expects a scalar to differentiate, got ") << getLoss().getType();
  return success();
}

LogicalResult GradientOp::vjp(OpBuilder &, Reverse &) {
  return emitOpError("is replaced before the gradient around it");
}
ShardingRule GradientOp::getShardingRule() { return {}; }
LogicalResult GradientOp::evaluate(Evaluation &) {
  return emitOpError("is replaced by pdg-differentiate before a program runs");
}

FailureOr<Dims> StopGradientOp::dimsOf(Adaptor, ArrayRef<Dims> dims, ShapeRule &) {
  return dims[0];
}
Type StopGradientOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }
ShardingRule StopGradientOp::getShardingRule() { return elementwiseSharding(*this); }
LogicalResult StopGradientOp::vjp(OpBuilder &, Reverse &) { return success(); }
LogicalResult StopGradientOp::evaluate(Evaluation &eval) {
  eval.setResult(0, eval.operandRef(0));
  return success();
}

} // namespace pdg
