// Replaces each pdg.gradient by the ops that compute it: reverse-mode differentiation from IR to
// IR (A. Griewank, A. Walther, "Evaluating Derivatives", 2008, chapter 3). Each op answers its own
// step (DifferentiableOpInterface); this file keeps the order and collects the cotangents.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "ir/expr.h"
#include "ir/ops/autodiff.h"
#include "ir/ops/control.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/shape.h"
#include "ir/ops/variable.h"
#include "passes/differentiate/share_leaves.h"
#include "passes/passes.h"

#include "mlir/Transforms/RegionUtils.h"

namespace pdg {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

/// The values that `op` depends on: operands, and what its regions use from outside.
void forEachInput(Operation *op, function_ref<void(Value)> visit) {
  for (Value operand : op->getOperands())
    visit(operand);
  for (Region &region : op->getRegions())
    visitUsedValuesDefinedAbove(region, region, [&](OpOperand *use) { visit(use->get()); });
}

/// One reverse sweep over a list of ops in program order.
class Sweep : public Reverse {
public:
  /// `sources` are the values whose cotangents are wanted.
  Sweep(ArrayRef<Operation *> ops, ValueRange sources) : ops_(ops) {
    active_.insert(sources.begin(), sources.end());
    for (Operation *op : ops) {
      bool depends = false;
      forEachInput(op, [&](Value input) { depends |= active_.contains(input); });
      if (depends)
        active_.insert(op->result_begin(), op->result_end());
    }
  }

  LogicalResult run(OpBuilder &b) {
    builder_ = &b;
    for (order_ = ops_.size() - 1; order_ >= 0; --order_) {
      Operation *op = ops_[order_];
      if (llvm::none_of(op->getResults(), [&](Value r) { return hasCotangent(r); }))
        continue;
      auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
      if (!differentiable)
        return op->emitOpError("has no gradient");
      if (failed(differentiable.vjp(b, *this)))
        return failure();
    }
    order_ = -1;
    return success();
  }

  Value cotangent(Value value) override {
    auto found = contributions_.find(value);
    if (found == contributions_.end())
      return nullptr;
    auto &list = found->second;
    sortByUse(list);
    Contribution sum = list.front();
    for (const Contribution &term : ArrayRef(list).drop_front())
      sum.value = ContributeOp::create(*builder_, value.getLoc(), sum.value, term.value);
    list.assign(1, sum);
    return sum.value;
  }

  bool isActive(Value value) override {
    return active_.contains(value) && isFloatTensor(value.getType());
  }

  void add(Value value, Value cotangent) override {
    auto &list = contributions_[value];
    list.push_back({order_, static_cast<int64_t>(list.size()), cotangent});
  }

  void setBuilder(OpBuilder &b) { builder_ = &b; }

  LogicalResult reverseBlock(OpBuilder &b, Block &block, ValueRange yields, ValueRange cotangents,
                             ValueRange wanted, SmallVectorImpl<Contributions> &results) override {
    SmallVector<Operation *> ops;
    for (Operation &op : block)
      ops.push_back(&op);
    Sweep inner(ops, wanted);
    inner.setBuilder(b);
    inner.order_ = ops.size();
    for (auto [value, g] : llvm::zip(yields, cotangents))
      if (g && inner.isActive(value))
        inner.add(value, g);
    if (failed(inner.run(b)))
      return failure();
    for (Value value : wanted)
      results.push_back(inner.contributions(value));
    return success();
  }

private:
  /// A cotangent from the use by op `order`, the `arrival`-th one to come.
  struct Contribution {
    int64_t order, arrival;
    Value value;
    std::pair<int64_t, int64_t> key() const { return {order, arrival}; }
  };

  /// Uses are added in program order, although the sweep meets them backwards.
  static void sortByUse(SmallVector<Contribution> &list) {
    llvm::sort(list, [](auto &a, auto &b) { return a.key() < b.key(); });
  }

  Contributions contributions(Value value) {
    auto &list = contributions_[value];
    sortByUse(list);
    return llvm::map_to_vector<2>(list, [](const Contribution &c) { return c.value; });
  }

  bool hasCotangent(Value value) { return contributions_.contains(value); }

