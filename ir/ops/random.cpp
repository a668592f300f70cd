// The ops of random.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/random.h"
#include "ir/math/emit_loop.h"
#include "ir/math/random.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/random.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/random.cpp.inc"
      >();
});

using namespace mlir;

namespace pdg {

ShardingRule SeedOp::getShardingRule() { return {}; }
LogicalResult SeedOp::vjp(OpBuilder &, Reverse &) { return success(); }
LogicalResult SeedOp::lower(Lowering &lowering) {
  lowering.storeScalar(lowering.call("pdg_seed", {}), getResult());
  return success();
}
LogicalResult SeedOp::evaluate(Evaluation &eval) {
  eval.setResult(0, eval.scalar(eval.seed()));
  return success();
}

/// The words of one element, from the operands' values.
template <class V> static auto wordsOf(V seed, V path, ArrayRef<V> counters, V index) {
  V loops = seed.like(0);
  for (V counter : counters)
    loops = combineValues(loops, counter);
  V key = combineValues(seed, path);
  return randomWords(broadcastLike(key, index), broadcastLike(loops, index), index);
}

/// Rule of both ops: the shape argument.
template <class Op> static FailureOr<Dims> randomDims(Op op, ShapeRule &rule) {
  return rule.shapeArgument(op.getShape(), op.getSizes());
}

/// The position of `index` in the flattened result.
static Value flatIndex(ElementContext &context, ArrayRef<AxisIndex> index) {
  OpBuilder &b = context.b;
  Location loc = context.loc;
  Value flat = arith::ConstantIntOp::create(b, loc, 0, 64);
  auto widen = [&](Value value, Type type) -> Value {
    return value.getType() == type ? value
                                   : vector::BroadcastOp::create(b, loc, type, value).getResult();
  };
  for (auto [axis, position] : llvm::enumerate(index)) {
    Value at = context.materialize(position);
    Type type = isa<VectorType>(at.getType()) ? at.getType() : flat.getType();
    Value size = widen(context.resultDim(axis), type);
    flat = arith::MulIOp::create(b, loc, widen(flat, type), size);
    flat = arith::AddIOp::create(b, loc, flat, widen(at, type));
  }
  return flat;
}

/// Builds `draw(words)` for the element at `index`.
template <class Op, class Fn>
static Value emitRandom(Op op, ElementContext &context, ArrayRef<AxisIndex> index, Fn draw) {
  auto word = [&](Value value) { return Emitted(context.b, context.loc, value, true); };
  Emitted seed = word(context.load(0, {}));
  SmallVector<Emitted> counters;
  for (unsigned i = 0; i < op.getCounters().size(); ++i)
    counters.push_back(word(context.load(1 + i, {})));
  Emitted path = seed.like(static_cast<int64_t>(hashString(op.getPath())));
  Emitted flat = word(flatIndex(context, index));
  return draw(wordsOf<Emitted>(seed, path, counters, flat)).value;
}

/// Fills the result with `draw(words)`.
template <class T, class Op, class Fn>
static LogicalResult evaluateRandom(Op op, Evaluation &eval, Fn draw) {
  using Word = Scalar<uint64_t>;
  auto word = [&](unsigned i) {
    return Word{static_cast<uint64_t>(eval.operand(i).data<int64_t>()[0])};
  };
  SmallVector<Word> counters;
  for (unsigned i = 0; i < op.getCounters().size(); ++i)
    counters.push_back(word(1 + i));
  SmallVector<int64_t> shape(op.getShape());
  unsigned next = 1 + counters.size();
  for (int64_t &size : shape)
    if (ShapedType::isDynamic(size))
      size = eval.operand(next++).template data<int64_t>()[0];
  HostTensor &out = eval.result(0, shape);
  for (int64_t i = 0; i < out.numElements(); ++i)
    out.data<T>()[i] = draw(wordsOf<Word>(word(0), Word{hashString(op.getPath())}, counters,
                                          Word{static_cast<uint64_t>(i)}))
                           .value;
  return success();
}

//===- RandomUniformOp -----------------------------------------------------===//

FailureOr<Dims> RandomUniformOp::dimsOf(Adaptor op, ArrayRef<Dims>, ShapeRule &rule) {
  return randomDims(op, rule);
}
Type RandomUniformOp::elementOf(Adaptor op) { return op.getElement(); }
LogicalResult RandomUniformOp::vjp(OpBuilder &, Reverse &) { return success(); }
ShardingRule RandomUniformOp::getShardingRule() { return {}; }

Value RandomUniformOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  if (getElement().isF64())
    return emitRandom(*this, context, index, [](auto words) { return uniform64(words); });
  return emitRandom(*this, context, index, [](auto words) { return uniform32(words); });
}

LogicalResult RandomUniformOp::evaluate(Evaluation &eval) {
  if (getElement().isF64())
    return evaluateRandom<double>(*this, eval, [](auto words) { return uniform64(words); });
  return evaluateRandom<float>(*this, eval, [](auto words) { return uniform32(words); });
}

//===- RandomNormalOp ------------------------------------------------------===//

FailureOr<Dims> RandomNormalOp::dimsOf(Adaptor op, ArrayRef<Dims>, ShapeRule &rule) {
  return randomDims(op, rule);
}
Type RandomNormalOp::elementOf(Adaptor op) { return op.getElement(); }
LogicalResult RandomNormalOp::vjp(OpBuilder &, Reverse &) { return success(); }
ShardingRule RandomNormalOp::getShardingRule() { return {}; }

Value RandomNormalOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  if (getElement().isF64())
    return emitRandom(*this, context, index, [](auto words) { return normal64(words); });
  return emitRandom(*this, context, index, [](auto words) { return normal32(words); });
}

LogicalResult RandomNormalOp::evaluate(Evaluation &eval) {
  if (getElement().isF64())
    return evaluateRandom<double>(*this, eval, [](auto words) { return normal64(words); });
  return evaluateRandom<float>(*this, eval, [](auto words) { return normal32(words); });
}

} // namespace pdg
