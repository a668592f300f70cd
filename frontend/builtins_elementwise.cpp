// Built-in functions that work on each element.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/builtins.h"
#include "ir/math/functions.h"
#include "ir/ops/autodiff.h"
#include "ir/ops/compare.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/elementwise_unary.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

using Float = Scalar<double>;

/// A function of floats; of a number that is known when compiling it is a number too.
template <class OpTy, Float (*fold)(Float)> static Datum floatFunction(BuiltinCall &call) {
  if (auto *number = call.value(0).get<double>())
    return fold(Float{*number}).value;
  if (auto *number = call.value(0).get<int64_t>())
    return fold(Float{static_cast<double>(*number)}).value;
  Value x = call.floats(0);
  return x ? result(call.emit.make<OpTy>(call.span, x)) : Datum(Poison());
}

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

/// The operands from `first` on as tensors of one element type and shape; false after an error.
static bool commonOperands(BuiltinCall &call, size_t first, SmallVectorImpl<TensorOperand> &out) {
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

/// Turns a template over values into a function that the table can name.
#define PDG_FLOAT_FUNCTION(name, op)                                                               \
  {#name, "x", floatFunction<op, [](Float x) { return name(x); }>}

ArrayRef<Builtin> elementwiseBuiltins() {
  static const Builtin table[] = {
      PDG_FLOAT_FUNCTION(exp, ExpOp),
      PDG_FLOAT_FUNCTION(log, LogOp),
      PDG_FLOAT_FUNCTION(sqrt, SqrtOp),
      PDG_FLOAT_FUNCTION(rsqrt, RsqrtOp),
      PDG_FLOAT_FUNCTION(tanh, TanhOp),
      PDG_FLOAT_FUNCTION(sigmoid, SigmoidOp),
      PDG_FLOAT_FUNCTION(erf, ErfOp),
      PDG_FLOAT_FUNCTION(sin, SinOp),
      PDG_FLOAT_FUNCTION(cos, CosOp),
      PDG_FLOAT_FUNCTION(floor, FloorOp),
      PDG_FLOAT_FUNCTION(ceil, CeilOp),
      {"relu", "x", numberFunction<ReluOp>},
      {"sign", "x", numberFunction<SignOp>},
      {"abs", "x", absolute},
      {"maximum", "x, y", extremum<MaximumOp>},
      {"minimum", "x, y", extremum<MinimumOp>},
      {"where", "condition, x, y", where},
      {"clip", "x, low, high", clip},
      {"cast", "x, type", castTo},
      {"stop_gradient", "x", stopGradient},
  };
  return table;
}

} // namespace pdg