  SmallVector<Operation *> ops_;
  DenseSet<Value> active_;
  DenseMap<Value, SmallVector<Contribution>> contributions_;
  OpBuilder *builder_ = nullptr;
  int64_t order_ = 0;
};

/// How many ops are around `op`.
unsigned depthOf(Operation *op) {
  unsigned depth = 0;
  while ((op = op->getParentOp()))
    ++depth;
  return depth;
}

/// The ops that `value` depends on, in program order. They lie in blocks around each other.
SmallVector<Operation *> sliceOf(Value value) {
  llvm::SetVector<Operation *> slice;
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (op && slice.insert(op))
      forEachInput(op, [&](Value input) { work.push_back(input); });
  }
  SmallVector<Operation *> ops = slice.takeVector();
  llvm::sort(ops, [](Operation *a, Operation *b) {
    return a->getBlock() == b->getBlock() ? a->isBeforeInBlock(b) : depthOf(a) < depthOf(b);
  });
  return ops;
}

/// Moves reads out of conditions and counted loops that do not assign the variable, so that a
/// variable is one value of the block in which its gradient is taken.
void hoistReads(Operation *root) {
  SmallVector<Operation *> around;
  root->walk<WalkOrder::PostOrder>([&](Operation *op) {
    if (isa<IfOp, ForOp>(op))
      around.push_back(op);
  });
  for (Operation *op : around) {
    DenseSet<Attribute> assigned;
    op->walk([&](AssignOp assign) { assigned.insert(assign.getName()); });
    SmallVector<ReadOp> reads;
    for (Region &region : op->getRegions())
      for (ReadOp read : region.getOps<ReadOp>())
        if (!assigned.contains(read.getName()))
          reads.push_back(read);
    for (ReadOp read : reads)
      read->moveBefore(op);
  }
}

/// The reads of `name` among `ops`.
SmallVector<Value> readsOf(ArrayRef<Operation *> ops, Attribute name) {
  SmallVector<Value> reads;
  for (Operation *op : ops)
    if (auto read = dyn_cast<ReadOp>(op); read && read.getName() == name)
      reads.push_back(read.getResult());
  return reads;
}

/// The sum of the cotangents of `values`, in order; zeros of type `type` if there are none.
Value totalOf(OpBuilder &b, Sweep &sweep, ValueRange values, Value like, Type type, Location loc) {
  Value total;
  for (Value value : values)
    if (Value g = sweep.cotangent(value))
      total = total ? AddOp::create(b, loc, total, g).getResult() : g;
  if (total)
    return total;
  if (like)
    return constantLike(b, loc, like, 0);
  auto tensor = cast<RankedTensorType>(type);
  Value zero = scalarConstant(b, loc, tensor, 0);
  return BroadcastOp::create(b, loc, zero, ValueRange(), tensor.getShape());
}

LogicalResult differentiate(GradientOp op) {
  OpBuilder b(op);
  SmallVector<Operation *> ops = sliceOf(op.getLoss());
  SmallVector<SmallVector<Value>> reads;
  SmallVector<Value> sources(op.getWrt());
  for (Attribute name : op.getNames()) {
    reads.push_back(readsOf(ops, name));
    llvm::append_range(sources, reads.back());
  }
  Sweep sweep(ops, sources);
  sweep.setBuilder(b);
  if (sweep.isActive(op.getLoss()))
    sweep.add(op.getLoss(), scalarConstant(b, op.getLoc(), op.getLoss().getType(), 1));
  if (failed(sweep.run(b)))
    return failure();
  SmallVector<Value> results;
  for (auto [list, result] : llvm::zip(reads, op.getResults()))
    results.push_back(totalOf(b, sweep, list, {}, result.getType(), op.getLoc()));
  for (Value value : op.getWrt())
    results.push_back(totalOf(b, sweep, value, value, value.getType(), op.getLoc()));
  op.replaceAllUsesWith(results);
  op.erase();
  return success();
}

struct DifferentiatePass : impl::DifferentiateBase<DifferentiatePass> {
  void runOnOperation() override {
    hoistReads(getOperation());
    // Program order: the loss of a later gradient may depend on an earlier one.
    SmallVector<GradientOp> gradients;
    getOperation()->walk<WalkOrder::PreOrder>([&](GradientOp op) { gradients.push_back(op); });
    for (GradientOp op : gradients)
      if (failed(differentiate(op)))
        return signalPassFailure();
    numGradients += gradients.size();
    shareLeaves(getOperation());
    getOperation()->walk([](StopGradientOp op) {
      op.replaceAllUsesWith(op.getX());
      op.erase();
    });
  }
};

} // namespace
} // namespace pdg
