// Built-in functions that draw random numbers, and what an initializer is told.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/builtins.h"
#include "ir/ops/compare.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/elementwise_unary.h"
#include "ir/ops/random.h"
#include "ir/ops/reduction.h"
#include "ir/ops/sorting.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

/// Draws from the standard distribution of `OpTy`; null after an error.
template <class OpTy> static Value drawn(BuiltinCall &call, const ShapeArg &shape, DType type) {
  Emitter &emit = call.emit;
  Value seed = SeedOp::create(emit.b, emit.loc(call.span), emit.scalarType(DType::I64));
  return emit.make<OpTy>(call.span, call.elaborator.drawPath(call.builtin.name),
                         emit.elementOf(type), seed, call.elaborator.counters(), shape.sizes,
                         shape.shape);
}

/// Draws from the standard distribution; then `scale` times it plus `offset`.
template <class OpTy>
static Datum draw(BuiltinCall &call, std::optional<double> scale, std::optional<double> offset) {
  auto shape = call.elaborator.shape(call.args[0]);
  auto type = call.type(3, DType::F32);
  if (!shape || !type || !scale || !offset)
    return Poison();
  if (*type != DType::F32 && *type != DType::F64) {
    Diagnostic &error = call.error(3, "f32 or f64");
    if (call.elaborator.initialized())
      error.withHint("variables of a layer have the type of its argument; convert that: f32(x)");
    return Poison();
  }
  Emitter &emit = call.emit;
  Value value = drawn<OpTy>(call, *shape, *type);
  if (value && *scale != 1)
    value = emit.binary<MulOp>(value, emit.constant(*scale, *type, call.span), call.span);
  if (value && *offset != 0)
    value = emit.binary<AddOp>(value, emit.constant(*offset, *type, call.span), call.span);
  return result(value);
}

/// The number in argument `i`, which must be known when compiling.
static std::optional<double> number(BuiltinCall &call, size_t i, double otherwise) {
  return call.has(i) ? call.elaborator.constantFloat(call.args[i], "this argument")
                     : std::optional(otherwise);
}

static Datum uniform(BuiltinCall &call) {
  auto low = number(call, 1, 0), high = number(call, 2, 1);
  if (!low || !high)
    return Poison();
  if (*low > *high) {
    call.emit
        .error(DiagCode::PD0105, call.args[call.has(1) ? 1 : 2].span,
               absl::StrCat("expected low <= high, found low ", *low, " and high ", *high))
        .withHint("sizes are written as a list: uniform([2, 3], low: 0.0, high: 1.0)");
    return Poison();
  }
  return draw<RandomUniformOp>(call, *high - *low, *low);
}

static Datum normal(BuiltinCall &call) {
  return draw<RandomNormalOp>(call, number(call, 2, 1), number(call, 1, 0));
}

static Datum bernoulli(BuiltinCall &call) {
  auto shape = call.elaborator.shape(call.args[0]);
  auto type = call.type(2, DType::Bool);
  Value p = call.has(1) ? call.floats(1) : call.emit.constant(0.5, DType::F32, call.span);
  if (!shape || !type || !p)
    return Poison();
  Value value = drawn<RandomUniformOp>(call, *shape, Emitter::dtypeOf(p));
  p = value ? call.emit.broadcast(p, *shape, call.span) : Value();
  Value hit = p ? call.emit.make<LtOp>(call.span, value, p) : Value();
  return hit ? result(call.emit.cast(hit, *type, call.span)) : Datum(Poison());
}

