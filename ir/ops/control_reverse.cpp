// How cotangents pass backwards through conditions and counted loops: the region runs again, so
// that nothing but the values carried by a loop is kept.
// SPDX-License-Identifier: Apache-2.0
#include "ir/expr.h"
#include "ir/ops/autodiff.h"
#include "ir/ops/control.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/indexing.h"
#include "ir/ops/layout.h"
#include "ir/ops/shape.h"

using namespace mlir;

namespace pdg {

/// Values that `regions` use and do not define, that a cotangent is wanted for.
static SmallVector<Value> wantedOutside(ArrayRef<Region *> regions, Reverse &reverse) {
  llvm::SetVector<Value> outside;
  for (Region *region : regions)
    region->walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (!region->isAncestor(operand.getParentRegion()) && reverse.isActive(operand))
          outside.insert(operand);
    });
  return outside.takeVector();
}

/// Cotangents of `results`, zeros where none has arrived; null for what is no float.
static SmallVector<Value> cotangentsOf(OpBuilder &b, ValueRange results, Reverse &reverse) {
  SmallVector<Value> cotangents;
  for (Value result : results) {
    Value g = reverse.cotangent(result);
    if (!g && isFloatTensor(result.getType()))
      g = constantLike(b, result.getLoc(), result, 0);
    cotangents.push_back(g);
  }
  return cotangents;
}

//===- Copies without effects ----------------------------------------------===//

/// True for an op that, itself, does more than computing its results.
static bool hasEffects(Operation *op) {
  return !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() && !isMemoryEffectFree(op);
}

static LogicalResult refuseEffect(Operation *op) {
  return op->emitOpError("is not allowed in a differentiated condition or loop: it would run again "
                         "for the gradient");
}

/// Erases what the regions of `copy` do not need for their values.
static LogicalResult dropEffects(Operation *copy) {
  for (Region &region : copy->getRegions())
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(region.front()))) {
      if (op.hasTrait<OpTrait::IsTerminator>())
        continue;
      if (op.use_empty())
        op.erase();
      else if (hasEffects(&op))
        return refuseEffect(&op);
      else if (failed(dropEffects(&op)))
        return failure();
    }
  return success();
}

/// Copies what `block` computes for its yield, without effects: they happened when it first ran.
/// Fails on a read of a variable that the same region assigns: running it again would give another
/// value.
static LogicalResult cloneWithoutEffects(Block &block, OpBuilder &b, IRMapping &map) {
  llvm::SetVector<Operation *> needed;
  needed.insert(block.getTerminator());
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    auto isNeeded = [&](Operation *user) {
      return needed.contains(block.findAncestorOpInBlock(*user));
    };
    if (llvm::none_of(op.getUsers(), isNeeded))
      continue;
    if (hasEffects(&op))
      return refuseEffect(&op);
    needed.insert(&op);
  }
  for (Operation *op : llvm::reverse(needed.getArrayRef().drop_front()))
    if (failed(dropEffects(b.clone(*op, map))))
      return failure();
  return success();
}

static SmallVector<Value> mapped(ValueRange values, IRMapping &map) {
  return llvm::map_to_vector(values, [&](Value v) { return map.lookupOrDefault(v); });
}

/// The sum of the contributions to `value`, in order.
static Value totalOf(OpBuilder &b, Location loc, ArrayRef<Value> uses, Value value) {
  if (uses.empty())
    return constantLike(b, loc, value, 0);
  Value total = uses.front();
  for (Value use : uses.drop_front())
    total = AddOp::create(b, loc, total, use);
  return total;
}

/// The same, of contributions that a loop around may take apart again.
static Value contributionOf(OpBuilder &b, Location loc, ArrayRef<Value> uses, Value value) {
  if (uses.empty())
    return constantLike(b, loc, value, 0);
  Value total = uses.front();
  for (Value use : uses.drop_front())
    total = ContributeOp::create(b, loc, total, use);
  return total;
}

