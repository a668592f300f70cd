// Uses the value that was assigned instead of reading the variable again.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "ir/ops/variable.h"
#include "passes/passes.h"

namespace pdg {
#define GEN_PASS_DEF_FORWARDVARIABLES
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

/// Goes through one block with the values that variables are known to have.
void forward(Block &block) {
  DenseMap<Attribute, Value> known;
  DenseMap<Attribute, AssignOp> unread; ///< The last assignment, if nothing has read it.
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto read = dyn_cast<ReadOp>(&op)) {
      Value &value = known[read.getName()];
      if (value) {
        read.replaceAllUsesWith(value);
        read.erase();
      } else {
        value = read.getResult();
      }
      continue;
    }
    if (auto assign = dyn_cast<AssignOp>(&op)) {
      known[assign.getName()] = assign.getValue();
      // An assignment that is overwritten before anybody looks was for nothing.
      if (AssignOp earlier = unread.lookup(assign.getName()))
        earlier.erase();
      unread[assign.getName()] = assign;
      continue;
    }
    // While a server waits it may serve others, which change the variables.
    if (auto end = dyn_cast<EdgeOpInterface>(&op); end && end.isReceiver()) {
      known.clear();
      unread.clear();
    }
    if (!op.getNumRegions())
      continue;
    op.walk([&](Operation *inner) {
      if (auto assign = dyn_cast<AssignOp>(inner))
        known.erase(assign.getName());
    });
    unread.clear();
  }
}

struct ForwardVariablesPass : impl::ForwardVariablesBase<ForwardVariablesPass> {
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation()->walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      forward(*block);
  }
};

} // namespace
} // namespace pdg
