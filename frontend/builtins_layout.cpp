// Built-in functions that join, cut, repeat and turn tensors.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/builtins.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/layout.h"
#include "ir/ops/shape.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

/// Paddings, steps and counts are at most this, so that sizes do not overflow.
static constexpr int64_t MaxCount = int64_t{1} << 30;

/// A whole number in [low, MaxCount] that is known when compiling; an error at `span` otherwise.
static std::optional<int64_t> countIn(BuiltinCall &call, const Datum &value, Span span, int64_t low,
                                      const std::string &what) {
  auto known = call.elaborator.constantInt({value, span}, what);
  if (!known || (*known >= low && *known <= MaxCount))
    return known;
  call.emit.error(
      DiagCode::PD0111, span,
      absl::StrCat("expected ", low, " to ", MaxCount, " for ", what, ", found ", *known));
  return std::nullopt;
}

/// The elements of a list argument, or the argument itself.
static std::vector<Datum> elementsOf(BuiltinCall &call, size_t i) {
  if (auto *sequence = call.value(i).get<SequencePtr>())
    return (*sequence)->elements;
  return {call.value(i)};
}

/// `x` in another shape with as many elements; null after an error.
static Value reshaped(BuiltinCall &call, Value x, ArrayRef<int64_t> shape,
                      ArrayRef<Value> sizes = {}) {
  return call.emit.make<ReshapeOp>(call.span, x, ValueRange(sizes), shape);
}

//===- Joining -------------------------------------------------------------===//

/// The tensors of a list, numbers included, as one element type; empty after an error.
static SmallVector<Value> tensorsOf(BuiltinCall &call) {
  auto *sequence = call.value(0).get<SequencePtr>();
  if (!sequence || (*sequence)->elements.empty()) {
    call.error(0, "a list of tensors")
        .withHint(absl::StrCat("write ", call.builtin.name, "([a, b])"));
    return {};
  }
  std::vector<Operand> operands;
  for (const Datum &each : (*sequence)->elements)
    operands.push_back({call.elaborator.readAll(each, call.args[0].span), call.args[0].span});
  auto type = call.elaborator.commonType(operands, /*isDivision=*/false, call.span);
  SmallVector<Value> result;
  for (const Operand &operand : operands) {
    Value value = type ? call.elaborator.tensorOf(operand, *type) : Value();
    if (!value)
      return {};
    result.push_back(value);
  }
  return result;
}

/// Joins tensors along an axis, neighbours first, so that each element moves a few times only.
static Value joined(BuiltinCall &call, ArrayRef<Value> parts, int64_t axis) {
  if (parts.size() == 1)
    return parts.front();
  Value left = joined(call, parts.take_front(parts.size() / 2), axis);
  Value right = left ? joined(call, parts.drop_front(parts.size() / 2), axis) : Value();
  return right ? call.emit.make<ConcatOp>(call.span, left, right, axis) : Value();
}

static Datum concat(BuiltinCall &call) {
  SmallVector<Value> parts = tensorsOf(call);
  auto axis = parts.empty() ? std::nullopt : call.axis(1, Emitter::rankOf(parts[0]), 0);
  return axis ? result(joined(call, parts, *axis)) : Datum(Poison());
}

static Datum stack(BuiltinCall &call) {
  SmallVector<Value> parts = tensorsOf(call);
  auto axis = parts.empty() ? std::nullopt : call.axis(1, Emitter::rankOf(parts[0]) + 1, 0);
  if (!axis)
    return Poison();
  for (Value &part : parts) {
    if (Emitter::rankOf(part) < *axis) {
      call.emit.error(DiagCode::PD0101, call.args[0].span,
                      absl::StrCat("'stack' expects tensors of equal shapes, found ",
                                   call.emit.typeText(parts[0]), " and ",
                                   call.emit.typeText(part)));
      return Poison();
    }
    ShapeArg shape = call.emit.shapeOf(part, call.span);
    shape.shape.insert(shape.shape.begin() + *axis, 1);
    if (!(part = reshaped(call, part, shape.shape, shape.sizes)))
      return Poison();
  }
  return result(joined(call, parts, *axis));
}

/// Zeros, or `value`, in the sizes of `x` but with `size` along `axis`.
static Value border(BuiltinCall &call, Value x, int64_t axis, int64_t size, Value value) {
  ShapeArg shape = call.emit.shapeOf(x, call.span);
  if (ShapedType::isDynamic(shape.shape[axis])) {
    int64_t before = llvm::count_if(ArrayRef(shape.shape).take_front(axis), ShapedType::isDynamic);
    shape.sizes.erase(shape.sizes.begin() + before);
  }
  shape.shape[axis] = size;
  return call.emit.broadcast(value, shape, call.span);
}

