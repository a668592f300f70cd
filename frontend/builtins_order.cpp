// Built-in functions that walk an axis in order: cumulative sums, sorting, reading and writing at
// indices. SPDX-License-Identifier: Apache-2.0
#include "frontend/builtins.h"
#include "ir/ops/along.h"
#include "ir/ops/layout.h"
#include "ir/ops/scan.h"
#include "ir/ops/shape.h"
#include "ir/ops/sorting.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

/// The axis in argument `i`, which may be absent for a vector.
static std::optional<int64_t> axisOrOnly(BuiltinCall &call, size_t i, int64_t rank) {
  if (call.has(i) || rank == 1)
    return call.axis(i, rank, 0);
  call.emit.error(DiagCode::PD0105, call.span,
                  absl::StrCat("'", call.builtin.name, "' of a tensor with ", rank,
                               " axes lacks its argument 'axis'"));
  return std::nullopt;
}

/// Argument `i` as a tensor of numbers; null after an error.
static Value numbers(BuiltinCall &call, size_t i) {
  Value x = call.tensor(i);
  if (!x || isNumberTensor(x.getType()))
    return x;
  call.error(i, "a tensor of numbers");
  return {};
}

//===- Scans ---------------------------------------------------------------===//

template <class OpTy> static Datum cumulative(BuiltinCall &call) {
  Value x = numbers(call, 0);
  auto axis = x ? axisOrOnly(call, 1, Emitter::rankOf(x)) : std::nullopt;
  auto exclusive = call.flag(2, false), reverse = call.flag(3, false);
  if (!axis || !exclusive || !reverse)
    return Poison();
  // As sums: small integers soon leave their type.
  if (isIntTensor(x.getType()))
    x = call.emit.cast(x, DType::I64, call.span);
  return result(call.emit.make<OpTy>(call.span, x, *axis, *exclusive, *reverse));
}

static Datum linearScan(BuiltinCall &call) {
  Value a = call.floats(0), b = a ? call.floats(1) : Value();
  if (!b)
    return Poison();
  if (Emitter::dtypeOf(a) != Emitter::dtypeOf(b)) {
    call.emit.error(DiagCode::PD0100, call.span, "the operands have different element types")
        .withSecondary(call.args[0].span, absl::StrCat("this is ", call.emit.typeText(a)))
        .withSecondary(call.args[1].span, absl::StrCat("this is ", call.emit.typeText(b)));
    return Poison();
  }
  TensorOperand operands[] = {{a, call.args[0].span}, {b, call.args[1].span}};
  if (!call.emit.broadcastAll(operands, call.span))
    return Poison();
  auto axis = axisOrOnly(call, 2, Emitter::rankOf(operands[0].value));
  auto reverse = call.flag(3, false);
  if (!axis || !reverse)
    return Poison();
  return result(call.emit.make<LinearScanOp>(call.span, operands[0].value, operands[1].value, *axis,
                                             *reverse));
}

//===- Sorting -------------------------------------------------------------===//

/// The positions of x in sorted order; null after an error. `axis` is what was asked for.
static Value orderOf(BuiltinCall &call, Value x, std::optional<int64_t> axis, bool descending) {
  return x && axis ? call.emit.make<ArgSortOp>(call.span, x, *axis, descending) : Value();
}

static Datum argSort(BuiltinCall &call) {
  Value x = call.tensor(0);
  auto axis = x ? call.axis(1, Emitter::rankOf(x), -1) : std::nullopt;
  auto descending = call.flag(2, false);
  return descending ? result(orderOf(call, x, axis, *descending)) : Datum(Poison());
}

static Datum sort(BuiltinCall &call) {
  Value x = call.tensor(0);
  auto axis = x ? call.axis(1, Emitter::rankOf(x), -1) : std::nullopt;
  auto descending = call.flag(2, false);
  Value order = descending ? orderOf(call, x, axis, *descending) : Value();
  return order ? result(call.emit.make<TakeAlongOp>(call.span, x, order, *axis)) : Datum(Poison());
}