//===- Conditions ----------------------------------------------------------===//

LogicalResult IfOp::vjp(OpBuilder &b, Reverse &reverse) {
  SmallVector<Value> wanted = wantedOutside({&getThenRegion(), &getElseRegion()}, reverse);
  if (wanted.empty())
    return success();
  SmallVector<Value> cotangents = cotangentsOf(b, getResults(), reverse);
  auto types = llvm::map_to_vector(wanted, [](Value v) { return v.getType(); });
  // if c {A} else {B} -> if c {A; reverse A} else {B; reverse B}
  auto backward = IfOp::create(b, getLoc(), types, getCondition());
  for (auto [from, to] : llvm::zip((*this)->getRegions(), backward->getRegions())) {
    if (to.empty())
      to.emplaceBlock();
    to.front().clear();
    OpBuilder inner = OpBuilder::atBlockBegin(&to.front());
    IRMapping map;
    SmallVector<Contributions> uses;
    if (failed(cloneWithoutEffects(from.front(), inner, map)))
      return failure();
    SmallVector<Value> yields =
        mapped(cast<YieldOp>(from.front().getTerminator()).getValues(), map);
    if (failed(reverse.reverseBlock(inner, to.front(), yields, cotangents, wanted, uses)))
      return failure();
    SmallVector<Value> results;
    for (auto [value, list] : llvm::zip(wanted, uses))
      results.push_back(contributionOf(inner, getLoc(), list, value));
    YieldOp::create(inner, getLoc(), results);
  }
  for (auto [value, g] : llvm::zip(wanted, backward.getResults()))
    reverse.add(value, g);
  return success();
}

//===- Loops ---------------------------------------------------------------===//

namespace {
/// What a loop that runs again keeps.
struct Kept {
  SmallVector<Value> tables; ///< What iterations start with, [bound, ...] for each carried value.
  Value trips;               ///< How many iterations there were.
};
} // namespace

/// Runs `loop` again before `b`, with tables for the carried values `kept`. It has at most `bound`
/// iterations.
static FailureOr<Kept> keepCarried(OpBuilder &b, ForOp loop, int64_t bound,
                                   ArrayRef<unsigned> kept) {
  Location loc = loop.getLoc();
  SmallVector<Value> inits(loop.getInits());
  size_t count = inits.size();
  for (unsigned i : kept) {
    SmallVector<int64_t> shape;
    SmallVector<Value> sizes;
    shapeOf(b, loc, loop.getInits()[i], shape, sizes);
    shape.insert(shape.begin(), bound);
    Value zero = scalarConstant(b, loc, loop.getInits()[i].getType(), 0);
    inits.push_back(BroadcastOp::create(b, loc, zero, sizes, shape));
  }
  Block &from = loop.getBody().front();
  auto yield = cast<YieldOp>(from.getTerminator());
  // A loop that may end early counts.
  if (yield.getGoesOn())
    inits.push_back(sizeConstant(b, loc, 0));
  auto again = ForOp::create(b, loc, loop.getLower(), loop.getUpper(), inits, loop.getMaxAttr());
  Block &to = again.getBody().front();
  OpBuilder inner = OpBuilder::atBlockBegin(&to);
  IRMapping map;
  map.map(from.getArguments(), to.getArguments().take_front(count + 1));
  if (failed(cloneWithoutEffects(from, inner, map)))
    return failure();
  Value at = SubOp::create(inner, loc, to.getArgument(0), again.getLower());
  SmallVector<Value> yields = mapped(yield.getValues(), map);
  for (auto [k, i] : llvm::enumerate(kept))
    yields.push_back(
        UpdateRowOp::create(inner, loc, to.getArgument(1 + count + k), to.getArgument(1 + i), at));
  Kept result;
  llvm::append_range(result.tables, again.getResults().slice(count, kept.size()));
  if (!yield.getGoesOn()) {
    YieldOp::create(inner, loc, yields);
    // The range of a loop with a `max` is known to the run only.
    result.trips = sizeConstant(b, loc, bound);
    if (loop.getMaxAttr())
      result.trips = SubOp::create(b, loc, loop.getUpper(), loop.getLower());
    return result;
  }
  yields.push_back(AddOp::create(inner, loc, at, sizeConstant(inner, loc, 1)));
  YieldOp::create(inner, loc, yields, map.lookupOrDefault(yield.getGoesOn()));
  result.trips = again.getResults().back();
  return result;
}

