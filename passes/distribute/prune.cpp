// Removes what nobody needs: values that loops carry for nothing, and what is computed for them.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/control.h"
#include "ir/ops/variable.h"
#include "passes/distribute/region_values.h"
#include "passes/passes.h"

#include "llvm/ADT/DenseSet.h"

namespace pdg {
#define GEN_PASS_DEF_PRUNE
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

/// Finds the ops and values that an effect needs, from the effects backwards.
class Needed {
public:
  Needed(ModuleOp module, bool isSaved);
  bool contains(Operation *op) const { return ops_.contains(op); }
  bool contains(Value value) const { return values_.contains(value); }

private:
  bool isKept(VariableOp variable, const DenseSet<Attribute> &params) const;
  void add(Operation *op);
  void add(Value value);
  void addCarried(Operation *op, unsigned index);
  void addVariable(Attribute name);

  bool isSaved_;
  DenseMap<Attribute, SmallVector<Operation *>> assigns_; ///< Of variables not yet needed.
  DenseSet<Operation *> ops_;
  DenseSet<Value> values_;
  SmallVector<Value> work_;
};

/// Whether somebody sees that `op` runs, other than by its results and variables.
bool hasOutsideEffect(Operation *op) {
  if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() || op->hasTrait<OpTrait::IsTerminator>())
    return false;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return true;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  return llvm::any_of(effects, [](const MemoryEffects::EffectInstance &effect) {
    return effect.getResource() != VariableResource::get();
  });
}

Needed::Needed(ModuleOp module, bool isSaved) : isSaved_(isSaved) {
  DenseSet<Attribute> params;
  for (auto variable : module.getOps<VariableOp>())
    if (variable.getParam())
      params.insert(variable.getName().getPath());
  for (auto program : module.getOps<ProgramOp>())
    program.walk([&](AssignOp assign) { assigns_[assign.getName()].push_back(assign); });
  for (auto variable : module.getOps<VariableOp>())
    if (isKept(variable, params))
      addVariable(variable.getName());
  for (auto program : module.getOps<ProgramOp>())
    program.getBody().walk([&](Operation *op) {
      if (hasOutsideEffect(op))
        add(op);
    });
  while (!work_.empty()) {
    Value value = work_.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *op = argument.getOwner()->getParentOp();
      add(op);
      auto loop = cast<LoopOpInterface>(op);
      if (argument.getArgNumber() >= loop.getNumLeading())
        addCarried(op, argument.getArgNumber() - loop.getNumLeading());
      continue;
    }
    Operation *op = value.getDefiningOp();
    add(op);
    if (op->getNumRegions())
      addCarried(op, cast<OpResult>(value).getResultNumber());
  }
}

/// What is saved has all variables: an average that only the next run reads, too.
bool Needed::isKept(VariableOp variable, const DenseSet<Attribute> &params) const {
  return isSaved_ || params.contains(variable.getName().getPath());
}

void Needed::add(Value value) {
  if (values_.insert(value).second)
    work_.push_back(value);
}

/// A value that a region gives: in each round, from the first on, and at the end.
void Needed::addCarried(Operation *op, unsigned index) {
  add(Value(op->getResult(index)));
  for (Region &region : op->getRegions())
    add(yieldedValues(region.front())[index]);
  if (auto loop = dyn_cast<LoopOpInterface>(op)) {
    add(loop.getInit(index));
    add(Value(loop.getCarried(index)));
  }
}

void Needed::addVariable(Attribute name) {
  auto found = assigns_.find(name);
  if (found == assigns_.end())
    return;
  SmallVector<Operation *> assigns = std::move(found->second);
  assigns_.erase(found);
  llvm::for_each(assigns, [&](Operation *assign) { add(assign); });
}

void Needed::add(Operation *op) {
  // Around it: what says whether, and how often, it runs.
  for (; !isa<ProgramOp>(op) && ops_.insert(op).second; op = op->getParentOp()) {
    for (Value operand : op->getNumRegions() ? ownOperands(op) : op->getOperands())
      add(operand);
    for (Region &region : op->getRegions())
      if (Value goesOn = cast<YieldOp>(region.front().getTerminator()).getGoesOn())
        add(goesOn);
    if (auto read = dyn_cast<ReadOp>(op))
      addVariable(read.getName());
  }
}

/// Rebuilds `op` without the values that are not needed.
Operation *dropValues(Operation *op, const Needed &needed) {
  SmallVector<unsigned> kept;
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    if (needed.contains(result))
      kept.push_back(i);
  if (kept.size() == op->getNumResults())
    return op;
  SmallVector<Value> operands(ownOperands(op));
  SmallVector<Type> types;
  auto loop = dyn_cast<LoopOpInterface>(op);
  for (unsigned i : kept) {
    if (loop)
      operands.push_back(loop.getInit(i));
    types.push_back(op->getResult(i).getType());
  }
  OpBuilder b(op);
  for (Region &region : op->getRegions()) {
    Block &block = region.front();
    auto yield = cast<YieldOp>(block.getTerminator());
    SmallVector<Value> values =
        llvm::map_to_vector(kept, [&](unsigned i) -> Value { return yield.getValues()[i]; });
    for (unsigned i = op->getNumResults(); loop && i-- > 0;)
      if (BlockArgument argument = loop.getCarried(i); !needed.contains(argument)) {
        argument.dropAllUses();
        block.eraseArgument(argument.getArgNumber());
      }
    replaceYield(block, values, yield.getGoesOn());
  }
  Operation *next = rebuildWithRegions(b, op, operands, types);
  for (auto [at, i] : llvm::enumerate(kept))
    op->getResult(i).replaceAllUsesWith(next->getResult(at));
  op->dropAllUses();
  op->erase();
  return next;
}

void sweep(Block &block, const Needed &needed) {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (!needed.contains(op)) {
      op->dropAllUses();
      op->erase();
    } else if (op->getNumRegions()) {
      for (Region &region : dropValues(op, needed)->getRegions())
        sweep(region.front(), needed);
    }
}

struct PrunePass : impl::PruneBase<PrunePass> {
  using PruneBase::PruneBase;

  void runOnOperation() override {
    Needed needed(getOperation(), saved);
    for (auto program : getOperation().getOps<ProgramOp>())
      sweep(program.getBody().front(), needed);
    DenseSet<Attribute> used;
    getOperation()->walk([&](Operation *op) {
      if (auto read = dyn_cast<ReadOp>(op))
        used.insert(read.getName());
      else if (auto assign = dyn_cast<AssignOp>(op))
        used.insert(assign.getName());
    });
    for (auto variable : llvm::make_early_inc_range(getOperation().getOps<VariableOp>()))
      if (!saved && !variable.getParam() && !used.contains(variable.getName()))
        variable.erase();
  }
};

} // namespace
} // namespace pdg
