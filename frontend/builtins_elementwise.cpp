// Built-in functions that work on each element.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/builtins_elementwise.h"
#include "ir/ops/autodiff.h"
#include "ir/ops/compare.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/elementwise_unary.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

/// A function of numbers of any type.
template <class OpTy> static Datum numberFunction(BuiltinCall &call) {
  Value x = call.tensor(0);
  if (!x)
    return Poison();
  if (isNumberTensor(x.getType()))
    return result(call.emit.make<OpTy>(call.span, x));
  call.error(0, "a tensor of numbers");
  return Poison();
}

static Datum absolute(BuiltinCall &call) {
  if (auto *number = call.value(0).get<double>())
    return std::abs(*number);
  if (auto *number = call.value(0).get<int64_t>(); number && *number > INT64_MIN)
    return *number < 0 ? -*number : *number;
  return numberFunction<AbsOp>(call);
}

//===- Several operands ----------------------------------------------------===//

bool commonOperands(BuiltinCall &call, size_t first, SmallVectorImpl<TensorOperand> &out) {
  std::vector<Operand> operands;
  for (size_t i = first; i < call.args.size(); ++i) {
    operands.push_back(call.args[i]);
    operands.back().value = call.elaborator.readAll(call.value(i), call.args[i].span);
  }
  auto type = call.elaborator.commonType(operands, /*isDivision=*/false, call.span);
  if (!type)
    return false;
  for (Operand &operand : operands) {
    Value value = call.elaborator.tensorOf(operand, *type);
    if (!value)
      return false;
    out.push_back({value, operand.span});
  }
  return true;
}

template <class OpTy> static Datum extremum(BuiltinCall &call) {
  auto *x = call.value(0).get<int64_t>(), *y = call.value(1).get<int64_t>();
  if (x && y)
    return std::is_same_v<OpTy, MaximumOp> ? std::max(*x, *y) : std::min(*x, *y);
  if (call.value(0).isNumber() && call.value(1).isNumber()) {
    auto number = [&](size_t i) { return Float{*call.elaborator.constantFloat(call.args[i], "")}; };
    return std::is_same_v<OpTy, MaximumOp> ? maximum(number(0), number(1)).value
                                           : minimum(number(0), number(1)).value;
  }
  SmallVector<TensorOperand> operands;
  if (!commonOperands(call, 0, operands) || !call.emit.broadcastAll(operands, call.span))
    return Poison();
  return result(call.emit.make<OpTy>(call.span, operands[0].value, operands[1].value));
}

static Datum where(BuiltinCall &call) {
  Value condition = call.tensor(0);
  if (!condition)
    return Poison();
  if (Emitter::dtypeOf(condition) != DType::Bool) {
    call.error(0, "bools").withHint("compare it: x > 0");
    return Poison();
  }
  SmallVector<TensorOperand> operands{{condition, call.args[0].span}};
  if (!commonOperands(call, 1, operands) || !call.emit.broadcastAll(operands, call.span))
    return Poison();
  return result(
      call.emit.make<SelectOp>(call.span, operands[0].value, operands[1].value, operands[2].value));
}

static Datum clip(BuiltinCall &call) {
  SmallVector<TensorOperand> operands;
  if (!commonOperands(call, 0, operands) || !call.emit.broadcastAll(operands, call.span))
    return Poison();
  Value low = call.emit.make<MaximumOp>(call.span, operands[0].value, operands[1].value);
  return low ? result(call.emit.make<MinimumOp>(call.span, low, operands[2].value))
             : Datum(Poison());
}

static Datum castTo(BuiltinCall &call) {
  auto type = call.type(1, DType::F32);
  if (type && call.value(0).isNumber() && isFloat(*type)) // rounds once
    return result(call.elaborator.numberConstant(call.args[0], *type));
  Value x = type ? call.tensor(0) : Value();
  return x ? result(call.emit.cast(x, *type, call.span)) : Datum(Poison());
}

static Datum stopGradient(BuiltinCall &call) {
  Value x = call.tensor(0);
  return x ? result(call.emit.make<StopGradientOp>(call.span, x)) : Datum(Poison());
}