static Datum categorical(BuiltinCall &call) {
  Value logits = call.floats(0);
  auto axis = logits ? call.axis(1, Emitter::rankOf(logits), -1) : std::nullopt;
  if (!axis)
    return Poison();
  // The largest of logits + Gumbel noise, -log(-log(u)), has the wanted distribution.
  Emitter &emit = call.emit;
  DType type = Emitter::dtypeOf(logits);
  Value noise = drawn<RandomUniformOp>(call, emit.shapeOf(logits, call.span), type);
  for (int i = 0; noise && i < 2; ++i) {
    noise = emit.make<LogOp>(call.span, noise);
    noise = noise ? emit.make<NegOp>(call.span, noise) : noise;
  }
  Value sum = noise ? emit.make<AddOp>(call.span, logits, noise) : Value();
  return sum ? result(emit.make<ArgMaxOp>(call.span, sum, *axis)) : Datum(Poison());
}

static Datum permutation(BuiltinCall &call) {
  auto shape = call.elaborator.shape(call.args[0]);
  if (!shape)
    return Poison();
  if (shape->shape.size() != 1) {
    call.error(0, "one number");
    return Poison();
  }
  Value key = drawn<RandomUniformOp>(call, *shape, DType::F64);
  return key ? result(call.emit.make<ArgSortOp>(call.span, key, int64_t{0}, false))
             : Datum(Poison());
}

/// The type of the variable that is being initialized; null, with an error, elsewhere.
static RankedTensorType initializedType(BuiltinCall &call) {
  RankedTensorType type = call.elaborator.initialized();
  if (!type)
    // Not an error of the call itself: an initializer that nobody applies is right.
    call.emit
        .error(DiagCode::PD0103, call.span,
               absl::StrCat("expected '", call.builtin.name,
                            "' only in the first value of a variable with a written type"))
        .withHint("write the type: param W: f32[2, 3] = ...");
  return type;
}

static Datum initShape(BuiltinCall &call) {
  RankedTensorType type = initializedType(call);
  if (!type)
    return Poison();
  auto sizes = std::make_shared<Sequence>();
  for (int64_t size : type.getShape())
    sizes->elements.push_back(size);
  return SequencePtr(sizes);
}

static Datum initType(BuiltinCall &call) {
  RankedTensorType type = initializedType(call);
  return type ? Datum(*toDType(type)) : Datum(Poison());
}

ArrayRef<Builtin> randomBuiltins() {
  static const Builtin table[] = {
      {"uniform", "shape, low?, high?, type?", uniform,
       "Random numbers in [low, high), by default [0, 1); f32 unless typed. They depend on the "
       "seed "
       "of the run, the place in the script and the rounds of the loops around it.",
       "let x = uniform([4], low: 2, high: 3)\nprint(count(x >= 2)) # 4"},
      {"normal", "shape, mean?, deviation?, type?", normal,
       "Random numbers with a normal distribution, by default with mean 0 and deviation 1; f32 "
       "unless typed.",
       "print(shape(normal([4, 2]))) # [4, 2]"},
      {"bernoulli", "shape, p?, type?", bernoulli,
       "True with probability p, by default 1/2: whether a uniform number is below p, a number or "
       "a "
       "tensor that fits the shape. Bools unless typed.",
       "print(bernoulli([3], p: 1.0)) # bool[3] [true, true, true]"},
      {"categorical", "logits, axis?", categorical,
       "A random index along an axis, by default the last: i with probability softmax(logits)[i].",
       "print(categorical(tensor([0.0, 1000.0, 0.0]))) # 1"},
      {"permutation", "n", permutation, "The numbers 0, 1, ..., n - 1 in random order; i64.",
       "print(sort(permutation(4))) # i64[4] [0, 1, 2, 3]"},
      {"init_shape", "", initShape,
       "The shape of the variable that is being initialized: for initializers.",
       "block twos() { return full(init_shape(), 2.0) }\n"
       "param w: f32[3] = twos()\nprint(w) # f32[3] [2.0, 2.0, 2.0]"},
      {"init_type", "", initType,
       "The element type of the variable that is being initialized: for initializers.",
       "block twos() { return full(init_shape(), 2.0, type: init_type()) }\n"
       "param w: f64[2] = twos()\nprint(w) # f64[2] [2.0, 2.0]"},
  };
  return table;
}

} // namespace pdg