/// Erases the ops of `block` that nobody needs.
static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

namespace {

/// Builds the loop that runs another one backwards. It carries the cotangents of that one's floats,
/// and for each value from outside the sum of what its uses in all iterations contribute.
class LoopReversal {
public:
  LoopReversal(OpBuilder &b, Reverse &reverse, ForOp loop, int64_t bound)
      : b_(b), reverse_(reverse), loop_(loop), loc_(loop.getLoc()), bound_(bound),
        wanted_(wantedOutside({&loop.getBody()}, reverse)) {
    for (auto [i, result] : llvm::enumerate(loop.getResults()))
      if (isFloatTensor(result.getType()))
        floats_.push_back(i);
  }

  LogicalResult run() {
    SmallVector<Value> inits;
    for (unsigned i : floats_)
      inits.push_back(cotangentsOf(b_, loop_.getResult(i), reverse_).front());
    auto all = llvm::to_vector(llvm::seq<unsigned>(0, loop_.getNumResults()));
    FailureOr<Kept> kept = keepCarried(b_, loop_, bound_, all);
    if (failed(kept))
      return failure();
    kept_ = *kept;
    backward_ = ForOp::create(b_, loc_, sizeConstant(b_, loc_, 0), kept_.trips, inits,
                              b_.getI64IntegerAttr(bound_));
    Block &to = backward_.getBody().front();
    OpBuilder inner = OpBuilder::atBlockBegin(&to);
    if (failed(repeatIteration(inner, to)))
      return failure();
    SmallVector<Contributions> results;
    SmallVector<Value> cotangents(loop_.getNumResults()), sources;
    for (auto [k, i] : llvm::enumerate(floats_)) {
      cotangents[i] = to.getArgument(1 + k);
      sources.push_back(map_.lookup(loop_.getBody().getArgument(1 + i)));
    }
    size_t carried = sources.size();
    llvm::append_range(sources, wanted_);
    YieldOp yield = cast<YieldOp>(loop_.getBody().front().getTerminator());
    if (failed(reverse_.reverseBlock(inner, to, mapped(yield.getValues(), map_), cotangents,
                                     sources, results)))
      return failure();
    SmallVector<Value> yields;
    for (size_t k = 0; k < carried; ++k)
      yields.push_back(totalOf(inner, loc_, results[k], sources[k]));
    contribute(inner, ArrayRef(results).drop_front(carried), yields);
    YieldOp::create(inner, loc_, yields);
    eraseDead(to);
    keepWhatIsUsed();
    return success();
  }

  /// Hands the cotangents to what the loop was given and to what it uses from outside.
  void send() {
    for (auto [k, i] : llvm::enumerate(floats_))
      if (reverse_.isActive(loop_.getInits()[i]))
        reverse_.add(loop_.getInits()[i], backward_.getResult(k));
    for (auto [k, value] : llvm::enumerate(contributed_))
      reverse_.add(value, backward_.getResult(floats_.size() + k));
  }

private:
  /// Computes again what the iteration computed whose turn it is.
  LogicalResult repeatIteration(OpBuilder &inner, Block &to) {
    Block &from = loop_.getBody().front();
    Value last = SubOp::create(inner, loc_, kept_.trips, sizeConstant(inner, loc_, 1));
    Value at = SubOp::create(inner, loc_, last, to.getArgument(0));
    map_.map(from.getArgument(0), AddOp::create(inner, loc_, at, loop_.getLower()).getResult());
    for (auto [i, table] : llvm::enumerate(kept_.tables))
      map_.map(from.getArgument(1 + i), GatherOp::create(inner, loc_, table, at).getResult());
    return cloneWithoutEffects(from, inner, map_);
  }

