// Built-in functions that make matrices, or cut parts out of them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/builtins.h"
#include "ir/ops/compare.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/layout.h"
#include "ir/ops/shape.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

/// Where column - row compares with `offset`, for the last two axes of `like`; null after an error.
template <class OpTy>
static Value compareToDiagonal(BuiltinCall &call, const ShapeArg &shape, int64_t offset) {
  int64_t rank = shape.shape.size();
  Type i64 = call.emit.elementOf(DType::I64);
  Value row = call.emit.make<IotaOp>(call.span, i64, rank - 2, shape.sizes, shape.shape);
  Value column = call.emit.make<IotaOp>(call.span, i64, rank - 1, shape.sizes, shape.shape);
  if (!row || !column)
    return {};
  Value distance = call.emit.make<SubOp>(call.span, column, row);
  return call.emit.binary<OpTy>(distance, call.emit.constant(offset, DType::I64, call.span),
                                call.span);
}

template <class OpTy> static Datum triangle(BuiltinCall &call) {
  Value x = call.tensor(0);
  auto diagonal = call.integer(1, 0);
  if (!x || !diagonal)
    return Poison();
  if (Emitter::rankOf(x) < 2) {
    call.error(0, "a matrix");
    return Poison();
  }
  Value stays = compareToDiagonal<OpTy>(call, call.emit.shapeOf(x, call.span), *diagonal);
  Operand zero{int64_t{0}, call.span};
  if (Emitter::dtypeOf(x) == DType::Bool)
    zero.value = false;
  Value other = stays ? call.elaborator.numberConstant(zero, Emitter::dtypeOf(x)) : Value();
  other = other ? call.emit.broadcast(other, call.emit.shapeOf(x, call.span), call.span) : other;
  return other ? result(call.emit.make<SelectOp>(call.span, stays, x, other)) : Datum(Poison());
}

static Datum eye(BuiltinCall &call) {
  auto type = call.type(2, DType::F32);
  auto sizes = std::make_shared<Sequence>();
  sizes->elements = {call.value(0), call.has(1) ? call.value(1) : call.value(0)};
  auto shape = type ? call.elaborator.shape({SequencePtr(sizes), call.args[0].span}) : std::nullopt;
  Value isOne = shape ? compareToDiagonal<EqOp>(call, *shape, 0) : Value();
  return isOne ? result(call.emit.cast(isOne, *type, call.span)) : Datum(Poison());
}

Value diagonalOf(BuiltinCall &call, Value x) {
  int64_t rank = Emitter::rankOf(x), size = Emitter::typeOf(x).getShape().back();
  ShapeArg flat = call.emit.shapeOf(x, call.span);
  flat.shape.pop_back();
  flat.shape.back() = size * size;
  Value rows = call.emit.make<ReshapeOp>(call.span, x, flat.sizes, flat.shape);
  return rows ? call.emit.make<SliceOp>(call.span, rows, rank - 2, int64_t{0}, size, size + 1)
              : Value();
}

static Datum diagonal(BuiltinCall &call) {
  Value x = call.tensor(0);
  if (!x)
    return Poison();
  int64_t rank = Emitter::rankOf(x);
  ArrayRef<int64_t> sizes = Emitter::typeOf(x).getShape();
  if (rank < 2 || ShapedType::isDynamic(sizes[rank - 1]) || sizes[rank - 1] != sizes[rank - 2]) {
    call.error(0, "square matrices of a size that is known when compiling");
    return Poison();
  }
  return result(diagonalOf(call, x));
}

static Datum linspace(BuiltinCall &call) {
  auto low = call.elaborator.constantFloat(call.args[0], "the begin of 'linspace'");
  auto high = call.elaborator.constantFloat(call.args[1], "the end of 'linspace'");
  auto count = call.integer(2, 1);
  auto type = call.type(3, DType::F32);
  if (!low || !high || !count || !type)
    return Poison();
  if (*count < 1 || isTooManyElements({*count})) {
    call.emit.error(DiagCode::PD0111, call.args[2].span,
                    absl::StrCat("expected at least one number, found ", *count));
    return Poison();
  }
  if (!isFloat(*type)) {
    call.error(3, "a type of floats");
    return Poison();
  }
  // In f64, and rounded once; the last number is the end itself.
  Emitter &emit = call.emit;
  auto number = [&](double value) { return emit.constant(value, DType::F64, call.span); };
  Value place = emit.make<IotaOp>(call.span, emit.elementOf(DType::I64), int64_t{0}, ValueRange(),
                                  ArrayRef<int64_t>{*count});
  if (!place)
    return Poison();
  double step = *count > 1 ? (*high - *low) / (*count - 1) : 0;
  Value value =
      emit.binary<MulOp>(emit.cast(place, DType::F64, call.span), number(step), call.span);
  value = emit.binary<AddOp>(value, number(*low), call.span);
  if (*count > 1) {
    Value last = emit.constant(*count - 1, DType::I64, call.span);
    Value isLast = emit.binary<EqOp>(place, last, call.span);
    ShapeArg shape = emit.shapeOf(place, call.span);
    value = emit.make<SelectOp>(call.span, isLast, emit.broadcast(number(*high), shape, call.span),
                                value);
  }
  return result(emit.cast(value, *type, call.span));
}

ArrayRef<Builtin> matrixBuiltins() {
  static const Builtin table[] = {
      {"tril", "x, diagonal?", triangle<LeOp>,
       "Matrices with zeros above a diagonal: x[.., i, j] where j - i <= diagonal, by default 0.",
       "print(tril(ones([2, 2], type: i64)))\n# i64[2, 2]\n# [[1, 0],\n#  [1, 1]]"},
      {"triu", "x, diagonal?", triangle<GeOp>,
       "Matrices with zeros below a diagonal: x[.., i, j] where j - i >= diagonal, by default 0.",
       "print(triu(ones([2, 2], type: i64)))\n# i64[2, 2]\n# [[1, 1],\n#  [0, 1]]"},
      {"eye", "rows, columns?, type?", eye,
       "A matrix with ones on its diagonal and zeros elsewhere; f32 unless typed.",
       "print(eye(2, type: i64))\n# i64[2, 2]\n# [[1, 0],\n#  [0, 1]]"},
      {"diagonal", "x", diagonal, "The diagonals of square matrices, [.., N, N] -> [.., N].",
       "print(diagonal(tensor([[1, 2], [3, 4]]))) # i64[2] [1, 4]"},
      {"linspace", "begin, end, count, type?", linspace,
       "`count` numbers at equal distances from begin to end, both included; f32 unless typed.",
       "print(linspace(0, 1, 5)) # f32[5] [0.0, 0.25, 0.5, 0.75, 1.0]"},
  };
  return table;
}

} // namespace pdg
