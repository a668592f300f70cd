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

/// Copies what `block` computes, without its effects. Fails on a read of a variable that the same
/// region assigns: running it again would give another value.
static LogicalResult cloneWithoutEffects(Block &block, OpBuilder &b, IRMapping &map) {
  for (Operation &op : block.without_terminator()) {
    if (isMemoryEffectFree(&op)) {
      b.clone(op, map);
      continue;
    }
    if (op.use_empty())
      continue;
    return op.emitOpError("is not allowed in a differentiated condition or loop: it would run "
                          "again for the gradient");
  }
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
      results.push_back(totalOf(inner, getLoc(), list, value));
    YieldOp::create(inner, getLoc(), results);
  }
  for (auto [value, g] : llvm::zip(wanted, backward.getResults()))
    reverse.add(value, g);
  return success();
}

/// A number that is known when compiling.
static std::optional<int64_t> constantOf(Value size) {
  Attribute value;
  if (!matchPattern(size, m_Constant(&value)))
    return std::nullopt;
  return cast<DenseElementsAttr>(value).getSplatValue<APInt>().getSExtValue();
}

/// Runs the loop again before `at`, keeping what each iteration starts with: one [trips, ...]
/// tensor for each of the carried values `kept`.
static SmallVector<Value> keepCarried(OpBuilder &b, ForOp loop, int64_t trips,
                                      ArrayRef<unsigned> kept) {
  Location loc = loop.getLoc();
  SmallVector<Value> inits(loop.getInits());
  size_t count = inits.size();
  for (unsigned i : kept) {
    SmallVector<int64_t> shape;
    SmallVector<Value> sizes;
    shapeOf(b, loc, loop.getInits()[i], shape, sizes);
    shape.insert(shape.begin(), trips);
    Value zero = scalarConstant(b, loc, loop.getInits()[i].getType(), 0);
    inits.push_back(BroadcastOp::create(b, loc, zero, sizes, shape));
  }
  auto again = ForOp::create(b, loc, loop.getLower(), loop.getUpper(), inits);
  Block &from = loop.getBody().front(), &to = again.getBody().front();
  OpBuilder inner = OpBuilder::atBlockBegin(&to);
  IRMapping map;
  map.map(from.getArguments(), to.getArguments().take_front(count + 1));
  if (failed(cloneWithoutEffects(from, inner, map)))
    return {};
  Value at = SubOp::create(inner, loc, to.getArgument(0), again.getLower());
  SmallVector<Value> yields = mapped(cast<YieldOp>(from.getTerminator()).getValues(), map);
  for (auto [k, i] : llvm::enumerate(kept))
    yields.push_back(
        UpdateRowOp::create(inner, loc, to.getArgument(1 + count + k), to.getArgument(1 + i), at));
  YieldOp::create(inner, loc, yields);
  return SmallVector<Value>(again.getResults().drop_front(count));
}

/// Erases the ops of `block` that nobody needs.
static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

namespace {

/// Builds the loop that runs another one backwards. It carries the cotangents of that one's floats,
/// and for each use of a value from outside the sum of what its iterations contribute.
class LoopReversal {
public:
  LoopReversal(OpBuilder &b, Reverse &reverse, ForOp loop, int64_t trips)
      : b_(b), reverse_(reverse), loop_(loop), loc_(loop.getLoc()), trips_(trips),
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
    tables_ = keepCarried(b_, loop_, trips_, all);
    if (tables_.size() != all.size())
      return failure();
    backward_ =
        ForOp::create(b_, loc_, sizeConstant(b_, loc_, 0), sizeConstant(b_, loc_, trips_), inits);
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
    accumulate(inner, ArrayRef(results).drop_front(carried), yields);
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
    Value at = SubOp::create(inner, loc_, sizeConstant(inner, loc_, trips_ - 1), to.getArgument(0));
    map_.map(from.getArgument(0), AddOp::create(inner, loc_, at, loop_.getLower()).getResult());
    for (auto [i, table] : llvm::enumerate(tables_))
      map_.map(from.getArgument(1 + i), GatherOp::create(inner, loc_, table, at).getResult());
    return cloneWithoutEffects(from, inner, map_);
  }

  /// Adds the contributions to values from outside, each use to a sum of its own.
  void accumulate(OpBuilder &inner, ArrayRef<Contributions> uses, SmallVector<Value> &yields) {
    for (auto [value, list] : llvm::zip(wanted_, uses))
      for (Value use : list) {
        OpBuilder before(backward_);
        backward_->insertOperands(backward_->getNumOperands(),
                                  constantLike(before, loc_, value, 0));
        Value sum = backward_.getBody().addArgument(value.getType(), loc_);
        yields.push_back(AccumulateOp::create(inner, loc_, sum, use));
        contributed_.push_back(value);
      }
    // An op gets more results by being made again.
    OpBuilder before(backward_);
    auto whole = ForOp::create(before, loc_, backward_.getLower(), backward_.getUpper(),
                               backward_.getInits());
    whole.getBody().takeBody(backward_.getBody());
    backward_.erase();
    backward_ = whole;
  }

  /// Drops the tables of carried values that nothing backwards needs: of sums, for example.
  void keepWhatIsUsed() {
    SmallVector<unsigned> used;
    for (auto [i, table] : llvm::enumerate(tables_))
      if (!table.use_empty())
        used.push_back(i);
    if (tables_.empty() || used.size() == tables_.size())
      return;
    Operation *whole = tables_.front().getDefiningOp();
    if (!used.empty()) {
      OpBuilder before(whole);
      SmallVector<Value> kept = keepCarried(before, loop_, trips_, used);
      for (auto [i, table] : llvm::zip(used, kept))
        tables_[i].replaceAllUsesWith(table);
    }
    whole->erase();
  }

  OpBuilder &b_;
  Reverse &reverse_;
  ForOp loop_, backward_;
  Location loc_;
  int64_t trips_;
  SmallVector<Value> wanted_;      ///< From outside, with cotangents that are wanted.
  SmallVector<Value> contributed_; ///< Of each sum of contributions the value.
  SmallVector<Value> tables_;      ///< What iterations start with, [trips, ...].
  SmallVector<unsigned> floats_;   ///< Which carried values have cotangents.
  IRMapping map_;
};

} // namespace

LogicalResult ForOp::vjp(OpBuilder &b, Reverse &reverse) {
  auto lower = constantOf(getLower()), upper = constantOf(getUpper());
  bool endsEarly = cast<YieldOp>(getBody().front().getTerminator()).getGoesOn() != nullptr;
  if (!lower || !upper || endsEarly)
    return emitOpError("has no gradient: its number of iterations is not known when compiling");
  LoopReversal reversal(b, reverse, *this, std::max<int64_t>(*upper - *lower, 0));
  if (failed(reversal.run()))
    return failure();
  reversal.send();
  return success();
}

} // namespace pdg
