// How cotangents pass backwards through conditions and counted loops: the region runs again, so
// that nothing but the values carried by a loop is kept.
// SPDX-License-Identifier: Apache-2.0
#include "ir/expr.h"
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
    SmallVector<Value> results;
    if (failed(cloneWithoutEffects(from.front(), inner, map)))
      return failure();
    SmallVector<Value> yields = mapped(from.front().getTerminator()->getOperands(), map);
    if (failed(reverse.reverseBlock(inner, to.front(), yields, cotangents, wanted, results)))
      return failure();
    for (auto [value, result] : llvm::zip(wanted, results))
      if (!result)
        result = constantLike(inner, getLoc(), value, 0);
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

/// Runs the loop again, keeping what each iteration starts with: one [trips, ...] tensor for each
/// carried value.
static SmallVector<Value> keepCarried(OpBuilder &b, ForOp loop, int64_t trips) {
  Location loc = loop.getLoc();
  SmallVector<Value> inits(loop.getInits());
  size_t count = inits.size();
  for (Value init : loop.getInits()) {
    SmallVector<int64_t> shape;
    SmallVector<Value> sizes;
    shapeOf(b, loc, init, shape, sizes);
    shape.insert(shape.begin(), trips);
    Value zero = scalarConstant(b, loc, init.getType(), 0);
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
  SmallVector<Value> yields = mapped(from.getTerminator()->getOperands(), map);
  for (size_t i = 0; i < count; ++i)
    yields.push_back(
        UpdateRowOp::create(inner, loc, to.getArgument(1 + count + i), to.getArgument(1 + i), at));
  YieldOp::create(inner, loc, yields);
  return SmallVector<Value>(again.getResults().drop_front(count));
}

LogicalResult ForOp::vjp(OpBuilder &b, Reverse &reverse) {
  auto lower = constantOf(getLower()), upper = constantOf(getUpper());
  if (!lower || !upper)
    return emitOpError("has no gradient: its number of iterations is not known when compiling");
  Location loc = getLoc();
  int64_t trips = std::max<int64_t>(*upper - *lower, 0);
  SmallVector<Value> kept = keepCarried(b, *this, trips);
  if (kept.size() != getInits().size())
    return failure();
  SmallVector<Value> wanted = wantedOutside({&getBody()}, reverse);

  // The reversed loop carries the cotangents of the carried floats, and sums for what is outside.
  SmallVector<Value> inits;
  SmallVector<unsigned> floats;
  for (auto [i, result] : llvm::enumerate(getResults())) {
    if (!isFloatTensor(result.getType()))
      continue;
    floats.push_back(i);
    inits.push_back(cotangentsOf(b, result, reverse).front());
  }
  for (Value value : wanted)
    inits.push_back(constantLike(b, loc, value, 0));
  auto backward =
      ForOp::create(b, loc, sizeConstant(b, loc, 0), sizeConstant(b, loc, trips), inits);
  Block &from = getBody().front(), &to = backward.getBody().front();
  OpBuilder inner = OpBuilder::atBlockBegin(&to);
  Value at = SubOp::create(inner, loc, sizeConstant(inner, loc, trips - 1), to.getArgument(0));
  IRMapping map;
  map.map(from.getArgument(0), AddOp::create(inner, loc, at, getLower()).getResult());
  for (auto [i, table] : llvm::enumerate(kept))
    map.map(from.getArgument(1 + i), GatherOp::create(inner, loc, table, at).getResult());
  if (failed(cloneWithoutEffects(from, inner, map)))
    return failure();

  SmallVector<Value> cotangents(getNumResults()), sources, results;
  for (auto [k, i] : llvm::enumerate(floats)) {
    cotangents[i] = to.getArgument(1 + k);
    sources.push_back(map.lookup(from.getArgument(1 + i)));
  }
  llvm::append_range(sources, wanted);
  SmallVector<Value> yields = mapped(from.getTerminator()->getOperands(), map);
  if (failed(reverse.reverseBlock(inner, to, yields, cotangents, sources, results)))
    return failure();
  for (auto [k, result] : llvm::enumerate(results)) {
    Value carried = to.getArgument(1 + k);
    if (k < floats.size())
      result = result ? result : constantLike(inner, loc, sources[k], 0);
    else
      result = result ? AddOp::create(inner, loc, carried, result).getResult() : carried;
  }
  YieldOp::create(inner, loc, results);
  for (auto [k, i] : llvm::enumerate(floats))
    if (reverse.isActive(getInits()[i]))
      reverse.add(getInits()[i], backward.getResult(k));
  for (auto [k, value] : llvm::enumerate(wanted))
    reverse.add(value, backward.getResult(floats.size() + k));
  return success();
}

} // namespace pdg
