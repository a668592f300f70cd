// Gives whole batches to trainers in turn, for modes in which they do not keep step.
// SPDX-License-Identifier: Apache-2.0
#include "ir/expr.h"
#include "ir/ops/communication.h"
#include "ir/ops/compare.h"
#include "ir/ops/control.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/shape.h"
#include "ir/ops/variable.h"
#include "passes/passes.h"

namespace pdg {
#define GEN_PASS_DEF_SHAREBATCHES
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

/// True if a variable changes in the loop: then its rounds are shared. A loop that only looks is
/// run by everybody.
bool updates(Operation *loop) {
  return loop->walk([](AssignOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Makes the rounds of `loop` that are not the trainer's pass on what they were given.
void share(ForEachOp loop, Value replica, int64_t trainers) {
  Block &body = loop.getBody().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  Location loc = loop.getLoc();
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  Value turn = ModOp::create(b, loc, body.getArgument(0), sizeConstant(b, loc, trainers));
  Value isMine = EqOp::create(b, loc, turn, replica);
  SmallVector<Type> types(yield->getOperandTypes());
  auto branch = IfOp::create(b, loc, types, isMine);
  Block &then = branch.getThenRegion().emplaceBlock();
  then.getOperations().splice(then.end(), body.getOperations(), std::next(Block::iterator(branch)),
                              Block::iterator(yield));
  OpBuilder inThen = OpBuilder::atBlockEnd(&then);
  YieldOp::create(inThen, loc, yield->getOperands());
  OpBuilder inElse = OpBuilder::atBlockEnd(&branch.getElseRegion().emplaceBlock());
  SmallVector<Value> kept;
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    kept.push_back(cast<LoopOpInterface>(loop.getOperation()).getCarried(i));
  if (yield.getGoesOn())
    kept.push_back(ConstantOp::create(
        inElse, loc,
        DenseElementsAttr::get(cast<RankedTensorType>(yield.getGoesOn().getType()), true)));
  YieldOp::create(inElse, loc, kept);
  yield->setOperands(branch.getResults());
}

struct ShareBatchesPass : impl::ShareBatchesBase<ShareBatchesPass> {
  using ShareBatchesBase::ShareBatchesBase;

  void runOnOperation() override {
    SmallVector<ForEachOp> loops;
    // Of loops inside each other the outer one: its rounds are shared as a whole.
    getOperation()->walk<WalkOrder::PreOrder>([&](ForEachOp loop) {
      if (!updates(loop))
        return WalkResult::advance();
      loops.push_back(loop);
      return WalkResult::skip();
    });
    for (ProgramOp program : getOperation().getOps<ProgramOp>()) {
      OpBuilder b = OpBuilder::atBlockBegin(&program.getBody().front());
      Value replica = ReplicaOp::create(b, program.getLoc());
      for (ForEachOp loop : loops)
        if (program->isProperAncestor(loop))
          share(loop, replica, trainers);
    }
  }
};

} // namespace
} // namespace pdg
