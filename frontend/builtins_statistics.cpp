// Built-in functions that fold axes in several steps: products, quantifiers, deviations, norms.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/builtins_reduction.h"
#include "ir/expr.h"
#include "ir/ops/autodiff.h"
#include "ir/ops/compare.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/elementwise_unary.h"
#include "ir/ops/layout.h"
#include "ir/ops/reduction.h"
#include "ir/ops/scan.h"
#include "ir/ops/shape.h"

using namespace mlir;

namespace pdg {

//===- Products ------------------------------------------------------------===//

/// The product over one axis: the end of the chain of products. Null after an error.
static Value productOverAxis(BuiltinCall &call, Value x, int64_t axis) {
  Emitter &emit = call.emit;
  auto size = knownSize(emit.shapes.dimsOf(x)[axis]);
  ShapeArg shape = emit.shapeOf(x, call.span);
  if (!size) {
    int64_t before = llvm::count_if(ArrayRef(shape.shape).take_front(axis), ShapedType::isDynamic);
    shape.sizes.erase(shape.sizes.begin() + before);
  }
  shape.shape.erase(shape.shape.begin() + axis);
  if (size && *size == 0) {
    DType type = Emitter::dtypeOf(x);
    Value one = isFloat(type) ? emit.constant(1.0, type, call.span)
                              : emit.constant(int64_t{1}, type, call.span);
    return emit.broadcast(one, shape, call.span);
  }
  Value chain = emit.make<CumprodOp>(call.span, x, axis, false, false);
  if (chain && !size)
    chain = emit.make<FlipOp>(call.span, chain, axis);
  Value last =
      chain ? emit.make<SliceOp>(call.span, chain, axis, size ? *size - 1 : int64_t{0}, int64_t{1})
            : Value();
  return last ? emit.make<ReshapeOp>(call.span, last, shape.sizes, shape.shape) : Value();
}

static Datum prod(BuiltinCall &call) {
  auto reduction = readNumbers(call);
  if (!reduction)
    return Poison();
  if (isIntTensor(reduction->x.getType()))
    reduction->x = call.emit.cast(reduction->x, DType::I64, call.span);
  Value value = reduction->x;
  for (int64_t axis : llvm::reverse(reduction->axes))
    if (!(value = productOverAxis(call, value, axis)))
      return Poison();
  return kept(call, value, *reduction);
}

//===- Quantifiers ---------------------------------------------------------===//

/// Whether all of the bools hold, or any.
template <bool isAll> static Datum quantified(BuiltinCall &call) {
  auto reduction = readBools(call, "compare it: all(x > 0)");
  if (!reduction)
    return Poison();
  if (isAll)
    reduction->x = call.emit.make<NotOp>(call.span, reduction->x);
  reduction->x = call.emit.cast(reduction->x, DType::I64, call.span);
  Value number = sumOfAxes(call, *reduction);
  Value zero = call.emit.constant(int64_t{0}, DType::I64, call.span);
  return result(isAll ? call.emit.binary<EqOp>(number, zero, call.span)
                      : call.emit.binary<GtOp>(number, zero, call.span));
}

//===- Deviations ----------------------------------------------------------===//

/// The mean of the squared distances from the mean; null after an error.
static Value varianceOf(BuiltinCall &call) {
  auto reduction = readFloats(call);
  auto correction = call.has(3) ? call.elaborator.constantFloat(call.args[3], "'correction'")
                                : std::optional(0.0);
  if (!reduction || !correction)
    return {};
  Emitter &emit = call.emit;
  Reduction centre = *reduction;
  centre.keep = true;
  Value mean = meanOfAxes(call, centre);
  Value distance = mean ? emit.binary<SubOp>(reduction->x, mean, call.span) : Value();
  Value square = distance ? emit.make<MulOp>(call.span, distance, distance) : Value();
  if (!square)
    return {};
  DType type = Emitter::dtypeOf(square);
  Value number = emit.cast(emit.countOf(reduction->x, reduction->axes, call.span), type, call.span);
  if (number && *correction != 0)
    number = emit.make<SubOp>(call.span, number, emit.constant(*correction, type, call.span));
  reduction->x = square;
  Value total = sumOfAxes(call, *reduction);
  return number ? emit.binary<DivOp>(total, number, call.span) : Value();
}

static Datum variance(BuiltinCall &call) { return result(varianceOf(call)); }

static Datum deviation(BuiltinCall &call) {
  Value square = varianceOf(call);
  return square ? result(call.emit.make<SqrtOp>(call.span, square)) : Datum(Poison());
}

//===- Norms ---------------------------------------------------------------===//

static Datum norm(BuiltinCall &call) {
  auto reduction = readFloats(call);
  auto power =
      call.has(3) ? call.elaborator.constantFloat(call.args[3], "'p'") : std::optional(2.0);
  if (!reduction || !power)
    return Poison();
  if (*power != 1 && *power != 2) {
    call.error(3, "1 or 2");
    return Poison();
  }
  Emitter &emit = call.emit;
  reduction->x = *power == 1 ? emit.make<AbsOp>(call.span, reduction->x)
                             : emit.make<MulOp>(call.span, reduction->x, reduction->x);
  Value total = reduction->x ? sumOfAxes(call, *reduction) : Value();
  if (!total || *power == 1)
    return result(total);
  return result(emit.make<SqrtOp>(call.span, total));
}

static Datum logSumExp(BuiltinCall &call) {
  auto reduction = readFloats(call);
  if (!reduction)
    return Poison();
  Emitter &emit = call.emit;
  Value top = reduction->x;
  for (int64_t axis : llvm::reverse(reduction->axes))
    top = top ? emit.make<ReduceMaxOp>(call.span, top, axis) : top;
  top = top ? emit.make<StopGradientOp>(call.span, top) : top;
  if (!top)
    return Poison();
  // An infinite maximum is not taken away: inf - inf is no number.
  DType type = Emitter::dtypeOf(top);
  ShapeArg shape = emit.shapeOf(top, call.span);
  auto number = [&](double value) {
    return emit.broadcast(emit.constant(value, type, call.span), shape, call.span);
  };
  Value magnitude = emit.make<AbsOp>(call.span, top);
  Value isFinite = emit.make<LtOp>(call.span, magnitude, number(INFINITY));
  top = emit.make<SelectOp>(call.span, isFinite, top, number(0));
  Value distance = emit.binary<SubOp>(
      reduction->x, keepAxes(call, top, reduction->x, reduction->axes), call.span);
  Value power = distance ? emit.make<ExpOp>(call.span, distance) : Value();
  if (!power)
    return Poison();
  Reduction powers = *reduction;
  powers.x = power;
  powers.keep = false;
  Value logarithm = emit.make<LogOp>(call.span, sumOfAxes(call, powers));
  Value sum = logarithm ? emit.make<AddOp>(call.span, logarithm, top) : Value();
  return kept(call, sum, *reduction);
}

ArrayRef<Builtin> statisticsBuiltins() {
  static const Builtin table[] = {
      {"prod", "x, axis?, keep?", prod,
       "The product over axes, as for sum; 1 of no elements. Integers are multiplied in i64. The "
       "gradient is right for zeros too.",
       "print(prod(tensor([2, 3, 4]))) # 24"},
      {"all", "x, axis?, keep?", quantified<true>,
       "Whether all bools hold; true of none. Axes as for sum.",
       "print(all(tensor([1, 5]) > 0)) # true"},
      {"any", "x, axis?, keep?", quantified<false>,
       "Whether one of the bools holds; false of none. Axes as for sum.",
       "print(any(tensor([1, 5]) > 4)) # true"},
      {"variance", "x, axis?, keep?, correction?", variance,
       "sum((x - mean(x))^2) / (n - correction), by default with correction 0. Axes as for sum.",
       "print(variance(tensor([1.0, 3.0]))) # 1.0\n"
       "print(variance(tensor([1.0, 3.0]), correction: 1)) # 2.0"},
      {"std", "x, axis?, keep?, correction?", deviation,
       "The standard deviation, sqrt(variance(x)). Its gradient is not finite where it is 0.",
       "print(std(tensor([1.0, 3.0]))) # 1.0"},
      {"norm", "x, axis?, keep?, p?", norm,
       "sqrt(sum(x * x)), the length of vectors; with p: 1 the sum of magnitudes. Axes as for sum. "
       "The gradient of the length is not finite at 0.",
       "print(norm(tensor([3.0, 4.0]))) # 5.0"},
      {"logsumexp", "x, axis?, keep?", logSumExp,
       "log(sum(e^x)) without overflow: max(x) + log(sum(e^(x - max(x)))). Axes as for sum.",
       "print(logsumexp(tensor([1000.0, 1000.0]))) # 1000.6932"},
  };
  return table;
}

} // namespace pdg