  /// Adds the contributions to values from outside. As iterations, the uses are taken backwards.
  void contribute(OpBuilder &inner, ArrayRef<Contributions> uses, SmallVector<Value> &yields) {
    for (auto [value, list] : llvm::zip(wanted_, uses)) {
      if (list.empty())
        continue;
      OpBuilder before(backward_);
      backward_->insertOperands(backward_->getNumOperands(), constantLike(before, loc_, value, 0));
      Value sum = backward_.getBody().addArgument(value.getType(), loc_);
      for (Value use : llvm::reverse(list))
        sum = ContributeOp::create(inner, loc_, sum, use);
      yields.push_back(sum);
      contributed_.push_back(value);
    }
    // An op gets more results by being made again.
    OpBuilder before(backward_);
    auto whole = ForOp::create(before, loc_, backward_.getLower(), backward_.getUpper(),
                               backward_.getInits(), backward_.getMaxAttr());
    whole.getBody().takeBody(backward_.getBody());
    backward_.erase();
    backward_ = whole;
  }

  /// Drops the tables of carried values that nothing backwards needs: of sums, for example.
  void keepWhatIsUsed() {
    SmallVector<unsigned> used;
    for (auto [i, table] : llvm::enumerate(kept_.tables))
      if (!table.use_empty())
        used.push_back(i);
    if (used.size() == kept_.tables.size())
      return;
    Operation *whole = kept_.tables.front().getDefiningOp();
    bool isCounted = kept_.trips.getDefiningOp() == whole;
    if (!used.empty() || isCounted) {
      OpBuilder before(whole);
      FailureOr<Kept> kept = keepCarried(before, loop_, bound_, used);
      for (auto [i, table] : llvm::zip(used, kept->tables))
        kept_.tables[i].replaceAllUsesWith(table);
      kept_.trips.replaceAllUsesWith(kept->trips);
    }
    whole->erase();
  }

  OpBuilder &b_;
  Reverse &reverse_;
  ForOp loop_, backward_;
  Location loc_;
  int64_t bound_;
  Kept kept_;
  SmallVector<Value> wanted_;      ///< From outside, with cotangents that are wanted.
  SmallVector<Value> contributed_; ///< Of each sum of contributions the value.
  SmallVector<unsigned> floats_;   ///< Which carried values have cotangents.
  IRMapping map_;
};

} // namespace

/// Loops inside each other for which there is a gradient. Each level runs those inside it again, so
/// the code grows with the square of their number.
static constexpr int MaxNestedLoops = 32;

/// How many loops lie inside each other in `op`, itself included.
static int loopDepth(Operation *op) {
  int deepest = 0;
  for (Region &region : op->getRegions())
    for (Operation &inside : region.front())
      if (inside.getNumRegions())
        deepest = std::max(deepest, loopDepth(&inside));
  return deepest + isa<ForOp>(op);
}

LogicalResult ForOp::vjp(OpBuilder &b, Reverse &reverse) {
  if (int depth = loopDepth(*this); depth > MaxNestedLoops)
    return emitOpError("has no gradient: ")
           << depth << " loops lie inside each other, at most " << MaxNestedLoops << " may";
  std::optional<int64_t> bound = getBound();
  if (!bound)
    return emitOpError("has no gradient: its number of iterations is not known when compiling");
  LoopReversal reversal(b, reverse, *this, *bound);
  if (failed(reversal.run()))
    return failure();
  reversal.send();
  return success();
}

} // namespace pdg
