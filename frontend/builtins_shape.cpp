// Built-in functions about shapes, and those that make or move elements.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/builtins.h"
#include "ir/ops/compare.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/indexing.h"
#include "ir/ops/layout.h"
#include "ir/ops/shape.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

//===- Questions -----------------------------------------------------------===//

/// The type of a tensor or variable without reading it; null, with an error, for other things.
static RankedTensorType typeOfArg(BuiltinCall &call, size_t i) {
  if (auto *variable = call.value(i).get<Variable *>())
    return (*variable)->type;
  Value value = call.tensor(i);
  return value ? Emitter::typeOf(value) : RankedTensorType();
}

static Datum sizeDatum(BuiltinCall &call, size_t i, int64_t axis) {
  int64_t size = typeOfArg(call, i).getDimSize(axis);
  if (!ShapedType::isDynamic(size))
    return size;
  return result(call.emit.sizeOf(*call.value(i).get<Value>(), axis, call.span));
}

static Datum shapeOf(BuiltinCall &call) {
  RankedTensorType type = typeOfArg(call, 0);
  if (!type)
    return Poison();
  auto sizes = std::make_shared<Sequence>();
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    sizes->elements.push_back(sizeDatum(call, 0, axis));
  return SequencePtr(sizes);
}

static Datum sizeOf(BuiltinCall &call) {
  RankedTensorType type = typeOfArg(call, 0);
  if (!type)
    return Poison();
  if (call.has(1)) {
    auto axis = call.axis(1, type.getRank(), 0);
    return axis ? sizeDatum(call, 0, *axis) : Datum(Poison());
  }
  if (type.hasStaticShape())
    return type.getNumElements();
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return result(call.emit.countOf(*call.value(0).get<Value>(), axes, call.span));
}

static Datum rank(BuiltinCall &call) {
  RankedTensorType type = typeOfArg(call, 0);
  return type ? Datum(type.getRank()) : Datum(Poison());
}

static Datum elementTypeOf(BuiltinCall &call) {
  RankedTensorType type = typeOfArg(call, 0);
  return type ? Datum(*toDType(type)) : Datum(Poison());
}

static Datum length(BuiltinCall &call) {
  if (auto *sequence = call.value(0).get<SequencePtr>())
    return static_cast<int64_t>((*sequence)->elements.size());
  Diagnostic &error = call.error(0, "a list");
  if (call.value(0).is<const Source *>())
    error.withHint("the number of examples is d.size, that of the batches d.batches");
  else
    error.withHint("the size of the first axis of a tensor is size(x, 0)");
  return Poison();
}

static Datum product(BuiltinCall &call) {
  auto *sequence = call.value(0).get<SequencePtr>();
  if (!sequence) {
    call.error(0, "a list of numbers");
    return Poison();
  }
  Datum total = int64_t{1};
  for (const Datum &each : (*sequence)->elements)
    total = call.elaborator.binary(BinaryOp::Mul, {total, call.args[0].span},
                                   {each, call.args[0].span}, call.span);
  return total;
}

//===- Other shapes --------------------------------------------------------===//

/// The size that stands for -1 if it can be told when compiling: sizes of the run cancel against
/// those of x, and one that is left may be the answer. Null if it cannot.
static Value cancelledSize(BuiltinCall &call, Value x, const ShapeArg &shape, size_t wildcard) {
  Emitter &emit = call.emit;
  Dims left = emit.shapes.dimsOf(x);
  int64_t others = 1, total = 1;
  bool overflow = false;
  size_t next = 0;
  for (auto [i, size] : llvm::enumerate(shape.shape)) {
    if (i == wildcard)
      continue;
    if (!ShapedType::isDynamic(size)) {
      overflow |= llvm::MulOverflow(others, size, others);
      continue;
    }
    auto same = llvm::find(left, emit.shapes.valueOf(shape.sizes[next++]));
    if (same == left.end())
      return {};
    *same = emit.b.getAffineConstantExpr(1);
  }
  std::optional<int64_t> open; // The axis of x whose size only the run knows.
  for (auto [axis, size] : llvm::enumerate(left)) {
    if (auto known = knownSize(size))
      overflow |= llvm::MulOverflow(total, *known, total);
    else if (open)
      return {};
    else
      open = axis;
  }
  if (overflow || others == 0 || total % others != 0 || (open && total != others))
    return {};
  return open ? emit.sizeOf(x, *open, call.span)
              : emit.constant(total / others, DType::I64, call.span);
}

