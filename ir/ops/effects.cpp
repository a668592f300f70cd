// The ops of effects.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/effects.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/effects.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/effects.cpp.inc"
      >();
});

using namespace mlir;

namespace pdg {

/// Reports a text whose parts do not fit each other.
static LogicalResult verifyText(Operation *op, size_t segments, size_t formats, size_t values) {
  if (segments == values + 1 && formats == values)
    return success();
  return op->emitOpError("expects one segment more than values and a format for each, got ")
         << segments << " segments, " << formats << " formats, " << values << " values";
}

/// The operands from `first` on.
static SmallVector<SharedTensor> valuesFrom(Evaluation &eval, unsigned first, unsigned count) {
  SmallVector<SharedTensor> values;
  for (unsigned i = 0; i < count; ++i)
    values.push_back(eval.operandRef(first + i));
  return values;
}

LogicalResult PrintOp::verify() {
  return verifyText(*this, getSegments().size(), getFormats().size(), getValues().size());
}
LogicalResult PrintOp::vjp(OpBuilder &, Reverse &) { return success(); }
ShardingRule PrintOp::getShardingRule() { return {}; }
LogicalResult PrintOp::evaluate(Evaluation &eval) {
  return eval.print(valuesFrom(eval, 0, getValues().size()));
}

LogicalResult FetchOp::vjp(OpBuilder &, Reverse &) { return success(); }
ShardingRule FetchOp::getShardingRule() { return {}; }
LogicalResult FetchOp::evaluate(Evaluation &eval) {
  return eval.fetch(getName(), eval.operandRef(0));
}

LogicalResult AssertOp::verify() {
  return verifyText(*this, getSegments().size(), getFormats().size(), getValues().size());
}
LogicalResult AssertOp::vjp(OpBuilder &, Reverse &) { return success(); }
ShardingRule AssertOp::getShardingRule() { return {}; }
LogicalResult AssertOp::evaluate(Evaluation &eval) {
  return eval.operand(0).data<bool>()[0] ? success()
                                         : eval.fail(valuesFrom(eval, 1, getValues().size()));
}

//===- Code ----------------------------------------------------------------===//

LogicalResult PrintOp::lower(Lowering &lowering) {
  lowering.stopIf(
      lowering.call("pdg_print", {lowering.textSite(*this), lowering.addressTable(getValues()),
                                  lowering.sizeTable(getValues())}));
  return success();
}

LogicalResult FetchOp::lower(Lowering &lowering) {
  lowering.stopIf(
      lowering.call("pdg_fetch", {lowering.fetchSite(getName()), lowering.pointer(getValue()),
                                  lowering.sizeTable(getValue())}));
  return success();
}

LogicalResult AssertOp::lower(Lowering &lowering) {
  Block *fails = lowering.newBlock(), *holds = lowering.newBlock();
  lowering.branchIf(lowering.loadScalar(getCondition()), holds, fails);
  lowering.enter(fails);
  lowering.stopIf(
      lowering.call("pdg_fail", {lowering.textSite(*this), lowering.addressTable(getValues()),
                                 lowering.sizeTable(getValues())}));
  lowering.branch(holds);
  lowering.enter(holds);
  return success();
}

} // namespace pdg
