// Slices of values are made where the values are, on demand, from what is assigned back to reads.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/shard_rewrite.h"
#include "ir/interpret/evaluate_elementwise.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/layout.h"
#include "ir/ops/leaves.h"
#include "ir/ops/reduction.h"
#include "ir/ops/shape.h"
#include "passes/distribute/shard_rows.h"
#include "passes/distribute/split_states.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace pdg {
namespace {

using Values = SmallVector<Value>;

class ShardRewriter {
public:
  ShardRewriter(const ShardPlan &plan, PlaceGraph &graph, Variables &variables)
      : plan_(plan), graph_(graph), variables_(variables) {}
  void run();

private:
  int64_t sizeOf(unsigned slice) const { return plan_.bounds[slice + 1] - plan_.bounds[slice]; }
  NameAttr nameOf(unsigned variable, unsigned slice);
  Values slicesOf(Value value, int64_t axis);
  Values cut(Value value, int64_t axis);
  Values computeSlices(Operation *op, int64_t axis);
  Values readSlices(OpBuilder &b, ReadOp read);
  Value joinAll(OpBuilder &b, Values parts, llvm::function_ref<Value(Value, Value)> join);
  void foldSlices(Operation *op);
  void declare(unsigned variable);
  void assignSlices(PlaceNode &node);
  void eraseUnused();
  void readWhole(PlaceNode &node);
  void forget(Operation *op);

  const ShardPlan &plan_;
  PlaceGraph &graph_;
  Variables &variables_;
  DenseMap<std::pair<Value, int64_t>, Values> slices_;
};

/// `type` with `size` elements along `axis`.
RankedTensorType resized(Type type, int64_t axis, int64_t size) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape[axis] = size;
  return RankedTensorType::get(shape, tensor.getElementType());
}

/// The name of a slice has the bounds of each axis up to the last one that is split.
NameAttr ShardRewriter::nameOf(unsigned variable, unsigned slice) {
  VariableOp op = variables_.all()[variable].op;
  NameAttr name = op.getName();
  int64_t axis = plan_.variables.lookup(variable);
  auto type = cast<RankedTensorType>(op.getType());
  SmallVector<int64_t> bounds;
  for (int64_t size : type.getShape().take_front(axis))
    bounds.append({0, size});
  bounds.append({plan_.bounds[slice], plan_.bounds[slice + 1]});
  return NameAttr::get(name.getContext(), name.getPath(), name.getState(), bounds,
                       name.getReplica());
}

//===- Slices --------------------------------------------------------------===//

/// Slices of a value that exists as a whole, made where it is: trainers send no more than a slice.
Values ShardRewriter::cut(Value value, int64_t axis) {
  OpBuilder b(value.getContext());
  b.setInsertionPointAfterValue(value);
  Location loc = value.getLoc();
  DenseElementsAttr constant;
  bool isSplat = matchPattern(value, m_Constant(&constant)) && constant.isSplat();
  bool isAnywhere = graph_.isAnywhere(PlaceGraph::canonical(value));
  Values result;
  for (unsigned r = 0; r < plan_.count(); ++r) {
    if (isSplat) {
      auto type = resized(value.getType(), axis, sizeOf(r));
      result.push_back(ConstantOp::create(b, loc, constant.resizeSplat(type)));
      continue;
    }
    auto slice = SliceOp::create(b, loc, value, axis, plan_.bounds[r], sizeOf(r), 1);
    if (!isAnywhere)
      slice->setAttr("pdg.place", RoleAttr::get(b.getContext(), RoleKind::Trainer));
    result.push_back(slice);
  }
  return result;
}

Values ShardRewriter::readSlices(OpBuilder &b, ReadOp read) {
  unsigned variable = variables_.touchedBy(read);
  Values result;
  for (unsigned r = 0; r < plan_.count(); ++r)
    result.push_back(ReadOp::create(
        b, read.getLoc(), resized(read.getType(), plan_.variables.lookup(variable), sizeOf(r)),
        nameOf(variable, r)));
  return result;
}

