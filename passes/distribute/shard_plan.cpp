// Walks backwards from what is assigned: each value is split along one axis, or whole.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/shard_plan.h"
#include "ir/interpret/evaluate_elementwise.h"
#include "ir/ops/communication.h"
#include "passes/distribute/split_states.h"

using namespace mlir;

namespace pdg {

bool ShardProver::fail(Operation *op, StringRef text) {
  obstacle_ = {op, text.str()};
  return false;
}

/// Whether node `node` belongs to the update: it is on a server, with these variables.
bool ShardProver::isOurs(int node) const {
  return node >= 0 && onServer_[node] && grouping_.ofNode(node) == group_;
}

//===- Split values --------------------------------------------------------===//

bool ShardProver::splitVariable(unsigned variable, int64_t axis, Operation *op) {
  if (grouping_.ofVariable(variable) != group_)
    return fail(op, "reads a variable of another update");
  auto [place, isNew] = plan_.variables.insert({variable, axis});
  if (!isNew)
    return place->second == axis || fail(op, "needs another axis of the same variable");
  pending_.insert(variable);
  return true;
}

bool ShardProver::splitAssigned(unsigned variable, int64_t axis) {
  for (PlaceNode &node : graph_.nodes()) {
    if (node.isSlot() || !isa<AssignOp>(node.op) ||
        variables_.touchedBy(node.op) != static_cast<int>(variable))
      continue;
    if (!split(cast<AssignOp>(node.op).getValue(), axis))
      return false;
  }
  return true;
}

/// Whether `value` has slices along `axis` that no server needs all of `value` for.
bool ShardProver::split(Value value, int64_t axis) {
  auto type = cast<RankedTensorType>(value.getType());
  int node = graph_.producerOf(PlaceGraph::canonical(value));
  bool isFree = node >= 0 && graph_.nodes()[node].isAnywhere;
  // What comes from trainers is cut there.
  if (!isFree && !isOurs(node))
    return true;
  PlaceNode &from = graph_.nodes()[node];
  if (from.isSlot())
    return isFree || fail(from.op, "carries all of it");
  if (type.getRank() <= axis || type.getDimSize(axis) != size_)
    return fail(from.op, "has other sizes than it");
  if (auto known = plan_.axes.find(value); known != plan_.axes.end())
    return known->second == axis || fail(from.op, "needs another axis of the same value");
  if (auto read = dyn_cast<ReadOp>(from.op)) {
    plan_.axes[value] = axis;
    return splitVariable(variables_.touchedBy(read), axis, read);
  }
  if (isa<AllReduceOp>(from.op) || (isa<ScatterOpInterface>(from.op) && axis == 0)) {
    plan_.axes[value] = axis;
    return true;
  }
  if (splitOp(from.op, axis))
    return true;
  // Everybody can compute it, and take a slice.
  return isFree;
}

bool ShardProver::splitOp(Operation *op, int64_t axis) {
  auto shardable = dyn_cast<ShardableOpInterface>(op);
  ShardingRule rule = shardable ? shardable.getShardingRule() : ShardingRule();
  int factor = rule.empty() || op->getNumResults() != 1 ? -1 : rule.results[0][axis];
  // Elements come from elements; only a reduction may fold another axis.
  bool folds = !isa<ReductionOpInterface>(op) && !llvm::all_of(rule.kinds, [](FactorKind kind) {
    return kind == FactorKind::Parallel;
  });
  if (factor < 0 || rule.kinds[factor] != FactorKind::Parallel || folds || op->getNumRegions())
    return fail(op, "needs all of it");
  plan_.axes[op->getResult(0)] = axis;
  for (auto [operand, factors] : llvm::zip(op->getOperands(), rule.operands)) {
    int64_t in = axisWithFactor(factors, factor);
    bool isFine = in >= 0 ? split(operand, in) : keepWhole(operand);
    // Who needs all of a tensor says more than what the tensor is made of.
    if (!isFine && in < 0 && !isOneElement(operand))
      fail(op, "needs all of it");
    if (!isFine) {
      plan_.axes.erase(op->getResult(0));
      return false;
    }
  }
  return true;
}

//===- Whole values --------------------------------------------------------===//

/// Whether `value`, which slices are computed with, is made without all of what is split. A number
/// may come from other updates too, such as the norm of all gradients.
bool ShardProver::keepWhole(Value value) {
  int node = graph_.producerOf(PlaceGraph::canonical(value));
  bool concernsUs = isOurs(node) || (node >= 0 && onServer_[node] && isOneElement(value));
  if (!concernsUs || !whole_.insert(value))
    return true;
  PlaceNode &from = graph_.nodes()[node];
  if (from.isSlot())
    return isOneElement(value) || fail(from.op, "carries all of it");
  if (isa<ReadOp>(from.op)) {
    wholeReads_.push_back(from.op);
    return true;
  }
  if (isa<ReductionOpInterface>(from.op))
    return splitFold(from.op);
  for (Value operand : from.operands)
    if (!isOneElement(operand) && isOurs(graph_.producerOf(operand)))
      return fail(from.op, "needs all of it");
    else if (!keepWhole(operand))
      return false;
  return true;
}

/// Whether the reduction `op` joins what slices give, with the same bits for any number of slices.
bool ShardProver::splitFold(Operation *op) {
  auto fold = cast<ReductionOpInterface>(op);
  Value operand = op->getOperand(0);
  if (!isOurs(graph_.producerOf(PlaceGraph::canonical(operand))))
    return true;
  auto type = cast<RankedTensorType>(operand.getType());
  int64_t axis = fold.getReducedAxis();
  if (type.getDimSize(axis) != size_)
    return fail(op, "needs all of it");
  bool isSum = fold.getReductionKind() == ReductionKind::Sum;
  if (isSum && (axis != 0 || !isa<FloatType>(type.getElementType())))
    return fail(op, "adds along the axis that is split");
  if (!isSum && fold.getReductionKind() != ReductionKind::Max &&
      fold.getReductionKind() != ReductionKind::Min)
    return fail(op, "needs all of it");
  if (isSum && leafCount(size_) == 1)
    return fail(op, "is a sum of " + std::to_string(size_) + " terms in one chain");
  plan_.folds.insert(op);
  return split(operand, axis);
}

//===- The plan ------------------------------------------------------------===//

/// Sums are cut between their leaves, so that leaves are joined and never slices.
bool ShardProver::setBounds(int64_t count) {
  bool hasSum = llvm::any_of(plan_.folds, [](Operation *op) {
    return cast<ReductionOpInterface>(op).getReductionKind() == ReductionKind::Sum;
  });
  int64_t blocks = hasSum ? leafCount(size_) : size_;
  count = std::min(count, blocks);
  if (count < 2)
    return fail(nullptr, "it has too few elements along this axis");
  for (int64_t r = 0; r <= count; ++r)
    plan_.bounds.push_back(r * blocks / count * (size_ / blocks));
  return true;
}

std::optional<ShardPlan> ShardProver::prove(unsigned leader, int64_t axis, int64_t count) {
  auto type = cast<RankedTensorType>(variables_.all()[leader].op.getType());
  size_ = type.getDimSize(axis);
  for (unsigned v = 0; v < variables_.all().size(); ++v)
    if (grouping_.ofVariable(v) == group_ &&
        cast<RankedTensorType>(variables_.all()[v].op.getType()).getShape() == type.getShape())
      splitVariable(v, axis, variables_.all()[v].op);
  while (!pending_.empty()) {
    unsigned variable = pending_.pop_back_val();
    if (!splitAssigned(variable, plan_.variables[variable]))
      return std::nullopt;
  }
  for (Operation *read : wholeReads_)
    if (plan_.variables.count(variables_.touchedBy(read))) {
      fail(read, "is used as a whole");
      return std::nullopt;
    }
  for (Value value : whole_)
    if (plan_.axes.count(value) && !isOneElement(value)) {
      fail(value.getDefiningOp(), "is used as a whole");
      return std::nullopt;
    }
  if (!setBounds(count))
    return std::nullopt;
  return std::move(plan_);
}

} // namespace pdg
