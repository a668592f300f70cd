// All trainers in one graph: what is computed on each of them becomes as many ops, what they join
// is joined in place. The inverse of what pdg-split-batch does for several trainers.
// SPDX-License-Identifier: Apache-2.0
#include "ir/expr.h"
#include "ir/ops/communication.h"
#include "ir/ops/control.h"
#include "ir/ops/variable.h"
#include "passes/distribute/region_values.h"
#include "passes/passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

namespace pdg {
#define GEN_PASS_DEF_INSTANTIATEREPLICAS
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

using Values = SmallVector<Value>;

/// Finds the values that differ among trainers, and the conditions and loops that do.
class Varying {
public:
  void analyze(Block &block) {
    do {
      hasChanged_ = false;
      walk(block);
    } while (hasChanged_);
  }
  bool contains(Value value) const { return values_.contains(value); }
  /// Whether trainers take different branches of `op`, or run it a different number of times.
  bool isApart(Operation *op) const { return apart_.contains(op); }

private:
  void add(Value value) { hasChanged_ |= values_.insert(value).second; }
  void addIf(bool isVarying, ValueRange values) {
    if (isVarying)
      llvm::for_each(values, [&](Value value) { add(value); });
  }
  bool anyOf(ValueRange values) const {
    return llvm::any_of(values, [&](Value value) { return contains(value); });
  }
  void walk(Block &block) {
    for (Operation &op : block.without_terminator())
      if (op.getNumRegions())
        walkRegions(&op);
      else if (!isa<CollectiveOpInterface>(op))
        addIf(isa<ReplicaOp>(op) || anyOf(op.getOperands()), op.getResults());
  }
  void walkRegions(Operation *op) {
    auto loop = dyn_cast<LoopOpInterface>(op);
    for (Region &region : op->getRegions()) {
      walk(region.front());
      for (auto [i, yielded] : llvm::enumerate(yieldedValues(region.front()))) {
        addIf(contains(yielded) || (loop && contains(loop.getInit(i))), op->getResult(i));
        if (loop)
          addIf(contains(op->getResult(i)), Value(loop.getCarried(i)));
      }
      Value goesOn = cast<YieldOp>(region.front().getTerminator()).getGoesOn();
      if (anyOf(ownOperands(op)) || (goesOn && contains(goesOn)))
        hasChanged_ |= apart_.insert(op).second;
    }
    addIf(isApart(op), op->getResults());
  }

  DenseSet<Value> values_;
  DenseSet<Operation *> apart_;
  bool hasChanged_ = false;
};

/// Rewrites a program of one trainer.
class Instantiator {
public:
  Instantiator(const Varying &varying, int64_t trainers) : varying_(varying), trainers_(trainers) {}
  LogicalResult rewrite(Block &block);
  void finish();

private:
  /// What `value` is on each trainer.
  Values copiesOf(Value value) const {
    auto found = copies_.find(value);
    return found == copies_.end() ? Values(trainers_, value) : found->second;
  }
  /// The values, with the copies of those that differ.
  Values expand(ValueRange values, ValueRange like) const;
  LogicalResult join(CollectiveOpInterface op);
  LogicalResult copy(Operation *op);
  LogicalResult rewriteRegions(Operation *op);
  void splitResults(Operation *op, Operation *next);
  void splitArguments(LoopOpInterface loop);