static Datum pad(BuiltinCall &call) {
  Value x = call.tensor(0);
  auto axis = x ? call.axis(1, Emitter::rankOf(x), 0) : std::nullopt;
  auto before = call.integer(2, 0), after = call.integer(3, 0);
  if (!axis || !before || !after)
    return Poison();
  if (*before < 0 || *after < 0 || *before > MaxCount || *after > MaxCount) {
    call.emit.error(DiagCode::PD0111, call.span,
                    absl::StrCat("expected a padding of 0 to ", MaxCount, ", found ", *before,
                                 " and ", *after));
    return Poison();
  }
  if (!call.has(4))
    return result(call.emit.make<PadOp>(call.span, x, *axis, *before, *after));
  Value value = call.elaborator.tensorOf(call.args[4], Emitter::dtypeOf(x));
  if (value && Emitter::rankOf(value) != 0) {
    call.error(4, "one number");
    return Poison();
  }
  if (!value)
    return Poison();
  SmallVector<Value> parts{border(call, x, *axis, *before, value), x,
                           border(call, x, *axis, *after, value)};
  return parts[0] && parts[2] ? result(joined(call, parts, *axis)) : Datum(Poison());
}

//===- Cutting -------------------------------------------------------------===//

/// A bound of a slice in positions from the start; negative ones count from the end.
static std::optional<int64_t> bound(BuiltinCall &call, size_t i, std::optional<int64_t> size,
                                    int64_t otherwise) {
  if (!call.has(i))
    return otherwise;
  auto known = call.integer(i, 0);
  if (!known)
    return std::nullopt;
  int64_t at = *known < 0 && size ? *known + *size : *known;
  if (at >= 0 && at <= (size ? *size : MaxCount))
    return at;
  call.emit.error(
      DiagCode::PD0111, call.args[i].span,
      size ? absl::StrCat("expected a position from ", -*size, " to ", *size, ", found ", *known)
           : absl::StrCat("expected a position of at least 0 in an axis whose size "
                          "only the run knows, found ",
                          *known));
  return std::nullopt;
}

static Datum slice(BuiltinCall &call) {
  Value x = call.tensor(0);
  auto axis = x ? call.axis(1, Emitter::rankOf(x), 0) : std::nullopt;
  auto step = call.integer(4, 1);
  if (!axis || !step)
    return Poison();
  if (*step == 0 || *step > MaxCount || *step < -MaxCount) {
    call.emit.error(DiagCode::PD0111, call.args[4].span,
                    absl::StrCat("expected a step that is not 0, found ", *step));
    return Poison();
  }
  auto size = knownSize(call.emit.shapes.dimsOf(x)[*axis]);
  bool isBack = *step < 0;
  if (isBack && !size && (call.has(2) || call.has(3))) {
    call.emit.error(DiagCode::PD0103, call.span,
                    "a slice with a negative step of an axis whose size only the run knows takes "
                    "the whole axis");
    return Poison();
  }
  int64_t length = size.value_or(0);
  auto begin = bound(call, 2, size, isBack ? length - 1 : 0);
  auto end = bound(call, 3, size, isBack ? -1 : -2);
  if (!begin || !end)
    return Poison();
  // Backwards: forwards in the reversed axis.
  if (isBack) {
    x = call.emit.make<FlipOp>(call.span, x, *axis);
    *begin = size ? std::max<int64_t>(length - 1 - *begin, 0) : 0;
    *end = size ? length - 1 - *end : -2;
  }
  int64_t stride = std::abs(*step), count = -1;
  if (*end != -2)
    count = *end > *begin ? (*end - *begin + stride - 1) / stride : 0;
  return x ? result(call.emit.make<SliceOp>(call.span, x, *axis, *begin, count, stride))
           : Datum(Poison());
}

static Datum flip(BuiltinCall &call) {
  Value x = call.tensor(0);
  auto axes = x ? call.axes(1, Emitter::rankOf(x)) : std::nullopt;
  if (!axes)
    return Poison();
  for (int64_t axis : *axes)
    if (!(x = call.emit.make<FlipOp>(call.span, x, axis)))
      return Poison();
  return x;
}