/// The size that stands for -1 in a reshape: what is left of the elements.
static Value remainingSize(BuiltinCall &call, Value x, ShapeArg &shape, size_t wildcard) {
  Emitter &emit = call.emit;
  if (Value size = cancelledSize(call, x, shape, wildcard))
    return size;
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, Emitter::rankOf(x)));
  Value count = emit.countOf(x, axes, call.span);
  size_t next = 0;
  Value others;
  for (auto [i, size] : llvm::enumerate(shape.shape)) {
    if (i == wildcard)
      continue;
    Value value = ShapedType::isDynamic(size) ? shape.sizes[next++]
                                              : emit.constant(size, DType::I64, call.span);
    others = others ? emit.make<MulOp>(call.span, others, value) : value;
  }
  return others ? emit.make<FloorDivOp>(call.span, count, others) : count;
}

static Datum reshape(BuiltinCall &call) {
  Value x = call.tensor(0);
  if (!x)
    return Poison();
  std::vector<Datum> sizes{call.value(1)};
  if (auto *sequence = call.value(1).get<SequencePtr>())
    sizes = (*sequence)->elements;
  std::optional<size_t> wildcard;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (auto *number = sizes[i].get<int64_t>(); number && *number == -1 && !wildcard) {
      wildcard = i;
      sizes[i] = int64_t{1};
    }
  auto list = std::make_shared<Sequence>();
  list->elements = sizes;
  auto shape = call.elaborator.shape({SequencePtr(list), call.args[1].span});
  if (!shape)
    return Poison();
  RankedTensorType type = Emitter::typeOf(x);
  if (wildcard && type.hasStaticShape() && shape->sizes.empty()) {
    int64_t others = 1;
    bool overflow = false;
    for (int64_t size : shape->shape)
      overflow |= llvm::MulOverflow(others, std::max<int64_t>(size, 1), others);
    shape->shape[*wildcard] = overflow ? 0 : type.getNumElements() / others;
  } else if (wildcard) {
    Value rest = remainingSize(call, x, *shape, *wildcard);
    if (!rest)
      return Poison();
    size_t before =
        llvm::count_if(ArrayRef(shape->shape).take_front(*wildcard), ShapedType::isDynamic);
    auto known = knownSize(call.emit.shapes.valueOf(rest));
    shape->shape[*wildcard] = known.value_or(ShapedType::kDynamic);
    if (!known)
      shape->sizes.insert(shape->sizes.begin() + before, rest);
  }
  if (type.hasStaticShape() && shape->sizes.empty()) {
    int64_t wanted = 1;
    bool overflow = false;
    for (int64_t size : shape->shape)
      overflow |= llvm::MulOverflow(wanted, size, wanted);
    if (overflow || wanted != type.getNumElements()) {
      call.emit
          .error(DiagCode::PD0101, call.span,
                 absl::StrCat("a reshape keeps the number of elements: expected ",
                              type.getNumElements(), ", found ",
                              overflow ? "too many" : absl::StrCat(wanted)))
          .withSecondary(call.args[0].span, absl::StrCat("this is ", call.emit.typeText(x)));
      return Poison();
    }
  }
  return result(call.emit.make<ReshapeOp>(call.span, x, shape->sizes, shape->shape));
}

static Datum transpose(BuiltinCall &call) {
  Value x = call.tensor(0);
  if (!x)
    return Poison();
  SmallVector<int64_t> order;
  if (!call.has(1)) {
    for (int64_t axis = Emitter::rankOf(x); axis-- > 0;)
      order.push_back(axis);
  } else {
    auto *sequence = call.value(1).get<SequencePtr>();
    if (!sequence) {
      call.error(1, "a list of all axes");
      return Poison();
    }
    for (const Datum &each : (*sequence)->elements) {
      auto known = call.elaborator.constantInt({each, call.args[1].span}, "an axis");
      if (!known)
        return Poison();
      order.push_back(*known);
    }
    SmallVector<int64_t> sorted(order);
    llvm::sort(sorted);
    if (!llvm::equal(sorted, llvm::seq<int64_t>(0, Emitter::rankOf(x)))) {
      call.emit.error(DiagCode::PD0111, call.args[1].span,
                      absl::StrCat("expected each of the ", Emitter::rankOf(x), " axes once"));
      return Poison();
    }
  }
  return result(call.emit.make<TransposeOp>(call.span, x, order));
}