static Datum topK(BuiltinCall &call) {
  Value x = call.tensor(0);
  auto count = call.integer(1, 1);
  auto axis = x ? call.axis(2, Emitter::rankOf(x), -1) : std::nullopt;
  if (!count || !axis)
    return Poison();
  auto size = knownSize(call.emit.shapes.dimsOf(x)[*axis]);
  if (*count < 0 || (size && *count > *size)) {
    call.emit.error(DiagCode::PD0111, call.args[1].span,
                    absl::StrCat("expected a number from 0 to the size of axis ", *axis, " of ",
                                 call.emit.typeText(x), ", found ", *count));
    return Poison();
  }
  Value order = orderOf(call, x, axis, /*descending=*/true);
  Value first =
      order ? call.emit.make<SliceOp>(call.span, order, *axis, int64_t{0}, *count) : Value();
  Value values = first ? call.emit.make<TakeAlongOp>(call.span, x, first, *axis) : Value();
  if (!values)
    return Poison();
  auto both = std::make_shared<Sequence>();
  both->isTuple = true;
  both->elements = {values, first};
  return SequencePtr(both);
}

//===- Indices along an axis -----------------------------------------------===//

/// The indices in argument 1 with the axes of `x`, and its sizes but along `axis`: a vector of them
/// holds for all positions of the other axes. Null after an error.
static Value indicesAlong(BuiltinCall &call, Value x, int64_t axis) {
  auto *list = call.value(1).get<SequencePtr>();
  Value ids = list ? call.elaborator.tensorOfList(call.args[1], std::nullopt) : call.tensor(1);
  if (!ids)
    return {};
  if (!isIntTensor(ids.getType())) {
    call.error(1, "integers");
    return {};
  }
  int64_t rank = Emitter::rankOf(x);
  if (Emitter::rankOf(ids) == 1 && rank > 1) {
    ShapeArg column = call.emit.shapeOf(ids, call.span);
    SmallVector<int64_t> shape(rank, 1);
    shape[axis] = column.shape[0];
    ids = call.emit.make<ReshapeOp>(call.span, ids, column.sizes, shape);
  }
  if (!ids || Emitter::rankOf(ids) != rank) {
    if (ids)
      call.emit.error(DiagCode::PD0101, call.args[1].span,
                      absl::StrCat("expected indices with ", rank, " axes, or one, found ",
                                   call.emit.typeText(ids)));
    return {};
  }
  ShapeArg shape, own = call.emit.shapeOf(ids, call.span);
  size_t next = 0;
  for (int64_t k = 0; k < rank; ++k) {
    bool isDynamic = ShapedType::isDynamic(own.shape[k]);
    Value size = isDynamic ? own.sizes[next++] : Value();
    if (k != axis && own.shape[k] == 1) {
      int64_t wanted = Emitter::typeOf(x).getDimSize(k);
      shape.shape.push_back(wanted);
      if (ShapedType::isDynamic(wanted))
        shape.sizes.push_back(call.emit.sizeOf(x, k, call.span));
      continue;
    }
    shape.shape.push_back(own.shape[k]);
    if (size)
      shape.sizes.push_back(size);
  }
  return call.emit.broadcast(ids, shape, call.span);
}

static Datum gather(BuiltinCall &call) {
  Value x = call.tensor(0);
  auto axis = x ? axisOrOnly(call, 2, Emitter::rankOf(x)) : std::nullopt;
  Value ids = axis ? indicesAlong(call, x, *axis) : Value();
  return ids ? result(call.emit.make<TakeAlongOp>(call.span, x, ids, *axis)) : Datum(Poison());
}

template <class OpTy> static Datum scatter(BuiltinCall &call) {
  bool adds = std::is_same_v<OpTy, AddAlongOp>;
  Value x = adds ? numbers(call, 0) : call.tensor(0);
  auto axis = x ? axisOrOnly(call, 3, Emitter::rankOf(x)) : std::nullopt;
  Value ids = axis ? indicesAlong(call, x, *axis) : Value();
  Value values = ids ? call.elaborator.tensorOf(call.args[2], Emitter::dtypeOf(x)) : Value();
  if (!values)
    return Poison();
  values = call.emit.broadcast(values, call.emit.shapeOf(ids, call.span), call.args[2].span);
  return values ? result(call.emit.make<OpTy>(call.span, x, ids, values, *axis)) : Datum(Poison());
}

