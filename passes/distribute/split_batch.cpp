// Cuts the batches of a program into slices: what can be computed on slices is, in as many copies,
// and partial sums are joined as the upper levels of the tree of the whole sum.
// SPDX-License-Identifier: Apache-2.0
#include "ir/expr.h"
#include "ir/interpret/evaluate_leaves.h"
#include "ir/ops/communication.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/layout.h"
#include "ir/ops/leaves.h"
#include "ir/ops/part.h"
#include "ir/ops/shape.h"
#include "passes/distribute/region_values.h"
#include "passes/distribute/split_states.h"
#include "passes/passes.h"

namespace pdg {
#define GEN_PASS_DEF_SPLITBATCH
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

using Values = SmallVector<Value>;

/// Rewrites a program whose splits are known.
class Splitter {
public:
  Splitter(SplitStates &states, Slicing slicing) : states_(states), slicing_(slicing) {}
  void rewriteProgram(Block &body);
  /// Removes what was replaced by slices. Fails if an op did not take slices, which it reported.
  LogicalResult finish();

private:
  /// Where the slices of values with so many rows to an example begin, the end of the last one
  /// included, and how long they are.
  struct Cuts {
    Values begins, sizes;
    Value whole; ///< How long all of them are together.
  };
  void rewrite(Block &block);
  Value cutBegin(OpBuilder &b, Location loc, Value count, bool isPlain, int64_t slice);
  const Cuts &cutsOf(Split split);
  Value gather(OpBuilder &b, Value value);
  Value sliceOfWhole(OpBuilder &b, Value whole, Split split, int64_t slice);
  Type typeOfSlice(Type type, Split split) const;
  Value emptyLeaves(OpBuilder &b, Location loc, Type whole, Split split);
  Value slice(OpBuilder &b, Value value, Split split, int64_t slice);
  void setShape(Operation *op, int64_t axis, Value size);
  Operation *cloneOnSlice(OpBuilder &b, Operation *op, const SlicedOp &plan, int64_t slice);
  Value openSum(OpBuilder &b, Operation *sum, const Partition *partition);
  Value join(OpBuilder &b, Operation *op, Values parts, const SlicedOp &plan);
  void rewriteOp(Operation *op);
  void rewriteRegions(Operation *op);
  void splitArguments(Operation *op, Block &body, unsigned count);
  void rewriteYield(Block &block, ArrayRef<Split> splits);
  Values expand(OpBuilder &b, ValueRange values, ArrayRef<Split> splits);

