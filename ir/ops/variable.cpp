// The ops of variable.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/variable.h"
#include "ir/ops/control.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/variable.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/variable.cpp.inc"
      >();
});

using namespace mlir;

namespace pdg {

LogicalResult VariableOp::verify() {
  auto yield = dyn_cast<YieldOp>(getInit().front().getTerminator());
  if (!yield || yield->getNumOperands() != 1 || yield->getOperand(0).getType() != getType())
    return emitOpError("expects its region to yield one ") << getType();
  if (!llvm::cast<RankedTensorType>(getType()).hasStaticShape())
    return emitOpError("expects sizes that are known when compiling, got ") << getType();
  return success();
}

LogicalResult VariableOp::vjp(OpBuilder &, Reverse &) { return success(); }
ShardingRule VariableOp::getShardingRule() { return {}; }
LogicalResult VariableOp::evaluate(Evaluation &eval) {
  auto values = eval.run(getInit().front(), {});
  return failed(values) ? failure() : eval.assign(getName(), values->front());
}

LogicalResult ReadOp::vjp(OpBuilder &, Reverse &) { return success(); }
ShardingRule ReadOp::getShardingRule() { return {}; }
LogicalResult ReadOp::evaluate(Evaluation &eval) {
  eval.setResult(0, eval.read(getName()));
  return success();
}

LogicalResult AssignOp::vjp(OpBuilder &, Reverse &) { return success(); }
ShardingRule AssignOp::getShardingRule() { return {}; }
LogicalResult AssignOp::evaluate(Evaluation &eval) {
  return eval.assign(getName(), eval.operandRef(0));
}

LogicalResult SourceOp::vjp(OpBuilder &, Reverse &) { return success(); }
ShardingRule SourceOp::getShardingRule() { return {}; }
LogicalResult SourceOp::evaluate(Evaluation &) { return success(); }

LogicalResult SourceSizeOp::vjp(OpBuilder &, Reverse &) { return success(); }
ShardingRule SourceSizeOp::getShardingRule() { return {}; }
LogicalResult SourceSizeOp::evaluate(Evaluation &eval) {
  auto size = eval.sourceSize(getSourceAttr());
  if (failed(size))
    return failure();
  eval.setResult(0, eval.scalar(*size));
  return success();
}

LogicalResult InputOp::vjp(OpBuilder &, Reverse &) { return success(); }
ShardingRule InputOp::getShardingRule() { return {}; }
LogicalResult InputOp::evaluate(Evaluation &eval) {
  auto value = eval.input(getName());
  if (failed(value))
    return failure();
  eval.setResult(0, *value);
  return success();
}

//===- Code ----------------------------------------------------------------===//

LogicalResult ReadOp::lower(Lowering &lowering) {
  lowering.read(getName(), getResult());
  return success();
}

LogicalResult AssignOp::lower(Lowering &lowering) {
  lowering.assign(*this, getName(), getValue());
  return success();
}

LogicalResult SourceSizeOp::lower(Lowering &lowering) {
  Value size = lowering.call("pdg_data_size", {lowering.sourceIndex(getSourceAttr())});
  Value failed = arith::CmpIOp::create(lowering.b, getLoc(), arith::CmpIPredicate::slt, size,
                                       lowering.constant(0));
  lowering.stopIf(arith::ExtUIOp::create(lowering.b, getLoc(), lowering.b.getI64Type(), failed));
  lowering.storeScalar(size, getResult());
  return success();
}

LogicalResult InputOp::lower(Lowering &lowering) {
  auto type = llvm::cast<RankedTensorType>(getType());
  Value address = lowering.room(1), sizes = lowering.room(type.getRank());
  lowering.stopIf(lowering.call("pdg_input_get", {lowering.inputIndex(getName()), address, sizes}));
  lowering.setPointer(getResult(), lowering.loadAddress(address, 0));
  return success();
}

} // namespace pdg