  const Varying &varying_;
  int64_t trainers_;
  DenseMap<Value, Values> copies_;
  SmallVector<Operation *> replaced_;
  SmallVector<BlockArgument> replacedArguments_;
};

/// `like` says which of them differ: results of an op whose carried or yielded values these are.
Values Instantiator::expand(ValueRange values, ValueRange like) const {
  Values result;
  for (auto [value, other] : llvm::zip(values, like))
    if (varying_.contains(other))
      llvm::append_range(result, copiesOf(value));
    else
      result.push_back(value);
  return result;
}

LogicalResult Instantiator::join(CollectiveOpInterface op) {
  if (op.getCount() != trainers_)
    return op->emitOpError("expects ") << trainers_ << " trainers";
  OpBuilder b(op);
  Value joined = op.joinParts(b, copiesOf(op->getOperand(0)));
  if (!joined)
    return op->emitOpError("gives each trainer another value, which has no form in one process");
  op->getResult(0).replaceAllUsesWith(joined);
  replaced_.push_back(op);
  return success();
}

/// The number that `op` gives if its operands are numbers known when compiling.
static std::optional<int64_t> numberOf(Operation *op) {
  auto size = dyn_cast<SizeOpInterface>(op);
  SmallVector<AffineExpr> values;
  for (Value operand : op->getOperands()) {
    Attribute value;
    if (!size || !isSizeTensor(operand.getType()) || !matchPattern(operand, m_Constant(&value)))
      return std::nullopt;
    values.push_back(getAffineConstantExpr(
        cast<DenseElementsAttr>(value).getSplatValue<APInt>().getSExtValue(), op->getContext()));
  }
  SmallVector<Dims> dims(values.size());
  AffineExpr number = size ? size.inferValue(values, dims) : AffineExpr();
  auto constant = dyn_cast_if_present<AffineConstantExpr>(number);
  return constant ? std::optional(constant.getValue()) : std::nullopt;
}

/// As many copies of `op` as there are trainers.
LogicalResult Instantiator::copy(Operation *op) {
  WalkResult isWrong = op->walk([&](Operation *inner) {
    bool isAlone = isa<CollectiveOpInterface, AssignOp>(inner);
    if (isAlone)
      inner->emitOpError("is not run alike by all trainers");
    return isAlone ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (isWrong.wasInterrupted())
    return failure();
  OpBuilder b(op);
  DenseMap<Value, Values> outside;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (copies_.contains(operand))
        outside[operand] = copiesOf(operand);
  });
  SmallVector<Values> results(op->getNumResults());
  for (int64_t r = 0; r < trainers_; ++r) {
    IRMapping mapping;
    for (auto &[value, copies] : outside)
      mapping.map(value, copies[r]);
    Operation *clone = isa<ReplicaOp>(op) ? sizeConstant(b, op->getLoc(), r).getDefiningOp()
                                          : b.clone(*op, mapping);
    // Which slices a trainer has becomes a number.
    if (auto number = numberOf(clone)) {
      clone->erase();
      clone = sizeConstant(b, op->getLoc(), *number).getDefiningOp();
    }
    for (auto [i, result] : llvm::enumerate(clone->getResults()))
      results[i].push_back(result);
    clone->walk([&](ReplicaOp replica) {
      OpBuilder inside(replica);
      replica.replaceAllUsesWith(sizeConstant(inside, replica.getLoc(), r));
      replica.erase();
    });
  }
  for (auto [result, copies] : llvm::zip(op->getResults(), results))
    copies_[result] = copies;
  replaced_.push_back(op);
  return success();
}

/// Uses the results of `next`, which has those of `op` that differ once for each trainer.
void Instantiator::splitResults(Operation *op, Operation *next) {
  unsigned at = 0;
  for (Value result : op->getResults())
    if (!varying_.contains(result))
      result.replaceAllUsesWith(next->getResult(at++));
    else
      for (int64_t r = 0; r < trainers_; ++r)
        copies_[result].push_back(next->getResult(at++));
}

/// The same for the carried values of a loop.
void Instantiator::splitArguments(LoopOpInterface loop) {
  Block &body = loop->getRegion(0).front();
  SmallVector<BlockArgument> arguments(body.getArguments());
  for (BlockArgument argument : arguments) {
    if (!varying_.contains(argument))
      continue;
    for (int64_t r = 0; r < trainers_; ++r)
      copies_[argument].push_back(
          body.insertArgument(argument.getArgNumber(), argument.getType(), argument.getLoc()));
    replacedArguments_.push_back(argument);
  }
}

LogicalResult Instantiator::rewriteRegions(Operation *op) {
  Values operands(ownOperands(op));
  llvm::append_range(operands, expand(initialValues(op), op->getResults()));
  SmallVector<Type> types;
  for (Value result : op->getResults())
    types.append(varying_.contains(result) ? trainers_ : 1, result.getType());
  SmallVector<Value> like(op->getResults());
  OpBuilder b(op);
  Operation *next = rebuildWithRegions(b, op, operands, types);
  splitResults(op, next);
  replaced_.push_back(op);
  for (Region &region : next->getRegions()) {
    if (auto loop = dyn_cast<LoopOpInterface>(next))
      splitArguments(loop);
    if (failed(rewrite(region.front())))
      return failure();
    auto yield = cast<YieldOp>(region.front().getTerminator());
    replaceYield(region.front(), expand(yield.getValues(), like), yield.getGoesOn());
  }
  return success();
}

LogicalResult Instantiator::rewrite(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  for (Operation *op : ops) {
    LogicalResult done = success();
    if (auto collective = dyn_cast<CollectiveOpInterface>(op))
      done = join(collective);
    else if (varying_.isApart(op) || (!op->getNumRegions() && isa<ReplicaOp>(op)))
      done = copy(op);
    else if (op->getNumRegions())
      done = rewriteRegions(op);
    else if (llvm::any_of(op->getOperands(), [&](Value v) { return varying_.contains(v); }))
      done = copy(op);
    if (failed(done))
      return failure();
  }
  return success();
}

void Instantiator::finish() {
  for (Operation *op : llvm::reverse(replaced_)) {
    op->dropAllUses();
    op->erase();
  }
  for (BlockArgument argument : llvm::reverse(replacedArguments_))
    argument.getOwner()->eraseArgument(argument.getArgNumber());
}

struct InstantiateReplicasPass : impl::InstantiateReplicasBase<InstantiateReplicasPass> {
  using InstantiateReplicasBase::InstantiateReplicasBase;

  void runOnOperation() override {
    if (trainers < 1 || trainers > 1024) {
      getOperation().emitError("expects 1 to 1024 trainers, got ") << trainers.getValue();
      return signalPassFailure();
    }
    for (auto program : getOperation().getOps<ProgramOp>()) {
      Varying varying;
      varying.analyze(program.getBody().front());
      Instantiator instantiator(varying, trainers);
      if (failed(instantiator.rewrite(program.getBody().front())))
        return signalPassFailure();
      instantiator.finish();
    }
  }
};

} // namespace
} // namespace pdg