  SplitStates &states_;
  Slicing slicing_;
  Value first_;                   ///< The number of a trainer's first slice; null for one trainer.
  DenseMap<Value, Values> parts_; ///< The slices of a split value that a process has.
  DenseMap<std::pair<const Partition *, int64_t>, Cuts> cuts_;
  SmallVector<Operation *> replaced_;
  SmallVector<BlockArgument> replacedArguments_;
  bool isWrong_ = false;
};

//===- Slices --------------------------------------------------------------===//

/// Where slice number `slice` of this process begins, of a batch of `count` examples.
Value Splitter::cutBegin(OpBuilder &b, Location loc, Value count, bool isPlain, int64_t slice) {
  if (!first_ && slice == 0)
    return sizeConstant(b, loc, 0);
  if (!first_ && slice == slicing_.slices)
    return count;
  return PartBeginOp::create(b, loc, count, slice, first_, slicing_.slices, isPlain);
}

const Splitter::Cuts &Splitter::cutsOf(Split split) {
  auto [place, isNew] = cuts_.try_emplace({split.partition, split.rows});
  Cuts &cuts = place->second;
  if (!isNew)
    return cuts;
  ForEachOp loop = split.partition->loop;
  Location loc = loop.getLoc();
  Block &body = loop.getBody().front();
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  Value count = DimOp::create(b, loc, body.getArgument(1), 0);
  auto inRows = [&](Value examples) {
    TensorExpr rows{b, loc, examples};
    return split.rows == 1 ? examples : (rows * rows.with(sizeConstant(b, loc, split.rows))).value;
  };
  for (int64_t r = 0; r <= slicing_.copies(); ++r)
    cuts.begins.push_back(inRows(cutBegin(b, loc, count, split.partition->plain, r)));
  for (int64_t r = 0; r < slicing_.copies(); ++r) {
    TensorExpr end{b, loc, cuts.begins[r + 1]};
    cuts.sizes.push_back((end - end.with(cuts.begins[r])).value);
  }
  cuts.whole = first_ ? inRows(count) : cuts.begins.back();
  return cuts;
}

/// One value of several: a tree, neighbours first; an odd one moves up.
static Value joinAsTree(Values parts, function_ref<Value(Value, Value)> joinTwo) {
  while (parts.size() > 1) {
    Values next;
    for (size_t i = 0; i < parts.size(); i += 2)
      next.push_back(i + 1 == parts.size() ? parts[i] : joinTwo(parts[i], parts[i + 1]));
    parts = std::move(next);
  }
  return parts.front();
}

/// The whole of `value`.
Value Splitter::gather(OpBuilder &b, Value value) {
  Split split = states_.of(value);
  auto argument = dyn_cast<BlockArgument>(value);
  // The fields of a batch are there anyway.
  if (!split || (argument && split.partition->loop == argument.getOwner()->getParentOp()))
    return value;
  Location loc = value.getLoc();
  Value own = joinAsTree(parts_.lookup(value), [&](Value x, Value y) -> Value {
    return ConcatOp::create(b, loc, x, y, split.axis);
  });
  if (!first_)
    return own;
  auto type = cast<RankedTensorType>(value.getType());
  Values sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      sizes.push_back(axis == split.axis ? cutsOf(split).whole
                                         : DimOp::create(b, loc, own, axis).getResult());
  return AllGatherOp::create(b, loc, type, own, split.axis, slicing_.trainers, sizes,
                             b.getDenseI64ArrayAttr(type.getShape()));
}

/// Puts the length of a slice into the shape argument of `op`, if it has one: an attribute `shape`,
/// and as last operands the sizes that it does not know.
void Splitter::setShape(Operation *op, int64_t axis, Value size) {
  auto shape = op->getAttrOfType<DenseI64ArrayAttr>("shape");
  if (!shape)
    return;
  unsigned before = llvm::count(shape.asArrayRef().take_front(axis), ShapedType::kDynamic);
  unsigned all = llvm::count(shape.asArrayRef(), ShapedType::kDynamic);
  op->setOperand(op->getNumOperands() - all + before, size);
}

Value Splitter::sliceOfWhole(OpBuilder &b, Value whole, Split split, int64_t slice) {
  const Cuts &cuts = cutsOf(split);
  // What is repeated along this axis is repeated less often.
  Operation *op = whole.getDefiningOp();
  if (auto shardable = dyn_cast_or_null<ShardableOpInterface>(op);
      shardable && op->getAttrOfType<DenseI64ArrayAttr>("shape") &&
      cast<RankedTensorType>(whole.getType()).isDynamicDim(split.axis)) {
    ShardingRule rule = shardable.getShardingRule();
    int factor = rule.empty() ? -1 : rule.results[0][split.axis];
    bool isInOperand = factor < 0 || llvm::any_of(
                                         rule.operands,
                                         [&](ArrayRef<int> factors) {
                                           return axisWithFactor(factors, factor) >= 0;
                                         });
    if (!isInOperand && rule.kinds[factor] == FactorKind::Parallel) {
      Operation *repeated = b.clone(*op);
      setShape(repeated, split.axis, cuts.sizes[slice]);
      return repeated->getResult(0);
    }
  }
  return PartOp::create(b, whole.getLoc(), whole, cuts.begins[slice], cuts.sizes[slice],
                        split.axis);
}

/// The leaves of a slice, before it has terms; those of the whole sum are [leaves, sizes...].
Value Splitter::emptyLeaves(OpBuilder &b, Location loc, Type whole, Split split) {
  auto type = cast<RankedTensorType>(typeOfSlice(whole, split));
  return BroadcastOp::create(b, loc, scalarConstant(b, loc, type, 0), ValueRange(),
                             type.getShape());
}

/// Slice number `slice` of `value`, cut as `split` says.
Value Splitter::slice(OpBuilder &b, Value value, Split split, int64_t slice) {
  if (states_.of(value) == split)
    return parts_.lookup(value)[slice];
  if (split.isLeaves())
    return emptyLeaves(b, value.getLoc(), value.getType(), split);
  return sliceOfWhole(b, gather(b, value), split, slice);
}

//===- Ops -----------------------------------------------------------------===//

Operation *Splitter::cloneOnSlice(OpBuilder &b, Operation *op, const SlicedOp &plan,
                                  int64_t number) {
  ShardingRule rule = cast<ShardableOpInterface>(op).getShardingRule();
  Values operands;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    int64_t axis = axisWithFactor(rule.operands[i], plan.factor);
    Split split{plan.terms.partition, axis, plan.terms.rows};
    if (plan.kind == FactorKind::Leaves && leavesOperand(op) == int(i))
      split = plan.result;
    operands.push_back(axis < 0 ? gather(b, operand) : slice(b, operand, split, number));
  }
  Operation *clone = b.clone(*op);
  clone->setOperands(operands);
  auto shape = op->getAttrOfType<DenseI64ArrayAttr>("shape");
  if (plan.result.isLeaves() && shape)
    clone->setAttr("shape",
                   b.getDenseI64ArrayAttr(
                       cast<RankedTensorType>(typeOfSlice(op->getResult(0).getType(), plan.result))
                           .getShape()));
  else if (plan.result && !plan.result.isLeaves())
    setShape(clone, plan.result.axis, cutsOf(plan.result).sizes[number]);
  SmallVector<Type> types;
  LogicalResult inferred = cast<InferTypeOpInterface>(clone).inferReturnTypes(
      op->getContext(), op->getLoc(), clone->getOperands(), clone->getDiscardableAttrDictionary(),
      clone->getPropertiesStorage(), clone->getRegions(), types);
  // Slices have the other sizes and the element types of the whole, so an op that takes the one and
  // not the other has a wrong sharding rule.
  if (failed(inferred))
    isWrong_ = true;
  else
    clone->getResult(0).setType(types.front());
  return clone;
}