static Datum broadcast(BuiltinCall &call) {
  Value x = call.tensor(0);
  auto shape = x ? call.elaborator.shape(call.args[1]) : std::nullopt;
  return shape ? result(call.emit.broadcast(x, *shape, call.span)) : Datum(Poison());
}

//===- Picking -------------------------------------------------------------===//

static Datum pick(BuiltinCall &call) {
  Value x = call.tensor(0), ids = x ? call.tensor(1) : Value();
  if (!ids)
    return Poison();
  if (!isIntTensor(ids.getType())) {
    call.error(1, "a tensor of integers");
    return Poison();
  }
  return result(call.emit.make<PickOp>(call.span, x, ids));
}

//===- New tensors ---------------------------------------------------------===//

static Datum filled(BuiltinCall &call, const Operand &value, DType dtype,
                    std::optional<ShapeArg> shape) {
  Value scalar = shape ? call.elaborator.tensorOf(value, dtype) : Value();
  return scalar ? result(call.emit.broadcast(scalar, *shape, call.span)) : Datum(Poison());
}

template <int value> static Datum constantTensor(BuiltinCall &call) {
  auto type = call.type(1, DType::F32);
  if (!type)
    return Poison();
  Operand number{int64_t{value}, call.span};
  if (*type == DType::Bool)
    number.value = value != 0;
  return filled(call, number, *type, call.elaborator.shape(call.args[0]));
}

static Datum full(BuiltinCall &call) {
  auto *value = call.value(1).get<Value>();
  auto type = call.type(2, value ? Emitter::dtypeOf(*value) : DType::F32);
  return type ? filled(call, call.args[1], *type, call.elaborator.shape(call.args[0]))
              : Datum(Poison());
}

template <int value> static Datum constantLikeArg(BuiltinCall &call) {
  RankedTensorType type = typeOfArg(call, 0);
  if (!type)
    return Poison();
  ShapeArg shape{SmallVector<int64_t>(type.getShape()), {}};
  if (!type.hasStaticShape())
    shape = call.emit.shapeOf(*call.value(0).get<Value>(), call.span);
  Operand number{int64_t{value}, call.span};
  if (*toDType(type) == DType::Bool)
    number.value = value != 0;
  return filled(call, number, *toDType(type), shape);
}

static Datum iota(BuiltinCall &call) {
  auto shape = call.elaborator.shape(call.args[0]);
  auto axis = shape ? call.axis(1, shape->shape.size(), 0) : std::nullopt;
  if (!axis)
    return Poison();
  return result(call.emit.make<IotaOp>(call.span, call.emit.elementOf(DType::I64), *axis,
                                       shape->sizes, shape->shape));
}

static Datum arange(BuiltinCall &call) {
  auto shape = call.elaborator.shape(call.args[0]);
  if (!shape)
    return Poison();
  return result(call.emit.make<IotaOp>(call.span, call.emit.elementOf(DType::I64), int64_t{0},
                                       shape->sizes, shape->shape));
}

static Datum oneHot(BuiltinCall &call) {
  Value ids = call.tensor(0);
  auto classes = ids ? call.integer(1, 0) : std::nullopt;
  auto type = call.type(2, DType::F32);
  if (!classes || !type)
    return Poison();
  if (!isIntTensor(ids.getType())) {
    call.error(0, "a tensor of integers");
    return Poison();
  }
  if (*classes < 1) {
    call.emit.error(DiagCode::PD0111, call.args[1].span,
                    absl::StrCat("expected at least one class, found ", *classes));
    return Poison();
  }
  Emitter &emit = call.emit;
  ids = emit.cast(ids, DType::I64, call.span);
  ShapeArg shape = emit.shapeOf(ids, call.span);
  shape.shape.push_back(1);
  Value column = emit.make<ReshapeOp>(call.span, ids, shape.sizes, shape.shape);
  SmallVector<int64_t> row{*classes};
  Value numbers =
      emit.make<IotaOp>(call.span, emit.elementOf(DType::I64), int64_t{0}, ValueRange(), row);
  Value hits = column && numbers ? emit.binary<EqOp>(column, numbers, call.span) : Value();
  return hits ? result(emit.cast(hits, *type, call.span)) : Datum(Poison());
}