ArrayRef<Builtin> elementwiseBuiltins() {
  static const Builtin table[] = {
      PDG_FLOAT_FUNCTION(exp, ExpOp, "e to the power x, for each element.",
                         "print(exp(tensor([0.0, 1.0]))) # f32[2] [1.0, 2.7182817]"),
      PDG_FLOAT_FUNCTION(log, LogOp, "The natural logarithm; -inf of 0, NaN below.",
                         "print(log(tensor([1.0, 10.0]))) # f32[2] [0.0, 2.3025851]"),
      PDG_FLOAT_FUNCTION(sqrt, SqrtOp, "The square root, rounded once; NaN below 0.",
                         "print(sqrt(tensor([4.0, 2.0]))) # f32[2] [2.0, 1.4142135]"),
      PDG_FLOAT_FUNCTION(rsqrt, RsqrtOp, "1 / sqrt(x).",
                         "print(rsqrt(tensor([4.0]))) # f32[1] [0.5]"),
      PDG_FLOAT_FUNCTION(tanh, TanhOp, "The hyperbolic tangent, (e^x - e^-x) / (e^x + e^-x).",
                         "print(tanh(tensor([0.0, 1.0]))) # f32[2] [0.0, 0.7615942]"),
      PDG_FLOAT_FUNCTION(sigmoid, SigmoidOp, "1 / (1 + e^-x).",
                         "print(sigmoid(tensor([0.0, 2.0]))) # f32[2] [0.5, 0.880797]"),
      PDG_FLOAT_FUNCTION(erf, ErfOp,
                         "The error function: 2 / sqrt(pi) times the integral of e^(-t^2) over "
                         "[0, x].",
                         "print(erf(tensor([0.0, 1.0]))) # f32[2] [0.0, 0.84270084]"),
      PDG_FLOAT_FUNCTION(sin, SinOp, "The sine of x radians.",
                         "print(sin(tensor([0.0, 1.0]))) # f32[2] [0.0, 0.84147096]"),
      PDG_FLOAT_FUNCTION(cos, CosOp, "The cosine of x radians.",
                         "print(cos(tensor([0.0, 1.0]))) # f32[2] [1.0, 0.5403023]"),
      PDG_FLOAT_FUNCTION(floor, FloorOp, "The largest whole number that is not above x.",
                         "print(floor(tensor([1.5, -1.5]))) # f32[2] [1.0, -2.0]"),
      PDG_FLOAT_FUNCTION(ceil, CeilOp, "The smallest whole number that is not below x.",
                         "print(ceil(tensor([1.5, -1.5]))) # f32[2] [2.0, -1.0]"),
      {"relu", "x", numberFunction<ReluOp>, "maximum(x, 0); the gradient at 0 is 0.",
       "print(relu(tensor([-1.0, 2.0]))) # f32[2] [0.0, 2.0]"},
      {"sign", "x", numberFunction<SignOp>, "-1, 0 or 1 by the sign of x; NaN stays NaN.",
       "print(sign(tensor([-3, 0, 5]))) # i64[3] [-1, 0, 1]"},
      {"abs", "x", absolute, "The magnitude; the gradient at 0 is 0.",
       "print(abs(tensor([-3, 4]))) # i64[2] [3, 4]"},
      {"maximum", "x, y", extremum<MaximumOp>,
       "The larger of each two elements; NaN if one is. At a tie the gradient goes to x.",
       "print(maximum(tensor([1, 5]), 3)) # i64[2] [3, 5]"},
      {"minimum", "x, y", extremum<MinimumOp>,
       "The smaller of each two elements; NaN if one is. At a tie the gradient goes to x.",
       "print(minimum(tensor([1, 5]), 3)) # i64[2] [1, 3]"},
      {"where", "condition, x, y", where,
       "The element of x where the condition holds, else that of y. Shapes are broadcast.",
       "let x = tensor([1, -2, 3])\nprint(where(x > 0, x, 0)) # i64[3] [1, 0, 3]"},
      {"clip", "x, low, high", clip,
       "minimum(maximum(x, low), high). The gradient passes where low <= x <= high.",
       "print(clip(tensor([-5, 0, 5]), -1, 1)) # i64[3] [-1, 0, 1]"},
      {"cast", "x, type", castTo,
       "x with another element type, as type(x): floats become integers towards zero, integers "
       "drop high bits.",
       "print(cast(tensor([1.9, -1.9]), i64)) # i64[2] [1, -1]"},
      {"stop_gradient", "x", stopGradient, "x, through which no gradient flows.",
       "let x = tensor([2.0])\n"
       "print(grad(sum(x * stop_gradient(x)), x)) # f32[1] [2.0]"},
  };
  return table;
}

} // namespace pdg
