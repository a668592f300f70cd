// Reads variables once for all rounds of a loop that does not change them, so that servers send
// them once.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/control.h"
#include "ir/ops/variable.h"
#include "passes/passes.h"

#include "llvm/ADT/DenseSet.h"

namespace pdg {
#define GEN_PASS_DEF_HOISTREADS
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

/// The variables that are assigned inside of each op with regions.
using Assigned = DenseMap<Operation *, DenseSet<Attribute>>;

Assigned findAssigned(ModuleOp module) {
  Assigned assigned;
  module->walk([&](AssignOp assign) {
    // What is known of an op is known of those around it.
    for (Operation *op = assign->getParentOp(); op; op = op->getParentOp())
      if (!assigned[op].insert(assign.getName()).second)
        break;
  });
  return assigned;
}

/// The outermost loop around `read` that leaves its variable as it is, and all inside of it.
Operation *loopToLeave(ReadOp read, const Assigned &assigned) {
  Operation *outermost = nullptr;
  for (Operation *op = read->getParentOp(); op && !isa<ProgramOp>(op); op = op->getParentOp()) {
    auto found = assigned.find(op);
    if (found != assigned.end() && found->second.contains(read.getName()))
      break;
    if (isa<LoopOpInterface>(op))
      outermost = op;
  }
  return outermost;
}

/// Variables that were read, and not assigned since.
using Known = DenseMap<Attribute, Value>;

/// Makes reads one that nothing assigned between.
void joinReads(Block &block, Known known, const Assigned &assigned) {
  auto forget = [&](Known &values, Operation *op) {
    if (auto found = assigned.find(op); found != assigned.end())
      for (Attribute name : found->second)
        values.erase(name);
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      auto [place, isNew] = known.try_emplace(read.getName(), read.getResult());
      if (!isNew) {
        read.replaceAllUsesWith(place->second);
        read.erase();
      }
    } else if (auto assign = dyn_cast<AssignOp>(op)) {
      known.erase(assign.getName());
    } else if (op.getNumRegions()) {
      Known inside = known;
      // A later round finds what an earlier one assigned.
      if (isa<LoopOpInterface>(op))
        forget(inside, &op);
      for (Region &region : op.getRegions())
        joinReads(region.front(), inside, assigned);
      forget(known, &op);
    }
  }
}

struct HoistReadsPass : impl::HoistReadsBase<HoistReadsPass> {
  void runOnOperation() override {
    Assigned assigned = findAssigned(getOperation());
    getOperation()->walk([&](ReadOp read) {
      if (Operation *loop = loopToLeave(read, assigned)) {
        read->moveBefore(loop);
        ++numHoisted;
      }
    });
    for (auto program : getOperation().getOps<ProgramOp>())
      joinReads(program.getBody().front(), Known(), assigned);
  }
};

} // namespace
} // namespace pdg