ArrayRef<Builtin> orderBuiltins() {
  static const Builtin table[] = {
      {"cumsum", "x, axis?, exclusive?, reverse?", cumulative<CumsumOp>,
       "y[i] = x[0] + .. + x[i] along an axis, added in this order; exclusive: without x[i]; "
       "reverse: from the end. Integers are summed in i64. The axis may be absent for a vector.",
       "print(cumsum(tensor([1, 2, 3]))) # i64[3] [1, 3, 6]\n"
       "print(cumsum(tensor([1, 2, 3]), exclusive: true)) # i64[3] [0, 1, 3]"},
      {"cumprod", "x, axis?, exclusive?, reverse?", cumulative<CumprodOp>,
       "y[i] = x[0] * .. * x[i] along an axis, multiplied in this order; arguments as for cumsum.",
       "print(cumprod(tensor([2, 3, 4]))) # i64[3] [2, 6, 24]"},
      {"linear_scan", "a, b, axis?, reverse?", linearScan,
       "y[i] = a[i] * y[i-1] + b[i] along an axis, from y[0] = b[0]; reverse: from the end. Moving "
       "averages and linear recurrences, with gradients for a and b.",
       "let x = tensor([1.0, 1.0, 1.0])\nprint(linear_scan(0.5, x)) # f32[3] [1.0, 1.5, 1.75]"},
      {"sort", "x, axis?, descending?", sort,
       "The elements in increasing order along an axis, by default the last; NaN comes last in "
       "both directions. The gradient goes to where an element came from.",
       "print(sort(tensor([3, 1, 2]))) # i64[3] [1, 2, 3]\n"
       "print(sort(tensor([3, 1, 2]), descending: true)) # i64[3] [3, 2, 1]"},
      {"argsort", "x, axis?, descending?", argSort,
       "The positions of the elements in sorted order along an axis, by default the last. Equal "
       "elements keep their order; NaN comes last in both directions.",
       "print(argsort(tensor([3, 1, 2]))) # i64[3] [1, 2, 0]"},
      {"top_k", "x, k, axis?", topK,
       "The k largest elements in decreasing order along an axis, by default the last, and their "
       "positions: (values, positions). Of equal elements the first ones; NaN comes last.",
       "let (values, places) = top_k(tensor([3, 9, 5]), 2)\n"
       "print(values) # i64[2] [9, 5]\nprint(places) # i64[2] [1, 2]"},
      {"gather", "x, ids, axis?", gather,
       "y[.., i, ..] = x[.., ids[.., i, ..], ..] along an axis: ids has the sizes of x but for "
       "this "
       "axis. A vector of ids holds for all positions of the other axes. An id out of range stops "
       "the run.",
       "let x = tensor([[1, 2], [3, 4]])\n"
       "print(gather(x, tensor([[1], [0]]), axis: 1))\n# i64[2, 1]\n# [[2],\n#  [3]]"},
      {"scatter", "x, ids, values, axis?", scatter<PutAlongOp>,
       "x with y[.., ids[.., i, ..], ..] = values[.., i, ..] along an axis; the last of several "
       "values for a place stays. Indices as for gather.",
       "print(scatter(zeros([4]), [3, 0], tensor([5.0, 6.0]))) # f32[4] [6.0, 0.0, 0.0, 5.0]"},
      {"scatter_add", "x, ids, values, axis?", scatter<AddAlongOp>,
       "x with values[.., i, ..] added at ids[.., i, ..] along an axis, in the order of i. Indices "
       "as for gather.",
       "print(scatter_add(zeros([3]), [1, 1, 2], 2.0)) # f32[3] [0.0, 4.0, 2.0]"},
  };
  return table;
}

} // namespace pdg
