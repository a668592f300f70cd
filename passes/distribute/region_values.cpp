// What a loop carries, found by position; and ops rebuilt with more or fewer values.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/region_values.h"
#include "ir/ops/control.h"

using namespace mlir;

namespace pdg {

OperandRange ownOperands(Operation *op) {
  unsigned carried = isa<LoopOpInterface>(op) ? op->getNumResults() : 0;
  return op->getOperands().drop_back(carried);
}

OperandRange initialValues(Operation *op) {
  return op->getOperands().drop_front(ownOperands(op).size());
}

OperandRange yieldedValues(Block &block) {
  return cast<YieldOp>(block.getTerminator()).getValues();
}

Operation *rebuildWithRegions(OpBuilder &b, Operation *op, ValueRange operands, TypeRange results) {
  OperationState state(op->getLoc(), op->getName(), operands, results, op->getAttrs());
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  return b.create(state);
}

void replaceYield(Block &block, ValueRange values, Value goesOn) {
  auto yield = cast<YieldOp>(block.getTerminator());
  OpBuilder b(yield);
  YieldOp::create(b, yield.getLoc(), values, goesOn);
  yield.erase();
}

} // namespace pdg