/// The sizes of the parts into which `size` elements are cut: a number of equal parts, or a list of
/// sizes. Nothing after an error.
static std::optional<SmallVector<int64_t>> partSizes(BuiltinCall &call, int64_t size) {
  constexpr int64_t MaxParts = 1 << 12;
  SmallVector<int64_t> sizes;
  if (!call.value(1).is<SequencePtr>()) {
    auto parts = countIn(call, call.value(1), call.args[1].span, 1, "the number of parts");
    if (!parts)
      return std::nullopt;
    if (size % *parts == 0 && *parts <= MaxParts)
      return SmallVector<int64_t>(*parts, size / *parts);
    call.emit
        .error(DiagCode::PD0111, call.args[1].span,
               *parts > MaxParts
                   ? absl::StrCat("expected at most ", MaxParts, " parts, found ", *parts)
                   : absl::StrCat("an axis of size ", size, " has no ", *parts, " equal parts"))
        .withHint("give the sizes of the parts as a list");
    return std::nullopt;
  }
  int64_t total = 0;
  for (const Datum &each : elementsOf(call, 1)) {
    auto part = countIn(call, each, call.args[1].span, 0, "the size of a part");
    if (!part || sizes.size() == MaxParts)
      return std::nullopt;
    sizes.push_back(*part);
    total += *part;
  }
  if (total == size)
    return sizes;
  call.emit.error(
      DiagCode::PD0111, call.args[1].span,
      absl::StrCat("the sizes of the parts add to ", total, ", the axis has size ", size));
  return std::nullopt;
}

static Datum split(BuiltinCall &call) {
  Value x = call.tensor(0);
  auto axis = x ? call.axis(2, Emitter::rankOf(x), 0) : std::nullopt;
  if (!axis)
    return Poison();
  auto size = knownSize(call.emit.shapes.dimsOf(x)[*axis]);
  if (!size) {
    call.emit.error(DiagCode::PD0103, call.args[0].span,
                    "'split' expects an axis whose size is known when compiling");
    return Poison();
  }
  auto sizes = partSizes(call, *size);
  if (!sizes)
    return Poison();
  auto parts = std::make_shared<Sequence>();
  int64_t begin = 0;
  for (int64_t part : *sizes) {
    Value value = call.emit.make<SliceOp>(call.span, x, *axis, begin, part);
    if (!value)
      return Poison();
    parts->elements.push_back(value);
    begin += part;
  }
  return SequencePtr(parts);
}

//===- Repeating -----------------------------------------------------------===//

/// `x`, each axis k of which is repeated counts[k] times: as a whole, or element by element.
static Value repeated(BuiltinCall &call, Value x, ArrayRef<int64_t> counts, bool asWhole) {
  ShapeArg own = call.emit.shapeOf(x, call.span), wide, flat;
  SmallVector<int64_t> apart;
  size_t next = 0;
  for (auto [size, count] : llvm::zip(own.shape, counts)) {
    Value dynamic = ShapedType::isDynamic(size) ? own.sizes[next++] : Value();
    for (bool isCount : {asWhole, !asWhole}) {
      apart.push_back(isCount ? 1 : size);
      wide.shape.push_back(isCount ? count : size);
      if (!isCount && dynamic)
        wide.sizes.push_back(dynamic);
    }
    flat.shape.push_back(dynamic ? ShapedType::kDynamic : size * count);
    if (dynamic) {
      Value factor = call.emit.constant(count, DType::I64, call.span);
      flat.sizes.push_back(call.emit.make<MulOp>(call.span, dynamic, factor));
    }
  }
  Value spread = reshaped(call, x, apart, own.sizes);
  spread = spread ? call.emit.broadcast(spread, wide, call.span) : spread;
  return spread ? reshaped(call, spread, flat.shape, flat.sizes) : spread;
}

/// True if repeating leads to a tensor that fits into memory.
static bool fits(BuiltinCall &call, Value x, ArrayRef<int64_t> counts) {
  SmallVector<int64_t> shape;
  for (auto [size, count] : llvm::zip(Emitter::typeOf(x).getShape(), counts)) {
    int64_t product = 0;
    if (llvm::MulOverflow(ShapedType::isDynamic(size) ? int64_t{1} : size, count, product))
      product = INT64_MAX;
    shape.push_back(product);
  }
  if (!isTooManyElements(shape))
    return true;
  call.emit.error(DiagCode::PD0101, call.span, "the result has more elements than memory");
  return false;
}

