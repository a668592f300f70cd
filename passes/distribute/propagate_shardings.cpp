// Moves what all trainers do together to where it is done least often, and says of each value
// whether trainers have all of it, slices or parts of a sum.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/communication.h"
#include "ir/ops/control.h"
#include "ir/ops/layout.h"
#include "ir/ops/part.h"
#include "ir/ops/shape.h"
#include "passes/distribute/region_values.h"
#include "passes/distribute/split_states.h"
#include "passes/passes.h"

#include "llvm/ADT/DenseSet.h"

namespace pdg {
#define GEN_PASS_DEF_PROPAGATESHARDINGS
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

//===- Places of collectives -----------------------------------------------===//

/// Whether all operands of `op` exist before `around`.
bool isGivenOutside(Operation *op, Operation *around) {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return !around->isAncestor(operand.getParentBlock()->getParentOp());
  });
}

/// Moves collectives, and what pdg-split-batch makes for them, out of loops that change nothing of
/// them. Other ops stay: one that stops the run must not do so before a loop without rounds.
void hoist(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    for (Region &region : op.getRegions())
      hoist(region.front());
    if (!isa<LoopOpInterface>(op))
      continue;
    for (Operation &inner : llvm::make_early_inc_range(op.getRegion(0).front())) {
      if (isa<CollectiveOpInterface, ConcatOp, DimOp>(inner) && isGivenOutside(&inner, &op))
        inner.moveBefore(&op);
    }
  }
}

/// The region of a condition in `block` that has all users of `op`, or null.
Region *onlyBranchOf(Operation *op, Block &block) {
  Region *branch = nullptr;
  for (Operation *user : op->getUsers()) {
    Operation *inBlock = block.findAncestorOpInBlock(*user);
    if (!isa<IfOp>(inBlock) || inBlock == user)
      return nullptr;
    Region *region = user->getParentRegion();
    while (region->getParentOp() != inBlock)
      region = region->getParentOp()->getParentRegion();
    if (branch && region != branch)
      return nullptr;
    branch = region;
  }
  return branch;
}

/// Moves collectives, and what is computed from them, into the conditions that alone need them.
void sink(Block &block) {
  DenseSet<Operation *> joined;
  for (Operation &op : block.without_terminator()) {
    bool isFromJoined = llvm::any_of(
        op.getOperands(), [&](Value operand) { return joined.contains(operand.getDefiningOp()); });
    if (isa<CollectiveOpInterface>(op) || (isFromJoined && !op.getNumRegions() && isPure(&op)))
      joined.insert(&op);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (!joined.contains(&op))
      continue;
    if (op.use_empty())
      op.erase();
    else if (Region *branch = onlyBranchOf(&op, block))
      op.moveBefore(&branch->front(), branch->front().begin());
  }
  for (Operation &op : block)
    for (Region &region : op.getRegions())
      sink(region.front());
}

//===- What each trainer has -----------------------------------------------===//

/// What a trainer has of a value.
struct Share {
  enum Kind { Whole, Own, Slices, Partial } kind = Whole;
  int64_t axis = 0;                       ///< Slices: along this axis.
  FactorKind joining = FactorKind::Whole; ///< Partial: of a sum, or a maximum or minimum.
  bool operator==(const Share &) const = default;
  std::string str() const {
    if (kind == Slices)
      return "slices of axis " + std::to_string(axis);
    if (kind == Partial)
      return joining == FactorKind::Max ? "partial extremum" : "partial sum";
    return kind == Own ? "own" : "whole";
  }
};

class Shares {
public:
  void analyze(Block &block) {
    do {
      hasChanged_ = false;
      walk(block);
    } while (hasChanged_);
  }
  Share of(Value value) const { return shares_.lookup(value); }

private:
  void set(Value value, Share share) {
    // What once differed stays different, so that loops come to an end.
    if (share.kind == Share::Whole || shares_.contains(value))
      return;
    shares_[value] = share;
    hasChanged_ = true;
  }
  Share shareOf(Operation *op) const;
  void walk(Block &block);

  DenseMap<Value, Share> shares_;
  bool hasChanged_ = false;
};

/// The axis of the result whose size is an operand that differs among trainers, or -1.
int64_t ownAxis(Operation *op, llvm::function_ref<bool(Value)> isOwn) {
  auto shape = op->getAttrOfType<DenseI64ArrayAttr>("shape");
  if (!shape)
    return -1;
  unsigned next = op->getNumOperands() - llvm::count(shape.asArrayRef(), ShapedType::kDynamic);
  for (auto [axis, size] : llvm::enumerate(shape.asArrayRef()))
    if (ShapedType::isDynamic(size) && isOwn(op->getOperand(next++)))
      return axis;
  return -1;
}

Share Shares::shareOf(Operation *op) const {
  auto isOwn = [&](Value value) { return of(value).kind == Share::Own; };
  if (isa<CollectiveOpInterface>(op))
    return {};
  if (auto part = dyn_cast<PartOp>(op); part && isOwn(part.getBegin()))
    return {Share::Slices, static_cast<int64_t>(part.getAxis())};
  auto shardable = dyn_cast<ShardableOpInterface>(op);
  ShardingRule rule = shardable ? shardable.getShardingRule() : ShardingRule();
  Share share{isa<ReplicaOp>(op) ? Share::Own : Share::Whole};
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    Share given = of(operand);
    if (given.kind == Share::Partial)
      return given;
    int factor = given.kind == Share::Slices && !rule.empty() ? rule.operands[i][given.axis] : -1;
    if (factor >= 0 && rule.kinds[factor] == FactorKind::Parallel)
      return {Share::Slices, axisWithFactor(rule.results[0], factor)};
    if (factor >= 0 && rule.kinds[factor] != FactorKind::Whole)
      return {Share::Partial, 0, rule.kinds[factor]};
    if (given.kind != Share::Whole)
      share.kind = Share::Own;
  }
  if (int64_t axis = ownAxis(op, isOwn); axis >= 0)
    return {Share::Slices, axis};
  return share;
}

void Shares::walk(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (!op.getNumRegions()) {
      Share share = shareOf(&op);
      for (Value result : op.getResults())
        set(result, share);
      continue;
    }
    auto loop = dyn_cast<LoopOpInterface>(op);
    for (unsigned i = 0; loop && i < op.getNumResults(); ++i)
      set(loop.getCarried(i), of(loop.getInit(i)));
    for (Region &region : op.getRegions()) {
      walk(region.front());
      for (auto [i, yielded] : llvm::enumerate(yieldedValues(region.front()))) {
        set(op.getResult(i), of(yielded));
        if (loop)
          set(loop.getCarried(i), of(yielded));
      }
    }
  }
}

/// Leaves a word for each result of ops that give trainers different values.
void mark(Block &block, const Shares &shares) {
  block.walk([&](Operation *op) {
    if (llvm::all_of(op->getResults(), [&](Value v) { return shares.of(v) == Share(); })) {
      op->removeDiscardableAttr("pdg.sharding");
      return;
    }
    Builder b(op->getContext());
    SmallVector<Attribute> words;
    for (Value result : op->getResults())
      words.push_back(b.getStringAttr(shares.of(result).str()));
    op->setDiscardableAttr("pdg.sharding", b.getArrayAttr(words));
  });
}

struct PropagateShardingsPass : impl::PropagateShardingsBase<PropagateShardingsPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      Block &body = program.getBody().front();
      hoist(body);
      sink(body);
      Shares shares;
      shares.analyze(body);
      mark(body, shares);
    }
  }
};

} // namespace
} // namespace pdg
