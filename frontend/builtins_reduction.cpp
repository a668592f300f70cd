// Built-in functions that fold axes, and those made of them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/builtins_reduction.h"
#include "ir/expr.h"
#include "ir/ops/autodiff.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/elementwise_unary.h"
#include "ir/ops/reduction.h"
#include "ir/ops/shape.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

static std::optional<Reduction> readReduction(BuiltinCall &call) {
  Reduction result;
  result.x = call.tensor(0);
  if (!result.x)
    return std::nullopt;
  auto axes = call.axes(1, Emitter::rankOf(result.x));
  auto keep = call.flag(2, false);
  if (!axes || !keep)
    return std::nullopt;
  result.axes = *axes;
  result.keep = *keep;
  return result;
}

/// The reduction if `fits` holds; else an error that names what is `expected`.
static std::optional<Reduction> checked(BuiltinCall &call, std::optional<Reduction> reduction,
                                        bool fits, const char *expected, const std::string &hint) {
  if (!reduction || fits)
    return reduction;
  Diagnostic &error = call.error(0, expected);
  if (!hint.empty())
    error.withHint(hint);
  return std::nullopt;
}

std::optional<Reduction> readNumbers(BuiltinCall &call, const std::string &hint) {
  auto reduction = readReduction(call);
  bool fits = reduction && isNumberTensor(reduction->x.getType());
  return checked(call, reduction, fits, "a tensor of numbers", hint);
}

std::optional<Reduction> readBools(BuiltinCall &call, const std::string &hint) {
  auto reduction = readReduction(call);
  bool fits = reduction && Emitter::dtypeOf(reduction->x) == DType::Bool;
  return checked(call, reduction, fits, "a tensor of bools", hint);
}

std::optional<Reduction> readFloats(BuiltinCall &call) {
  auto reduction = readNumbers(call);
  if (reduction && isIntTensor(reduction->x.getType()))
    reduction->x = call.emit.cast(reduction->x, DType::F32, call.span);
  return reduction;
}

Value keepAxes(BuiltinCall &call, Value value, Value original, ArrayRef<int64_t> axes) {
  ShapeArg shape;
  for (int64_t axis = 0; axis < Emitter::rankOf(original); ++axis) {
    int64_t size = Emitter::typeOf(original).getDimSize(axis);
    bool isGone = llvm::is_contained(axes, axis);
    shape.shape.push_back(isGone ? 1 : size);
    if (!isGone && ShapedType::isDynamic(size))
      shape.sizes.push_back(call.emit.sizeOf(original, axis, call.span));
  }
  return call.emit.make<ReshapeOp>(call.span, value, shape.sizes, shape.shape);
}

Datum kept(BuiltinCall &call, Value value, const Reduction &reduction) {
  if (!value)
    return Poison();
  return result(reduction.keep ? keepAxes(call, value, reduction.x, reduction.axes) : value);
}

Value sumOfAxes(BuiltinCall &call, const Reduction &reduction) {
  return sumOver(call.emit.b, call.emit.loc(call.span), reduction.x, reduction.axes,
                 reduction.keep);
}

Value meanOfAxes(BuiltinCall &call, const Reduction &reduction) {
  Value number = call.emit.countOf(reduction.x, reduction.axes, call.span);
  number = call.emit.cast(number, Emitter::dtypeOf(reduction.x), call.span);
  Value total = sumOfAxes(call, reduction);
  return number ? call.emit.binary<DivOp>(total, number, call.span) : Value();
}

static Datum sum(BuiltinCall &call) {
  auto reduction = readNumbers(call, "the number of bools that hold is count(x)");
  if (!reduction)
    return Poison();
  // Sums of small integers soon leave their type.
  if (isIntTensor(reduction->x.getType()))
    reduction->x = call.emit.cast(reduction->x, DType::I64, call.span);
  return sumOfAxes(call, *reduction);
}

static Datum count(BuiltinCall &call) {
  auto reduction = readBools(call, "compare it: count(x > 0)");
  if (!reduction)
    return Poison();
  reduction->x = call.emit.cast(reduction->x, DType::I64, call.span);
  return sumOfAxes(call, *reduction);
}

static Datum mean(BuiltinCall &call) {
  auto reduction = readFloats(call);
  return reduction ? result(meanOfAxes(call, *reduction)) : Datum(Poison());
}

template <class OpTy> static Datum extremum(BuiltinCall &call) {
  auto reduction = readNumbers(call);
  if (!reduction)
    return Poison();
  Value value = reduction->x;
  for (int64_t axis : llvm::reverse(reduction->axes))
    if (!(value = call.emit.make<OpTy>(call.span, value, axis)))
      return Poison();
  return kept(call, value, *reduction);
}

