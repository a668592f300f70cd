// Conditions and loops as blocks and branches of the program's function.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/control.h"

using namespace mlir;

namespace pdg {

LogicalResult IfOp::lower(Lowering &lowering) {
  Block *then = lowering.newBlock(), *otherwise = lowering.newBlock(), *after = lowering.newBlock();
  lowering.branchIf(lowering.loadScalar(getCondition()), then, otherwise);
  for (auto [region, block] :
       {std::pair(&getThenRegion(), then), std::pair(&getElseRegion(), otherwise)}) {
    lowering.enter(block);
    if (failed(lowering.lowerBlock(region->front())))
      return failure();
    lowering.copy(region->front().getTerminator()->getOperands(), getResults());
    lowering.branch(after);
  }
  lowering.enter(after);
  return success();
}

/// Builds the body of a loop, which ends with the next values in the places of the carried ones and
/// leaves for `after` if the round says so.
static LogicalResult lowerBody(Lowering &lowering, Block &body, ValueRange carried, Block *after) {
  if (failed(lowering.lowerBlock(body)))
    return failure();
  auto yield = cast<YieldOp>(body.getTerminator());
  // Before the copies: the condition may be a carried value.
  Value goesOn = yield.getGoesOn() ? lowering.loadScalar(yield.getGoesOn()) : Value();
  lowering.copy(yield.getValues(), carried);
  if (goesOn) {
    Block *again = lowering.newBlock();
    lowering.branchIf(goesOn, again, after);
    lowering.enter(again);
  }
  return success();
}

static Value compare(Lowering &lowering, Location loc, arith::CmpIPredicate predicate, Value x,
                     Value y) {
  return arith::CmpIOp::create(lowering.b, loc, predicate, x, y);
}

LogicalResult ForOp::lower(Lowering &lowering) {
  Block &body = getBody().front();
  ValueRange carried = body.getArguments().drop_front();
  lowering.copy(getInits(), carried);
  Value lower = lowering.loadScalar(getLower()), upper = lowering.loadScalar(getUpper());
  Block *head = lowering.newBlock(1), *inside = lowering.newBlock(), *after = lowering.newBlock();
  lowering.branch(head, lower);
  lowering.enter(head);
  Value counter = head->getArgument(0);
  lowering.branchIf(compare(lowering, getLoc(), arith::CmpIPredicate::slt, counter, upper), inside,
                    after);
  lowering.enter(inside);
  lowering.stopIf(lowering.call("pdg_poll", {}));
  lowering.storeScalar(counter, body.getArgument(0));
  if (failed(lowerBody(lowering, body, carried, after)))
    return failure();
  Value next = arith::AddIOp::create(lowering.b, getLoc(), counter, lowering.constant(1));
  lowering.branch(head, next);
  lowering.enter(after);
  return success();
}

LogicalResult ForEachOp::lower(Lowering &lowering) {
  Block &body = getBody().front();
  unsigned fields = getNumFields();
  ValueRange carried = body.getArguments().drop_front(1 + fields);
  Value source = lowering.sourceIndex(getSourceAttr());
  lowering.copy(getInits(), carried);
  lowering.stopIf(lowering.call("pdg_data_open", {source}));
  Value table = lowering.room(fields);
  Block *head = lowering.newBlock(1), *taken = lowering.newBlock(), *inside = lowering.newBlock(),
        *after = lowering.newBlock();
  lowering.branch(head, lowering.constant(0));
  lowering.enter(head);
  Value step = head->getArgument(0), zero = lowering.constant(0);
  Value examples = lowering.call("pdg_data_next", {source, table});
  lowering.branchIf(compare(lowering, getLoc(), arith::CmpIPredicate::eq, examples, zero), after,
                    taken);
  lowering.enter(taken);
  Value negative = compare(lowering, getLoc(), arith::CmpIPredicate::slt, examples, zero);
  lowering.stopIf(arith::ExtUIOp::create(lowering.b, getLoc(), examples.getType(), negative));
  lowering.branch(inside);
  lowering.enter(inside);
  for (unsigned i = 0; i < fields; ++i)
    lowering.setPointer(body.getArgument(1 + i), lowering.loadAddress(table, i));
  lowering.setBatch(body.getArgument(1), examples);
  lowering.storeScalar(step, body.getArgument(0));
  if (failed(lowerBody(lowering, body, carried, after)))
    return failure();
  Value next = arith::AddIOp::create(lowering.b, getLoc(), step, lowering.constant(1));
  lowering.branch(head, next);
  lowering.enter(after);
  return success();
}

LogicalResult LoopForeverOp::lower(Lowering &lowering) {
  Block &body = getBody().front();
  ValueRange carried = body.getArguments();
  lowering.copy(getInits(), carried);
  Block *head = lowering.newBlock(), *after = lowering.newBlock();
  lowering.branch(head);
  lowering.enter(head);
  lowering.stopIf(lowering.call("pdg_poll", {}));
  if (failed(lowerBody(lowering, body, carried, after)))
    return failure();
  lowering.branch(head);
  lowering.enter(after);
  return success();
}

} // namespace pdg
