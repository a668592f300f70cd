// Lets servers whose variables change while they wait read each variable right where it is used.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "ir/ops/control.h"
#include "ir/ops/variable.h"
#include "passes/passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace pdg {
#define GEN_PASS_DEF_REFRESHREADS
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

/// Moves what has no effect down to its first use, so that it is computed from what is read there.
void sink(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (op.hasTrait<OpTrait::IsTerminator>() || op.getNumRegions() || !isMemoryEffectFree(&op))
      continue;
    Operation *first = nullptr;
    for (Operation *user : op.getUsers()) {
      Operation *at = block.findAncestorOpInBlock(*user);
      if (at && (!first || at->isBeforeInBlock(first)))
        first = at;
    }
    if (first && first != op.getNextNode())
      op.moveBefore(first);
  }
}

/// True if `op` or what is inside of it assigns the variable.
bool assigns(Operation *op, Attribute name) {
  return op
      ->walk([&](AssignOp assign) {
        return assign.getName() == name ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// True if the program itself gives the variable another value between the read and the use.
bool changesBefore(ReadOp read, Operation *user) {
  Operation *at = read->getBlock()->findAncestorOpInBlock(*user);
  for (Operation *op = read->getNextNode(); op && op != at; op = op->getNextNode())
    if (assigns(op, read.getName()))
      return true;
  // Inside a loop or condition another round, or an op before it, may do so.
  return at != user && assigns(at, read.getName());
}

void refresh(ReadOp read) {
  for (OpOperand &use : llvm::make_early_inc_range(read->getUses())) {
    if (changesBefore(read, use.getOwner()))
      continue;
    OpBuilder b(use.getOwner());
    use.set(b.clone(*read)->getResult(0));
  }
  if (read->use_empty())
    read.erase();
}

struct RefreshReadsPass : impl::RefreshReadsBase<RefreshReadsPass> {
  void runOnOperation() override {
    getOperation()->walk([](ModuleOp role) {
      auto name = role->getAttrOfType<RoleAttr>("pdg.role");
      if (!name || !name.isServer())
        return;
      SmallVector<Block *> blocks;
      SmallVector<ReadOp> reads;
      for (ProgramOp program : role.getOps<ProgramOp>()) {
        program->walk([&](Block *block) { blocks.push_back(block); });
        program->walk([&](ReadOp read) { reads.push_back(read); });
      }
      for (Block *block : blocks)
        sink(*block);
      for (ReadOp read : reads)
        refresh(read);
    });
  }
};

} // namespace
} // namespace pdg
