// Walks forward from the fields of batches and asks each op's sharding rule how slices pass.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/split_states.h"
#include "ir/interpret/evaluate_elementwise.h"
#include "ir/interpret/evaluate_leaves.h"
#include "ir/ops/leaves.h"
#include "ir/ops/shape.h"
#include "passes/distribute/region_values.h"

using namespace mlir;

namespace pdg {

/// Loops inside more loops than this carry whole values: each level is walked more than once to
/// find what it can carry in slices.
static constexpr unsigned MaxCarryDepth = 4;

/// From so many terms on a sum has as many leaves as it may have at most, and so may its parts:
/// the leaves of a part are then no longer those that the whole sum has there.
static constexpr int64_t FullLeaves = 2 * 16 * kMaxLeaves;

int64_t axisWithFactor(ArrayRef<int> factors, int factor) {
  auto found = llvm::find(factors, factor);
  return found == factors.end() ? -1 : found - factors.begin();
}

bool isZero(Value value) {
  while (auto repeated = value.getDefiningOp<BroadcastOp>())
    value = repeated.getX();
  DenseFPElementsAttr elements;
  return matchPattern(value, m_Constant(&elements)) && elements.isSplat() &&
         elements.getSplatValue<APFloat>().isPosZero();
}

int leavesOperand(Operation *op) {
  auto update = dyn_cast<UpdateOpInterface>(op);
  return update ? int(update.getUpdatedOperand()) : -1;
}

void SplitStates::set(Value value, Split split) {
  if (split && !(split.isLeaves() && wholeLeaves_.contains(value)))
    states_[value] = split;
  else
    states_.erase(value);
}

Partition *SplitStates::partitionOf(Operation *loop) const {
  auto found = partitions_.find(loop);
  return found == partitions_.end() ? nullptr : found->second.get();
}

//===- One op --------------------------------------------------------------===//

/// The number of elements of a row of `value`; nothing if only the run knows it.
static std::optional<int64_t> rowSize(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t size = 1;
  for (int64_t length : type.getShape().drop_front())
    if (ShapedType::isDynamic(length) || llvm::MulOverflow(size, length, size))
      return std::nullopt;
  return size;
}

/// The split of the result of an op that computes slices of its result from slices of operands.
static Split splitResult(Operation *op, const ShardingRule &rule, int factor, Split terms) {
  int64_t axis = axisWithFactor(rule.results[0], factor);
  if (axis < 0)
    return {};
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (terms.isLeaves()) {
    auto before = cast<RankedTensorType>(op->getOperand(0).getType());
    bool isKept = axis == 0 && type.hasStaticShape() && before.getRank() > 0 &&
                  before.getDimSize(0) == type.getDimSize(0);
    return isKept ? terms : Split();
  }
  // A shape argument says the size of this axis by a number: there is no operand to change.
  if (op->getAttrOfType<DenseI64ArrayAttr>("shape") && !type.isDynamicDim(axis))
    return {};
  if (!isa<ViewOpInterface>(op))
    return {terms.partition, axis, terms.rows};
  // The same elements in rows of another length: an example must end where a row does.
  auto from = rowSize(op->getOperand(0)), to = rowSize(op->getResult(0));
  int64_t elements = 0;
  if (axis != 0 || terms.axis != 0 || !from || !to || *to == 0 ||
      llvm::MulOverflow(terms.rows, *from, elements) || elements % *to != 0)
    return {};
  return {terms.partition, axis, elements / *to};
}

/// Whether the sum `op` can be made of sums over slices, and how.
static SlicedOp planSum(Operation *op, SlicedOp plan) {
  // Leaves are joined as a tree; those of a slice are a subtree.
  if (plan.terms.isLeaves())
    return isa<JoinLeavesOp>(op) ? plan : SlicedOp();
  const Partition &partition = *plan.terms.partition;
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  int64_t terms = 0;
  bool isShort = !llvm::MulOverflow(partition.bound, plan.terms.rows, terms) && terms < FullLeaves;
  if (!partition.plain || !isa<FloatType>(element) || isShort)
    return plan;
  // In a small last batch a slice may be the only one with leaves. With several rows to an example
  // it then has more leaves than its share of 16.
  auto leaves = dyn_cast<LeavesOpInterface>(op);
  plan.opensLeaves = leaves && leaves.getLeafBound() > 0 && plan.terms.rows == 1 &&
                     cast<RankedTensorType>(op->getResult(0).getType()).hasStaticShape();
  return plan.opensLeaves ? plan : SlicedOp();
}

/// Whether `value` may be leaves of +0, or in the first round of a loop, which any slice has. A
/// guess that `isGivenLeaves` checks when all states are known.
static bool mayBeginWithZero(Value value, unsigned depth = 0) {
  constexpr unsigned MaxDepth = 16;
  auto type = cast<RankedTensorType>(value.getType());
  if (depth > MaxDepth || !type.hasStaticShape() || type.getRank() == 0)
    return false;
  if (isZero(value))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = cast<LoopOpInterface>(argument.getOwner()->getParentOp());
    return argument.getArgNumber() >= loop.getNumLeading() &&
           mayBeginWithZero(loop.getInit(argument.getArgNumber() - loop.getNumLeading()),
                            depth + 1);
  }
  // A part of leaves: a row of a table that a round uses.
  Operation *op = value.getDefiningOp();
  if (op->getNumRegions() || !op->getNumOperands())
    return false;
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  return from.getRank() > 0 && from.getDimSize(0) == type.getDimSize(0) &&
         mayBeginWithZero(op->getOperand(0), depth + 1);
}