/// `op` once for each slice.
Values ShardRewriter::computeSlices(Operation *op, int64_t axis) {
  OpBuilder b(op);
  if (auto read = dyn_cast<ReadOp>(op))
    return readSlices(b, read);
  if (isa<ScatterOpInterface>(op) && axis == 0)
    return scatterIntoSlices(b, op, plan_.bounds);
  ShardingRule rule = cast<ShardableOpInterface>(op).getShardingRule();
  SmallVector<Values> operands;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    // Joining values of trainers has no rule: it is element-wise.
    int64_t in = rule.empty() ? axis : axisWithFactor(rule.operands[i], rule.results[0][axis]);
    operands.push_back(in < 0 ? Values(plan_.count(), operand) : slicesOf(operand, in));
  }
  Values result;
  for (unsigned r = 0; r < plan_.count(); ++r) {
    Operation *clone = b.clone(*op);
    for (auto [i, slices] : llvm::enumerate(operands))
      clone->setOperand(i, slices[r]);
    if (auto shape = clone->getAttrOfType<DenseI64ArrayAttr>("shape")) {
      SmallVector<int64_t> sizes(shape.asArrayRef());
      sizes[axis] = sizeOf(r);
      clone->setAttr("shape", b.getDenseI64ArrayAttr(sizes));
    }
    clone->getResult(0).setType(resized(clone->getResult(0).getType(), axis, sizeOf(r)));
    result.push_back(clone->getResult(0));
  }
  return result;
}

Values ShardRewriter::slicesOf(Value value, int64_t axis) {
  auto known = slices_.find({value, axis});
  if (known != slices_.end())
    return known->second;
  Values result =
      plan_.axes.count(value) ? computeSlices(value.getDefiningOp(), axis) : cut(value, axis);
  return slices_[{value, axis}] = result;
}

//===- What joins slices ---------------------------------------------------===//

Value ShardRewriter::joinAll(OpBuilder &b, Values parts,
                             llvm::function_ref<Value(Value, Value)> join) {
  while (parts.size() > 1) {
    Values next;
    for (size_t i = 0; i < parts.size(); i += 2)
      next.push_back(i + 1 == parts.size() ? parts[i] : join(parts[i], parts[i + 1]));
    parts = std::move(next);
  }
  return parts.front();
}

/// The reduction `op` from slices: of a sum, the leaves of all slices are joined as its tree.
void ShardRewriter::foldSlices(Operation *op) {
  auto fold = cast<ReductionOpInterface>(op);
  int64_t axis = fold.getReducedAxis(), size = plan_.bounds.back();
  Values slices = slicesOf(op->getOperand(0), axis);
  OpBuilder b(op);
  Location loc = op->getLoc();
  auto mark = [&](Operation *joined) {
    joined->setAttr(kJoinsSlices, b.getUnitAttr());
    return joined->getResult(0);
  };
  Value result;
  if (fold.getReductionKind() == ReductionKind::Sum) {
    int64_t length = size / leafCount(size);
    Values leaves;
    for (Value slice : slices) {
      auto type = cast<RankedTensorType>(slice.getType());
      SmallVector<int64_t> shape{type.getDimSize(0) / length, length};
      llvm::append_range(shape, type.getShape().drop_front());
      Value inLeaves = ReshapeOp::create(b, loc, slice, ValueRange(), shape);
      leaves.push_back(SumOp::create(b, loc, inLeaves, 1));
    }
    Value all = joinAll(b, leaves,
                        [&](Value x, Value y) { return mark(ConcatOp::create(b, loc, x, y, 0)); });
    result = JoinLeavesOp::create(b, loc, all);
  } else {
    Values parts;
    for (Value slice : slices) {
      Operation *clone = b.clone(*op);
      clone->setOperand(0, slice);
      parts.push_back(clone->getResult(0));
    }
    result = joinAll(b, parts, [&](Value x, Value y) -> Value {
      return fold.getReductionKind() == ReductionKind::Max ? mark(MaximumOp::create(b, loc, x, y))
                                                           : mark(MinimumOp::create(b, loc, x, y));
    });
  }
  op->getResult(0).replaceAllUsesWith(result);
}

//===- The program ---------------------------------------------------------===//