/// The sum `sum`, a new op, with at most its share of the 16 leaves.
Value Splitter::openSum(OpBuilder &b, Operation *sum, const Partition *partition) {
  auto type = cast<RankedTensorType>(sum->getResult(0).getType());
  SmallVector<int64_t> shape{kMaxLeaves};
  llvm::append_range(shape, type.getShape());
  Location loc = sum->getLoc();
  Value none = emptyLeaves(b, loc, type.clone(shape), {partition, 0, 0});
  Value leaves = cast<LeavesOpInterface>(sum).addToLeaves(b, none);
  sum->erase();
  return JoinLeavesOp::create(b, loc, leaves);
}

static JoinKind joinKindOf(Operation *op, const SlicedOp &plan) {
  if (plan.kind == FactorKind::Sum)
    return JoinKind::Sum;
  auto reduction = cast<ReductionOpInterface>(op);
  return reduction.getReductionKind() == ReductionKind::Max ? JoinKind::Max : JoinKind::Min;
}

/// One value of those of all slices.
Value Splitter::join(OpBuilder &b, Operation *op, Values parts, const SlicedOp &plan) {
  JoinKind kind = joinKindOf(op, plan);
  Location loc = op->getLoc();
  Value own = joinAsTree(std::move(parts), [&](Value x, Value y) -> Value {
    if (kind == JoinKind::Sum)
      return AddOp::create(b, loc, x, y);
    if (kind == JoinKind::Max)
      return MaximumOp::create(b, loc, x, y);
    return MinimumOp::create(b, loc, x, y);
  });
  return first_ ? AllReduceOp::create(b, loc, own, kind, slicing_.trainers).getResult() : own;
}

void Splitter::rewriteOp(Operation *op) {
  OpBuilder b(op);
  SlicedOp plan = states_.planOf(op);
  if (plan.kind == FactorKind::Whole) {
    for (OpOperand &operand : op->getOpOperands())
      operand.set(gather(b, operand.get()));
    return;
  }
  Values parts;
  for (int64_t r = 0; r < slicing_.copies(); ++r) {
    Operation *clone = cloneOnSlice(b, op, plan, r);
    parts.push_back(plan.opensLeaves ? openSum(b, clone, plan.terms.partition)
                                     : clone->getResult(0));
  }
  if (plan.result)
    parts_[op->getResult(0)] = parts;
  else
    op->getResult(0).replaceAllUsesWith(join(b, op, parts, plan));
  replaced_.push_back(op);
}

//===- Regions -------------------------------------------------------------===//

/// The values, with the slices of those that are split.
Values Splitter::expand(OpBuilder &b, ValueRange values, ArrayRef<Split> splits) {
  Values result;
  for (auto [value, split] : llvm::zip(values, splits))
    if (!split)
      result.push_back(gather(b, value));
    else
      for (int64_t r = 0; r < slicing_.copies(); ++r)
        result.push_back(slice(b, value, split, r));
  return result;
}

/// The type of slices; plain slices have leaves of the whole sum, others a sum of their own.
Type Splitter::typeOfSlice(Type type, Split split) const {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  if (split.rows)
    shape[split.axis] = ShapedType::kDynamic;
  else if (split.partition->plain)
    shape[0] /= slicing_.slices;
  return RankedTensorType::get(shape, tensor.getElementType());
}

/// Gives the region of `op` the slices of what it carries, the last `count` arguments, and those of
/// its batch.
void Splitter::splitArguments(Operation *op, Block &body, unsigned count) {
  unsigned first = body.getNumArguments() - count;
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  SmallVector<BlockArgument> arguments(body.getArguments());
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    Split split = states_.of(argument);
    if (!split)
      continue;
    if (i < first) {
      cutsOf(split);
      b.setInsertionPointAfterValue(cutsOf(split).sizes.back());
      for (int64_t r = 0; r < slicing_.copies(); ++r)
        parts_[argument].push_back(sliceOfWhole(b, argument, split, r));
      continue;
    }
    for (int64_t r = 0; r < slicing_.copies(); ++r)
      parts_[argument].push_back(body.insertArgument(
          argument.getArgNumber(), typeOfSlice(argument.getType(), split), argument.getLoc()));
    replacedArguments_.push_back(argument);
  }
}

