// Built-in elementary functions, roundings, questions about floats, and operations on bits.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/builtins_elementwise.h"
#include "ir/ops/compare.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/elementwise_bits.h"
#include "ir/ops/elementwise_math.h"
#include "ir/ops/elementwise_unary.h"

using namespace mlir;

namespace pdg {

static Float round(Float x) { return roundEven(x); }

//===- Questions -----------------------------------------------------------===//

/// A comparison of the magnitude of floats with infinity.
template <class OpTy, bool (*fold)(double)> static Datum compareToInfinity(BuiltinCall &call) {
  if (call.value(0).isNumber())
    return fold(*call.elaborator.constantFloat(call.args[0], "this number"));
  Value x = call.floats(0);
  Value magnitude = x ? call.emit.make<AbsOp>(call.span, x) : Value();
  if (!magnitude)
    return Poison();
  Value limit = call.emit.constant(INFINITY, Emitter::dtypeOf(x), call.span);
  return result(call.emit.binary<OpTy>(magnitude, limit, call.span));
}

static Datum isNan(BuiltinCall &call) {
  if (call.value(0).isNumber())
    return std::isnan(*call.elaborator.constantFloat(call.args[0], "this number"));
  Value x = call.floats(0);
  return x ? result(call.emit.make<NeOp>(call.span, x, x)) : Datum(Poison());
}

//===- Two operands --------------------------------------------------------===//

static Datum atan2Of(BuiltinCall &call) {
  if (call.value(0).isNumber() && call.value(1).isNumber())
    return atan2(Float{*call.elaborator.constantFloat(call.args[0], "this number")},
                 Float{*call.elaborator.constantFloat(call.args[1], "this number")})
        .value;
  SmallVector<TensorOperand> operands;
  if (!commonOperands(call, 0, operands) || !call.emit.broadcastAll(operands, call.span))
    return Poison();
  if (!isFloatTensor(operands[0].value.getType())) {
    call.error(call.value(0).is<Value>() ? 0 : 1, "a tensor of floats");
    return Poison();
  }
  return result(call.emit.make<Atan2Op>(call.span, operands[0].value, operands[1].value));
}

/// An operation on the bits of integers; `xor` also takes bools.
template <class OpTy, bool takesBools = false> static Datum bitFunction(BuiltinCall &call) {
  SmallVector<TensorOperand> operands;
  if (!commonOperands(call, 0, operands) || !call.emit.broadcastAll(operands, call.span))
    return Poison();
  Type type = operands[0].value.getType();
  if (!isIntTensor(type) && !(takesBools && isBoolTensor(type))) {
    Diagnostic &diagnostic = call.error(0, takesBools ? "integers or bools" : "integers");
    if (isBoolTensor(type))
      diagnostic.withHint("bools are joined with 'and', 'or' and 'not'");
    return Poison();
  }
  return result(call.emit.make<OpTy>(call.span, operands[0].value, operands[1].value));
}

static Datum bitNot(BuiltinCall &call) {
  Value x = call.tensor(0);
  if (!x)
    return Poison();
  if (isIntTensor(x.getType()))
    return result(call.emit.make<BitNotOp>(call.span, x));
  call.error(0, "integers");
  return Poison();
}

ArrayRef<Builtin> mathBuiltins() {
  static const Builtin table[] = {
      PDG_FLOAT_FUNCTION(log1p, Log1pOp, "log(1 + x), precise near 0; -inf at -1, NaN below.",
                         "print(log1p(tensor([0.0, 1e-8]))) # f32[2] [0.0, 1e-08]"),
      PDG_FLOAT_FUNCTION(expm1, Expm1Op, "e^x - 1, precise near 0.",
                         "print(expm1(tensor([0.0, 1e-8]))) # f32[2] [0.0, 1e-08]"),
      PDG_FLOAT_FUNCTION(log2, Log2Op, "The logarithm for base 2: exact for powers of 2.",
                         "print(log2(tensor([1.0, 8.0]))) # f32[2] [0.0, 3.0]"),
      PDG_FLOAT_FUNCTION(log10, Log10Op, "The logarithm for base 10: exact for powers of 10.",
                         "print(log10(tensor([1.0, 1000.0]))) # f32[2] [0.0, 3.0]"),
      PDG_FLOAT_FUNCTION(exp2, Exp2Op, "2 to the power x: exact for whole numbers.",
                         "print(exp2(tensor([0.0, 10.0]))) # f32[2] [1.0, 1024.0]"),
      PDG_FLOAT_FUNCTION(tan, TanOp, "The tangent of x radians.",
                         "print(tan(tensor([0.0, 1.0]))) # f32[2] [0.0, 1.5574077]"),
      PDG_FLOAT_FUNCTION(asin, AsinOp, "The arc sine in [-pi/2, pi/2]; NaN beyond 1.",
                         "print(asin(tensor([0.0, 1.0]))) # f32[2] [0.0, 1.5707964]"),
      PDG_FLOAT_FUNCTION(acos, AcosOp, "The arc cosine in [0, pi]; NaN beyond 1.",
                         "print(acos(tensor([1.0, -1.0]))) # f32[2] [0.0, 3.1415927]"),
      PDG_FLOAT_FUNCTION(atan, AtanOp, "The arc tangent in [-pi/2, pi/2].",
                         "print(atan(tensor([0.0, 1.0]))) # f32[2] [0.0, 0.7853982]"),
      {"atan2", "y, x", atan2Of, "The angle of the point (x, y) in [-pi, pi], with the sign of y.",
       "print(atan2(tensor([1.0]), tensor([-1.0]))) # f32[1] [2.3561945]"},
      PDG_FLOAT_FUNCTION(sinh, SinhOp, "The hyperbolic sine, (e^x - e^-x) / 2.",
                         "print(sinh(tensor([0.0, 1.0]))) # f32[2] [0.0, 1.1752012]"),
      PDG_FLOAT_FUNCTION(cosh, CoshOp, "The hyperbolic cosine, (e^x + e^-x) / 2.",
                         "print(cosh(tensor([0.0, 1.0]))) # f32[2] [1.0, 1.5430807]"),
      PDG_FLOAT_FUNCTION(asinh, AsinhOp, "The inverse of sinh.",
                         "print(asinh(tensor([0.0, 1.0]))) # f32[2] [0.0, 0.8813736]"),
      PDG_FLOAT_FUNCTION(acosh, AcoshOp, "The inverse of cosh; NaN below 1.",
                         "print(acosh(tensor([1.0, 2.0]))) # f32[2] [0.0, 1.316958]"),
      PDG_FLOAT_FUNCTION(atanh, AtanhOp, "The inverse of tanh; NaN beyond 1.",
                         "print(atanh(tensor([0.0, 0.5]))) # f32[2] [0.0, 0.54930615]"),
      PDG_FLOAT_FUNCTION(round, RoundOp, "The nearest whole number, halves to the even one.",
                         "print(round(tensor([0.5, 1.5, -1.7]))) # f32[3] [0.0, 2.0, -2.0]"),
      PDG_FLOAT_FUNCTION(trunc, TruncOp, "x without its fraction: towards zero.",
                         "print(trunc(tensor([1.7, -1.7]))) # f32[2] [1.0, -1.0]"),
      {"is_nan", "x", isNan, "Where x is NaN, as bools.",
       "let x = tensor([1.0, 0.0])\nprint(is_nan(x / x)) # bool[2] [false, true]"},
      {"is_inf", "x", compareToInfinity<EqOp, [](double x) { return std::isinf(x); }>,
       "Where x is inf or -inf, as bools.",
       "print(is_inf(1 / tensor([1.0, 0.0]))) # bool[2] [false, true]"},
      {"is_finite", "x", compareToInfinity<LtOp, [](double x) { return std::isfinite(x); }>,
       "Where x is neither infinite nor NaN, as bools.",
       "print(is_finite(1 / tensor([1.0, 0.0]))) # bool[2] [true, false]"},
  };
  return table;
}

ArrayRef<Builtin> bitBuiltins() {
  static const Builtin table[] = {
      {"xor", "x, y", bitFunction<XorOp, true>,
       "Where exactly one of two bools holds; of integers bit by bit.",
       "print(xor(tensor([true, true]), tensor([true, false]))) # bool[2] [false, true]"},
      {"bit_and", "x, y", bitFunction<BitAndOp>, "The bits that are set in both integers.",
       "print(bit_and(tensor([6]), 3)) # i64[1] [2]"},
      {"bit_or", "x, y", bitFunction<BitOrOp>, "The bits that are set in one of two integers.",
       "print(bit_or(tensor([6]), 3)) # i64[1] [7]"},
      {"bit_not", "x", bitNot, "All bits of integers inverted: -1 - x for signed ones.",
       "print(bit_not(tensor([0, 5]))) # i64[2] [-1, -6]"},
      {"shift_left", "x, count", bitFunction<ShiftLeftOp>,
       "x * 2^count of integers, wrapping; 0 if the count is not in [0, width).",
       "print(shift_left(tensor([3]), 4)) # i64[1] [48]"},
      {"shift_right", "x, count", bitFunction<ShiftRightOp>,
       "x // 2^count of integers; if the count is not in [0, width), -1 of negative ones, else 0.",
       "print(shift_right(tensor([48, -1]), 4)) # i64[2] [3, -1]"},
  };
  return table;
}

} // namespace pdg