/// Declares the slices of a variable; each computes the whole first value and keeps its part.
void ShardRewriter::declare(unsigned variable) {
  VariableOp whole = variables_.all()[variable].op;
  int64_t axis = plan_.variables.lookup(variable);
  OpBuilder b(whole);
  for (unsigned r = 0; r < plan_.count(); ++r) {
    auto slice = cast<VariableOp>(b.clone(*whole.getOperation()));
    slice.setNameAttr(nameOf(variable, r));
    slice.setTypeAttr(TypeAttr::get(resized(whole.getType(), axis, sizeOf(r))));
    slice->removeAttr("pdg.shard");
    Operation *yield = slice.getInit().front().getTerminator();
    OpBuilder inside(yield);
    yield->setOperand(0, SliceOp::create(inside, yield->getLoc(), yield->getOperand(0), axis,
                                         plan_.bounds[r], sizeOf(r), 1));
  }
  whole.erase();
}

/// Erases `op`, which has a node.
void ShardRewriter::forget(Operation *op) {
  graph_.nodes()[graph_.producerOf(op->getResult(0))].op = nullptr;
  op->erase();
}

static void erase(PlaceNode &node) {
  node.op->erase();
  node.op = nullptr;
}

void ShardRewriter::assignSlices(PlaceNode &node) {
  auto assign = cast<AssignOp>(node.op);
  unsigned variable = variables_.touchedBy(assign);
  Values slices = slicesOf(assign.getValue(), plan_.variables.lookup(variable));
  OpBuilder b(assign);
  for (auto [r, slice] : llvm::enumerate(slices))
    AssignOp::create(b, assign.getLoc(), nameOf(variable, r), slice);
  erase(node);
}

/// Erases what is computed on slices only; users come after what they use.
void ShardRewriter::eraseUnused() {
  for (PlaceNode &node : llvm::reverse(graph_.nodes())) {
    bool isReplaced = !node.isSlot() && node.op && node.op->getNumResults() == 1 &&
                      (plan_.folds.contains(node.op) || plan_.axes.count(node.op->getResult(0)));
    if (isReplaced && isOpTriviallyDead(node.op))
      erase(node);
  }
}

/// Who needs the variable as a whole gets its slices, put together.
void ShardRewriter::readWhole(PlaceNode &node) {
  auto read = cast<ReadOp>(node.op);
  OpBuilder b(read);
  int64_t axis = plan_.variables.lookup(variables_.touchedBy(read));
  auto known = slices_.find({read.getResult(), axis});
  Values slices = known == slices_.end() ? readSlices(b, read) : known->second;
  for (Operation *user : llvm::make_early_inc_range(read->getUsers()))
    if (axis == 0 && readsRowsOf(user, read)) {
      OpBuilder at(user);
      user->getResult(0).replaceAllUsesWith(gatherFromSlices(at, user, slices, plan_.bounds));
      forget(user);
    }
  if (read->use_empty())
    return erase(node);
  Value whole = joinAll(b, slices, [&](Value x, Value y) -> Value {
    auto both = ConcatOp::create(b, read.getLoc(), x, y, axis);
    both->setAttr("pdg.place", RoleAttr::get(b.getContext(), RoleKind::Trainer));
    return both;
  });
  read.getResult().replaceAllUsesWith(whole);
  erase(node);
}

void ShardRewriter::run() {
  SmallVector<PlaceNode *> assigns, reads;
  for (PlaceNode &node : graph_.nodes()) {
    int variable = node.isSlot() || !node.op ? -1 : variables_.touchedBy(node.op);
    if (variable >= 0 && plan_.variables.count(variable))
      (isa<AssignOp>(node.op) ? assigns : reads).push_back(&node);
  }
  for (Operation *op : plan_.folds)
    foldSlices(op);
  for (PlaceNode *node : assigns)
    assignSlices(*node);
  eraseUnused();
  for (PlaceNode *node : reads)
    if (node->op)
      readWhole(*node);
  for (const auto &[variable, axis] : plan_.variables)
    declare(variable);
}

} // namespace

void applyShardPlan(const ShardPlan &plan, PlaceGraph &graph, Variables &variables) {
  ShardRewriter(plan, graph, variables).run();
}

} // namespace pdg