void Splitter::rewriteYield(Block &block, ArrayRef<Split> splits) {
  auto yield = cast<YieldOp>(block.getTerminator());
  OpBuilder b(yield);
  Values values = expand(b, yield.getValues(), splits);
  Value goesOn = yield.getGoesOn();
  replaceYield(block, values, goesOn ? gather(b, goesOn) : Value());
}

void Splitter::rewriteRegions(Operation *op) {
  unsigned count = op->getNumResults();
  SmallVector<Split> splits =
      llvm::map_to_vector(op->getResults(), [&](Value result) { return states_.of(result); });
  OpBuilder b(op);
  Values operands;
  for (Value operand : ownOperands(op))
    operands.push_back(gather(b, operand));
  llvm::append_range(operands, expand(b, initialValues(op), splits));
  SmallVector<Type> types;
  for (auto [result, split] : llvm::zip(op->getResults(), splits))
    types.append(split ? slicing_.copies() : 1,
                 split ? typeOfSlice(result.getType(), split) : result.getType());
  Operation *next = rebuildWithRegions(b, op, operands, types);
  if (Partition *partition = states_.partitionOf(op))
    partition->loop = cast<ForEachOp>(next);
  unsigned at = 0;
  for (auto [result, split] : llvm::zip(op->getResults(), splits)) {
    if (!split)
      result.replaceAllUsesWith(next->getResult(at++));
    else
      for (int64_t r = 0; r < slicing_.copies(); ++r)
        parts_[result].push_back(next->getResult(at++));
  }
  replaced_.push_back(op);
  for (Region &region : next->getRegions()) {
    if (isa<LoopOpInterface>(next))
      splitArguments(next, region.front(), count);
    rewrite(region.front());
    rewriteYield(region.front(), splits);
  }
}

void Splitter::rewrite(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  for (Operation *op : ops)
    if (op->getNumRegions())
      rewriteRegions(op);
    else
      rewriteOp(op);
}

void Splitter::rewriteProgram(Block &body) {
  if (slicing_.trainers > 1) {
    OpBuilder b = OpBuilder::atBlockBegin(&body);
    Location loc = body.getParentOp()->getLoc();
    TensorExpr replica{b, loc, ReplicaOp::create(b, loc)};
    first_ = slicing_.copies() == 1
                 ? replica.value
                 : (replica * replica.with(sizeConstant(b, loc, slicing_.copies()))).value;
  }
  rewrite(body);
}

LogicalResult Splitter::finish() {
  for (Operation *op : llvm::reverse(replaced_)) {
    op->dropAllUses();
    op->erase();
  }
  for (BlockArgument argument : llvm::reverse(replacedArguments_))
    argument.getOwner()->eraseArgument(argument.getArgNumber());
  return success(!isWrong_);
}

//===- The pass ------------------------------------------------------------===//

struct SplitBatchPass : impl::SplitBatchBase<SplitBatchPass> {
  using SplitBatchBase::SplitBatchBase;

  void runOnOperation() override {
    Slicing slicing{replicas ? replicas : trainers, trainers};
    if (failed(check(slicing)))
      return signalPassFailure();
    if (slicing.slices == 1)
      return;
    for (auto program : getOperation().getOps<ProgramOp>()) {
      SplitStates states(slicing.slices);
      states.analyze(program.getBody().front());
      Splitter splitter(states, slicing);
      splitter.rewriteProgram(program.getBody().front());
      if (failed(splitter.finish()))
        return signalPassFailure();
    }
  }

  LogicalResult check(Slicing slicing) {
    if (slicing.trainers < 1 || slicing.trainers > 65536)
      return getOperation().emitError("expects 1 to 65536 trainers, got ") << slicing.trainers;
    if (slicing.slices < 1 || slicing.copies() > 1024)
      return getOperation().emitError("expects 1 to 1024 replicas, got ") << slicing.slices;
    // Joined slices of one trainer are a subtree of those of all.
    bool isSubtree = slicing.slices % slicing.trainers == 0 &&
                     llvm::isPowerOf2_64(slicing.copies()) && slicing.slices <= 65536;
    if (slicing.trainers > 1 && !isSubtree)
      return getOperation().emitError("expects a power of two of replicas for each trainer, got ")
             << slicing.slices << " for " << slicing.trainers << " trainers";
    return success();
  }
};

} // namespace
} // namespace pdg