template <class OpTy> static Datum position(BuiltinCall &call) {
  Value x = call.tensor(0);
  if (!x)
    return Poison();
  int64_t rank = Emitter::rankOf(x);
  if (!call.has(1) && rank != 1) {
    call.emit.error(DiagCode::PD0105, call.span,
                    absl::StrCat("'", call.builtin.name, "' of a tensor with ", rank,
                                 " axes lacks its argument 'axis'"));
    return Poison();
  }
  auto axis = call.axis(1, rank, 0);
  if (!axis)
    return Poison();
  if (!isNumberTensor(x.getType())) {
    call.error(0, "a tensor of numbers");
    return Poison();
  }
  return result(call.emit.make<OpTy>(call.span, x, *axis));
}

//===- Softmax -------------------------------------------------------------===//

/// x minus its maximum along the axis, through which nothing flows back; null after an error.
static Value shifted(BuiltinCall &call, int64_t &axis) {
  Value x = call.floats(0);
  auto wanted = x ? call.axis(1, Emitter::rankOf(x), -1) : std::nullopt;
  if (!wanted)
    return {};
  axis = *wanted;
  Value top = call.emit.make<ReduceMaxOp>(call.span, x, axis);
  top = top ? keepAxes(call, top, x, axis) : top;
  top = top ? call.emit.make<StopGradientOp>(call.span, top) : top;
  return top ? call.emit.binary<SubOp>(x, top, call.span) : top;
}

static Datum softmax(BuiltinCall &call) {
  int64_t axis = 0;
  Value z = shifted(call, axis);
  Value e = z ? call.emit.make<ExpOp>(call.span, z) : Value();
  if (!e)
    return Poison();
  Value total = sumOver(call.emit.b, call.emit.loc(call.span), e, axis, /*keep=*/true);
  return result(call.emit.binary<DivOp>(e, total, call.span));
}

static Datum logSoftmax(BuiltinCall &call) {
  int64_t axis = 0;
  Value z = shifted(call, axis);
  Value e = z ? call.emit.make<ExpOp>(call.span, z) : Value();
  if (!e)
    return Poison();
  Value total = sumOver(call.emit.b, call.emit.loc(call.span), e, axis, /*keep=*/true);
  return result(call.emit.binary<SubOp>(z, call.emit.make<LogOp>(call.span, total), call.span));
}

ArrayRef<Builtin> reductionBuiltins() {
  static const Builtin table[] = {
      {"sum", "x, axis?, keep?", sum,
       "The sum over `axis`, a number or a list; over all axes if it is absent. With keep: true "
       "the "
       "axes stay, with size 1. Integers are summed in i64.",
       "let x = tensor([[1, 2], [3, 4]])\n"
       "print(sum(x)) # 10\n"
       "print(sum(x, axis: 0)) # i64[2] [4, 6]"},
      {"mean", "x, axis?, keep?", mean,
       "The sum divided by the number of elements; of integers in f32. Axes as for sum.",
       "print(mean(tensor([1.0, 2.0, 6.0]))) # 3.0"},
      {"count", "x, axis?, keep?", count, "How many bools hold, an i64. Axes as for sum.",
       "print(count(tensor([1, 5, 7]) > 3)) # 2"},
      {"max", "x, axis?, keep?", extremum<ReduceMaxOp>,
       "The largest element; NaN if one is. Of no elements: -inf, or the lowest integer. All of "
       "the "
       "gradient goes to the first largest element.",
       "print(max(tensor([[1, 9], [3, 4]]), axis: 0)) # i64[2] [3, 9]"},
      {"min", "x, axis?, keep?", extremum<ReduceMinOp>,
       "The smallest element; NaN if one is. Of no elements: inf, or the highest integer. All of "
       "the gradient goes to the first smallest element.",
       "print(min(tensor([[1, 9], [3, 4]]), axis: 0)) # i64[2] [1, 4]"},
      {"argmax", "x, axis?", position<ArgMaxOp>,
       "The index of the largest element along an axis: the least such index, or that of the first "
       "NaN. The axis may be absent for a vector.",
       "print(argmax(tensor([[1.0, 5.0], [3.0, 2.0]]), axis: 1)) # i64[2] [1, 0]"},
      {"argmin", "x, axis?", position<ArgMinOp>,
       "The index of the smallest element along an axis: the least such index, or that of the "
       "first "
       "NaN. The axis may be absent for a vector.",
       "print(argmin(tensor([4, 1, 1]))) # 1"},
      {"softmax", "x, axis?", softmax,
       "e^(x - max(x)) / sum(e^(x - max(x))) along an axis, by default the last.",
       "print(softmax(tensor([1.0, 1.0]))) # f32[2] [0.5, 0.5]"},
      {"log_softmax", "x, axis?", logSoftmax,
       "The logarithm of softmax, without its overflow: x - max(x) - log(sum(e^(x - max(x)))).",
       "print(log_softmax(tensor([0.0, 0.0]))) # f32[2] [-0.6931472, -0.6931472]"},
  };
  return table;
}

} // namespace pdg
