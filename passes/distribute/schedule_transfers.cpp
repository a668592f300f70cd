// Moves what is sent to where it is there, and what is received to where it is needed.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/check_cluster_ends.h"
#include "passes/passes.h"

#include "llvm/ADT/SmallPtrSet.h"

namespace pdg {
#define GEN_PASS_DEF_SCHEDULETRANSFERS
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

/// The ends of edges between roles in a block, in their order. Queues stay as they are: they order
/// what one role does.
SmallVector<EdgeOpInterface> endsIn(Block &block, bool isReceiver) {
  SmallVector<EdgeOpInterface> ends;
  for (Operation &op : block)
    if (auto end = dyn_cast<EdgeOpInterface>(&op);
        end && end.isReceiver() == isReceiver && !isQueue(cast<EdgeAttr>(end.getEdgeName())))
      ends.push_back(end);
  return ends;
}

/// Moves each Send up, behind the op that gives its value and the Sends that are already there.
void moveSendsUp(Block &block) {
  llvm::SmallPtrSet<Operation *, 16> moved;
  for (EdgeOpInterface send : endsIn(block, false)) {
    // Whether a loop goes on is said in each round, and behind the last.
    if (cast<EdgeAttr>(send.getEdgeName()).getKind() == EdgeKind::Control)
      continue;
    Operation *maker = send->getOperand(0).getDefiningOp();
    if (!maker || maker->getBlock() != &block)
      continue; // Sent where a round begins.
    Operation *behind = maker;
    while (moved.contains(behind->getNextNode()))
      behind = behind->getNextNode();
    if (behind->getNextNode() != send)
      send->moveAfter(behind);
    moved.insert(send);
  }
}

/// Moves each receiving op down, to the first op that needs it. Those with the same first user keep
/// their order.
void moveReceivesDown(Block &block) {
  llvm::SmallPtrSet<Operation *, 16> moved;
  SmallVector<EdgeOpInterface> receives = endsIn(block, true);
  for (EdgeOpInterface receive : llvm::reverse(receives)) {
    Operation *first = nullptr;
    for (Operation *user : receive->getUsers())
      if (Operation *inBlock = block.findAncestorOpInBlock(*user))
        if (!first || inBlock->isBeforeInBlock(first))
          first = inBlock;
    if (!first)
      continue; // Only taken.
    while (first->getPrevNode() && moved.contains(first->getPrevNode()))
      first = first->getPrevNode();
    if (first->getPrevNode() != receive)
      receive->moveBefore(first);
    moved.insert(receive);
  }
}

struct ScheduleTransfersPass : impl::ScheduleTransfersBase<ScheduleTransfersPass> {
  void runOnOperation() override {
    getOperation().walk([](Block *block) {
      moveReceivesDown(*block);
      moveSendsUp(*block);
    });
  }
};

} // namespace
} // namespace pdg