static Datum tensorOfList(BuiltinCall &call) {
  std::optional<DType> type;
  if (call.has(1) && !(type = call.type(1, DType::F32)))
    return Poison();
  return result(call.elaborator.tensorOfList(call.args[0], type));
}

ArrayRef<Builtin> shapeBuiltins() {
  static const Builtin table[] = {
      {"shape", "x", shapeOf, "The sizes of x as a list.", "print(shape(zeros([2, 3]))) # [2, 3]"},
      {"size", "x, axis?", sizeOf, "The size of one axis of x; the number of elements without it.",
       "let x = zeros([2, 3])\nprint(size(x, 1)) # 3\nprint(size(x)) # 6"},
      {"rank", "x", rank, "The number of axes of x.", "print(rank(zeros([2, 3]))) # 2"},
      {"dtype", "x", elementTypeOf, "The element type of x.",
       "let x = tensor([1, 2])\nprint(zeros([2], type: dtype(x))) # i64[2] [0, 0]"},
      {"len", "list", length, "The number of elements of a list.", "print(len([5, 6, 7])) # 3"},
      {"product", "list", product, "The product of a list of numbers; 1 of none.",
       "print(product(shape(zeros([2, 3])))) # 6"},
      {"reshape", "x, shape", reshape,
       "The elements of x, in the same order, in another shape; one size may be -1, for what is "
       "left.",
       "print(reshape(arange(4), [2, -1]))\n# i64[2, 2]\n# [[0, 1],\n#  [2, 3]]"},
      {"transpose", "x, axes?", transpose,
       "Axis k of the result is axis axes[k] of x; without axes their order is reversed.",
       "print(transpose(tensor([[1, 2], [3, 4]])))\n# i64[2, 2]\n# [[1, 3],\n#  [2, 4]]"},
      {"broadcast", "x, shape", broadcast,
       "x repeated along axes that are missing, in front, or have size 1.",
       "print(broadcast(tensor([1, 2]), [2, 2]))\n# i64[2, 2]\n# [[1, 2],\n#  [1, 2]]"},
      {"pick", "x, ids", pick,
       "One element of the last axis for each index: result[i..] = x[i.., ids[i..]].",
       "print(pick(tensor([[1, 2], [3, 4]]), tensor([1, 0]))) # i64[2] [2, 3]"},
      {"zeros", "shape, type?", constantTensor<0>, "A tensor of zeros, f32 unless typed.",
       "print(zeros([3])) # f32[3] [0.0, 0.0, 0.0]"},
      {"ones", "shape, type?", constantTensor<1>, "A tensor of ones, f32 unless typed.",
       "print(ones([2], type: i64)) # i64[2] [1, 1]"},
      {"full", "shape, value, type?", full,
       "A tensor whose elements are all `value`; f32 unless typed or the value is a tensor.",
       "print(full([2], 0.5)) # f32[2] [0.5, 0.5]"},
      {"zeros_like", "x", constantLikeArg<0>, "Zeros with the shape and type of x.",
       "print(zeros_like(tensor([5, 6]))) # i64[2] [0, 0]"},
      {"ones_like", "x", constantLikeArg<1>, "Ones with the shape and type of x.",
       "print(ones_like(tensor([5.5, 6.5]))) # f32[2] [1.0, 1.0]"},
      {"iota", "shape, axis?", iota,
       "The position along one axis, by default the first, for each element of a shape; i64.",
       "print(iota([2, 2], axis: 1))\n# i64[2, 2]\n# [[0, 1],\n#  [0, 1]]"},
      {"arange", "n", arange, "The numbers 0, 1, ..., n - 1; i64.",
       "print(arange(4)) # i64[4] [0, 1, 2, 3]"},
      {"one_hot", "ids, classes, type?", oneHot,
       "1 at the index and 0 elsewhere, along a new last axis: result[i.., c] is ids[i..] == c. An "
       "index out of range gives zeros. f32 unless typed.",
       "print(one_hot(tensor([2, 0]), 3, type: i64))\n# i64[2, 3]\n# [[0, 0, 1],\n#  [1, 0, 0]]"},
      {"tensor", "list, type?", tensorOfList,
       "Nested lists of numbers as a tensor; i64, f32 or bool unless typed.",
       "print(tensor([1, 2.5])) # f32[2] [1.0, 2.5]"},
  };
  return table;
}

} // namespace pdg