/// How `op` goes on with leaves: those of a slice's examples are the slice's.
SlicedOp SplitStates::planLeaves(Operation *op, SlicedOp plan) const {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  int before = leavesOperand(op);
  // With several rows to an example a slice may have more than its share, as above.
  if (wholeLeaves_.contains(op->getResult(0)) || before < 0 || plan.terms.rows != 1 ||
      !type.hasStaticShape() || (plan.terms.partition->plain && type.getDimSize(0) % slices_ != 0))
    return {};
  plan.result = {plan.terms.partition, 0, 0};
  Value leaves = op->getOperand(before);
  return of(leaves) == plan.result || mayBeginWithZero(leaves) ? plan : SlicedOp();
}

SlicedOp SplitStates::planOf(Operation *op) const {
  auto shardable = dyn_cast<ShardableOpInterface>(op);
  if (!shardable || op->getNumResults() != 1 || op->getNumRegions() ||
      !isa<InferTypeOpInterface>(op) || op->hasAttr("pdg.whole"))
    return {};
  ShardingRule rule = shardable.getShardingRule();
  if (rule.empty())
    return {};
  for (auto [operand, factors] : llvm::zip(op->getOperands(), rule.operands)) {
    Split split = of(operand);
    if (!split || factors[split.axis] < 0)
      continue;
    SlicedOp plan;
    plan.factor = factors[split.axis];
    plan.kind = rule.kinds[plan.factor];
    plan.terms = split;
    auto reduction = dyn_cast<ReductionOpInterface>(op);
    if (plan.kind == FactorKind::Parallel) {
      plan.result = splitResult(op, rule, plan.factor, split);
      if (plan.result.isLeaves() && wholeLeaves_.contains(op->getResult(0)))
        return {};
      if (plan.result)
        return plan;
    } else if (plan.kind == FactorKind::Sum) {
      return planSum(op, plan);
    } else if (plan.kind == FactorKind::Leaves) {
      return planLeaves(op, plan);
    } else if (plan.kind == FactorKind::Max && reduction && !split.isLeaves()) {
      return plan;
    }
  }
  return {};
}

//===- Regions -------------------------------------------------------------===//

void SplitStates::analyze(Block &block) {
  // There is no whole of leaves that slices have. So what does not take them, and all leaves that
  // it goes on with, or that go on with it, are whole; sums then take whole operands.
  for (bool isWrong = true; isWrong;) {
    states_.clear();
    walk(block, 0);
    isWrong = false;
    block.walk([&](Operation *op) { isWrong |= !isGivenLeaves(op) && keepWhole(op); });
  }
}

/// Makes all leaves whole that have to do with `op`; false if all are.
bool SplitStates::keepWhole(Operation *op) {
  size_t before = wholeLeaves_.size();
  SmallVector<Value> work;
  auto add = [&](Value value) {
    if (of(value).isLeaves() && wholeLeaves_.insert(value).second)
      work.push_back(value);
  };
  // A value that regions give is the same in each of them, and in all rounds.
  auto addGiven = [&](Operation *around, unsigned index) {
    add(around->getResult(index));
    for (Region &region : around->getRegions())
      add(yieldedValues(region.front())[index]);
    if (auto loop = dyn_cast<LoopOpInterface>(around)) {
      add(loop.getInit(index));
      add(Value(loop.getCarried(index)));
    }
  };
  auto addAround = [&](Operation *one) {
    for (unsigned i = 0; one->getNumRegions() && i < one->getNumResults(); ++i)
      if (of(one->getResult(i)).isLeaves())
        addGiven(one, i);
    for (Value value : one->getNumRegions() ? ValueRange() : ValueRange(one->getOperands()))
      add(value);
    for (Value value : one->getNumRegions() ? ValueRange() : ValueRange(one->getResults()))
      add(value);
  };
  addAround(op);
  for (Region &region : op->getRegions())
    for (Value value : yieldedValues(region.front()))
      add(value);
  for (Value value : initialValues(op))
    add(value);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = cast<LoopOpInterface>(argument.getOwner()->getParentOp());
      addGiven(loop, argument.getArgNumber() - loop.getNumLeading());
    } else {
      Operation *definer = value.getDefiningOp();
      if (definer->getNumRegions())
        addGiven(definer, cast<OpResult>(value).getResultNumber());
      else
        addAround(definer);
    }
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (isa<YieldOp>(user)) {
        if (use.getOperandNumber() < user->getParentOp()->getNumResults())
          addGiven(user->getParentOp(), use.getOperandNumber());
      } else if (user->getNumRegions()) {
        unsigned own = ownOperands(user).size();
        if (use.getOperandNumber() >= own)
          addGiven(user, use.getOperandNumber() - own);
      } else {
        addAround(user);
      }
    }
  }
  return wholeLeaves_.size() > before;
}