static Datum tile(BuiltinCall &call) {
  Value x = call.tensor(0);
  if (!x)
    return Poison();
  SmallVector<int64_t> counts;
  for (const Datum &each : elementsOf(call, 1)) {
    auto count = countIn(call, each, call.args[1].span, 0, "a count of 'tile'");
    if (!count)
      return Poison();
    counts.push_back(*count);
  }
  // As NumPy: counts belong to the last axes, and missing axes are put in front.
  int64_t rank = Emitter::rankOf(x), missing = int64_t(counts.size()) - rank;
  if (missing < 0)
    counts.insert(counts.begin(), -missing, 1);
  ShapeArg shape = call.emit.shapeOf(x, call.span);
  if (missing > 0) {
    shape.shape.insert(shape.shape.begin(), missing, 1);
    if (!(x = reshaped(call, x, shape.shape, shape.sizes)))
      return Poison();
  }
  return fits(call, x, counts) ? result(repeated(call, x, counts, /*asWhole=*/true))
                               : Datum(Poison());
}

static Datum repeat(BuiltinCall &call) {
  Value x = call.tensor(0);
  auto count = countIn(call, call.value(1), call.args[1].span, 0, "the count of 'repeat'");
  int64_t rank = x ? Emitter::rankOf(x) : 0;
  if (!x || !count)
    return Poison();
  if (!call.has(2) && rank != 1) {
    call.emit.error(
        DiagCode::PD0105, call.span,
        absl::StrCat("'repeat' of a tensor with ", rank, " axes lacks its argument 'axis'"));
    return Poison();
  }
  auto axis = call.axis(2, rank, 0);
  if (!axis)
    return Poison();
  SmallVector<int64_t> counts(rank, 1);
  counts[*axis] = *count;
  return fits(call, x, counts) ? result(repeated(call, x, counts, /*asWhole=*/false))
                               : Datum(Poison());
}

ArrayRef<Builtin> layoutBuiltins() {
  static const Builtin table[] = {
      {"concat", "list, axis?", concat,
       "Tensors one after the other along an axis, by default the first. Their other sizes are "
       "equal.",
       "print(concat([tensor([1, 2]), tensor([3])])) # i64[3] [1, 2, 3]"},
      {"stack", "list, axis?", stack,
       "Tensors of equal shapes side by side along a new axis, by default the first.",
       "print(stack([tensor([1, 2]), tensor([3, 4])]))\n# i64[2, 2]\n# [[1, 2],\n#  [3, 4]]"},
      {"split", "x, parts, axis?", split,
       "A list of the parts of x along an axis, by default the first: a number of equal parts, or "
       "parts of the sizes in a list.",
       "let [a, b] = split(arange(5), [2, 3])\nprint(b) # i64[3] [2, 3, 4]"},
      {"slice", "x, axis, begin?, end?, step?", slice,
       "Every step-th element of an axis from begin to before end. Negative positions count from "
       "the end; a negative step walks backwards, by default through the whole axis.",
       "let x = arange(6)\nprint(slice(x, 0, begin: 1, step: 2)) # i64[3] [1, 3, 5]\n"
       "print(slice(x, 0, step: -2)) # i64[3] [5, 3, 1]\n"
       "print(slice(x, 0, begin: -2)) # i64[2] [4, 5]"},
      {"flip", "x, axis?", flip,
       "The elements in reverse order along an axis, a list of them, or all.",
       "print(flip(tensor([1, 2, 3]))) # i64[3] [3, 2, 1]"},
      {"pad", "x, axis, before?, after?, value?", pad,
       "x with zeros, or copies of a value, before and after along one axis.",
       "print(pad(tensor([1, 2]), 0, before: 1, after: 2)) # i64[5] [0, 1, 2, 0, 0]\n"
       "print(pad(tensor([1, 2]), 0, after: 1, value: 9)) # i64[3] [1, 2, 9]"},
      {"tile", "x, counts", tile,
       "x repeated as a whole, counts[k] times along axis k; fewer counts belong to the last axes.",
       "print(tile(tensor([1, 2]), 2)) # i64[4] [1, 2, 1, 2]"},
      {"repeat", "x, count, axis?", repeat,
       "Each element of an axis repeated `count` times. The axis may be absent for a vector.",
       "print(repeat(tensor([1, 2]), 2)) # i64[4] [1, 1, 2, 2]"},
  };
  return table;
}

} // namespace pdg