/// Whether `values` are what values in the states of `like` are made of.
bool SplitStates::isGivenLeaves(ValueRange values, ValueRange like) const {
  return llvm::all_of(llvm::zip(values, like), [&](auto pair) {
    auto [value, other] = pair;
    return of(other).isLeaves() ? of(value) == of(other) || isZero(value) : !of(value).isLeaves();
  });
}

/// Whether `op` takes leaves of slices only where slices of it need them.
bool SplitStates::isGivenLeaves(Operation *op) const {
  if (op->getNumRegions()) {
    bool fits = isGivenLeaves(initialValues(op), op->getResults());
    for (Region &region : op->getRegions())
      fits &= isGivenLeaves(yieldedValues(region.front()), op->getResults());
    return fits;
  }
  if (op->hasTrait<OpTrait::IsTerminator>())
    return true;
  SlicedOp plan = planOf(op);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    bool isNeeded =
        plan.kind != FactorKind::Whole &&
        (plan.terms.isLeaves() || (plan.result.isLeaves() && leavesOperand(op) == int(i)));
    if (isNeeded) {
      ShardingRule rule = cast<ShardableOpInterface>(op).getShardingRule();
      isNeeded = axisWithFactor(rule.operands[i], plan.factor) >= 0;
    }
    if (isNeeded ? !of(operand).isLeaves() && !isZero(operand) : of(operand).isLeaves())
      return false;
  }
  return true;
}

void SplitStates::walk(Block &block, unsigned depth) {
  for (Operation &op : block)
    if (op.getNumRegions())
      analyzeRegions(&op, depth);
    else if (op.getNumResults() == 1)
      set(op.getResult(0), planOf(&op).result);
}

/// True if the slices of `split` exist outside of `op`.
static bool isFromOutside(Split split, Operation *op) {
  return split.partition->loop->isProperAncestor(op);
}

/// Makes what a loop is given and what it yields the same; false if something changed. What does
/// not fit once stays whole.
bool SplitStates::agree(Operation *op, SmallVectorImpl<bool> &isFixed) {
  Block &body = op->getRegion(0).front();
  bool isSame = true;
  unsigned count = op->getNumResults(), first = body.getNumArguments() - count;
  for (auto [i, yielded] : llvm::enumerate(yieldedValues(body))) {
    BlockArgument argument = body.getArgument(first + i);
    Split now = of(argument), next = of(yielded);
    if (now == next || (isFixed[i] && !now))
      continue;
    // A value that is split must be given back in the same slices.
    isFixed[i] = now || !isFromOutside(next, op);
    if (!now && isFixed[i])
      continue;
    set(argument, now ? Split() : next);
    isSame = false;
  }
  return isSame;
}

void SplitStates::analyzeRegions(Operation *op, unsigned depth) {
  Block &body = op->getRegion(0).front();
  if (!body.getNumArguments()) {
    for (Region &region : op->getRegions())
      walk(region.front(), depth);
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      Split split = of(yieldedValues(body)[i]);
      for (Region &region : op->getRegions())
        if (Split other = of(yieldedValues(region.front())[i]); !split && other.isLeaves())
          split = other;
      bool isEqual = llvm::all_of(op->getRegions(), [&, i = i](Region &region) {
        Value yielded = yieldedValues(region.front())[i];
        return of(yielded) == split ||
               (split.isLeaves() && !of(yielded) && mayBeginWithZero(yielded));
      });
      set(result, isEqual ? split : Split());
    }
    return;
  }
  unsigned count = op->getNumResults(), first = body.getNumArguments() - count;
  if (auto loop = dyn_cast<ForEachOp>(op)) {
    auto &partition = partitions_[op];
    int64_t batch = loop.getBatchBound();
    if (!partition)
      partition = std::make_unique<Partition>(
          Partition{loop, slices_, batch, leafCount(batch) % slices_ == 0});
    for (unsigned i = 1; i < first; ++i)
      set(body.getArgument(i), {partition.get(), 0, 1});
  }
  SmallVector<bool> isFixed(count, depth > MaxCarryDepth);
  for (unsigned i = 0; i < count; ++i)
    set(body.getArgument(first + i),
        isFixed[i] ? Split() : of(op->getOperand(op->getNumOperands() - count + i)));
  // Each round that changes something fixes or splits a value, and none is split twice.
  do
    walk(body, depth + 1);
  while (!agree(op, isFixed));
  for (unsigned i = 0; i < count; ++i)
    set(op->getResult(i), of(body.getArgument(first + i)));
}

} // namespace pdg
