// Indices and slices: `x[i]`, `x[:, 0..t]`, `W[ids]`, and elements of lists.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborator.h"
#include "ir/ops/compare.h"
#include "ir/ops/effects.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/indexing.h"
#include "ir/ops/layout.h"
#include "ir/ops/shape.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

Datum Elaborator::index(const IndexExpr &expr) {
  Operand base = evalOperand(*expr.base);
  if (base.value.isPoison())
    return Poison();
  if (auto *sequence = base.value.get<SequencePtr>())
    return indexSequence(*sequence, expr);
  Value x = tensor(base);
  if (!x)
    return Poison();
  if (expr.indices.size() > static_cast<size_t>(Emitter::rankOf(x))) {
    emit.error(DiagCode::PD0111, expr.span,
               absl::StrCat("expected at most ", Emitter::rankOf(x), " indices, found ",
                            expr.indices.size()))
        .withSecondary(base.span, absl::StrCat("this is ", emit.typeText(x)));
    return Poison();
  }
  int64_t axis = 0;
  for (const ExprPtr &each : expr.indices) {
    x = indexAxis(x, axis, *each);
    if (!x)
      return Poison();
  }
  return x;
}

Datum Elaborator::indexSequence(const SequencePtr &sequence, const IndexExpr &expr) {
  int64_t length = sequence->elements.size();
  if (expr.indices.size() != 1) {
    emit.error(DiagCode::PD0111, expr.span,
               absl::StrCat("expected one index for a list, found ", expr.indices.size()));
    return Poison();
  }
  if (auto *range = dynAs<RangeExpr>(expr.indices[0].get())) {
    int64_t begin = 0, end = length;
    if (range->lo) {
      auto known = constantInt(evalOperand(*range->lo), "the begin of a slice of a list");
      if (!known)
        return Poison();
      begin = *known;
    }
    if (range->hi) {
      auto known = constantInt(evalOperand(*range->hi), "the end of a slice of a list");
      if (!known)
        return Poison();
      end = range->isInclusive && *known < length ? *known + 1 : *known;
    }
    if (begin < 0 || begin > end || end > length) {
      emit.error(DiagCode::PD0111, range->span,
                 absl::StrCat("the range ", begin, "..", end, " is not inside a list of ", length));
      return Poison();
    }
    auto part = std::make_shared<Sequence>();
    part->isTuple = sequence->isTuple;
    part->elements.assign(sequence->elements.begin() + begin, sequence->elements.begin() + end);
    return SequencePtr(part);
  }
  Operand index = evalOperand(*expr.indices[0]);
  auto i = constantInt(index, "the index of a list");
  if (!i)
    return Poison();
  if (*i >= 0 && *i < length)
    return sequence->elements[*i];
  emit.error(DiagCode::PD0111, index.span,
             absl::StrCat("expected an index below ", length, ", found ", *i));
  return Poison();
}

/// A bound of a slice or index; far away ones are as wrong as those nearby.
static int64_t clampIndex(int64_t index) {
  constexpr int64_t Far = int64_t{1} << 60;
  return std::clamp(index, -Far, Far);
}

Value Elaborator::sliceAxis(Value x, int64_t axis, const RangeExpr &range) {
  Operand lower{int64_t{0}, range.span}, upper{Nothing(), range.span};
  if (range.lo)
    lower = evalOperand(*range.lo);
  if (range.hi)
    upper = evalOperand(*range.hi);
  if (lower.value.isPoison() || upper.value.isPoison())
    return {};
  AffineExpr length = emit.shapes.dimsOf(x)[axis];
  // `x[0..N]` where N is the size of the axis is all of it.
  auto *end = upper.value.get<Value>();
  bool isWhole = end && isSizeTensor(end->getType()) && !range.isInclusive &&
                 emit.shapes.valueOf(*end) == length;
  if (isWhole)
    upper.value = Nothing();
  auto begin = knownInt(lower.value);
  bool isOpen = upper.value.is<Nothing>();
  std::optional<int64_t> known = isOpen ? std::nullopt : knownInt(upper.value);
  if (!begin || (!isOpen && !known))
    return sliceAtRunTime(x, axis, range, lower, upper);
  int64_t first = clampIndex(*begin), size = -1;
  if (!isOpen)
    size = clampIndex(*known) - first + (range.isInclusive ? 1 : 0);
  if (!isOpen && size < 0) {
    Diagnostic &error =
        emit.error(DiagCode::PD0111, range.span, "the end of this slice lies before its begin");
    if (known && *known < 0)
      error.withHint("positions count from the front: without the last it is x[..size(x, 0) - 1]");
    return {};
  }
  if (first == 0 && size < 0)
    return x;
  auto total = knownSize(length);
  if (first < 0 || (total && first + std::max<int64_t>(size, 0) > *total)) {
    Diagnostic &error = emit.error(
        DiagCode::PD0111, range.span,
        absl::StrCat("the slice ", first, "..", size < 0 ? "" : absl::StrCat(first + size),
                     " is not inside an axis of size ", emit.sizeText(length)));
    if (first < 0 || size < 0)
      error.withHint("positions count from the front: the last three are x[size(x, 0) - 3..]");
    return {};
  }
  return emit.make<SliceOp>(range.span, x, axis, first, size);
}

/// A slice whose begin or end only the run knows: the elements at begin, begin + 1, ... The length
/// is a constant if it does not depend on the run (`x[k..k + 3]`), else at most that of the axis.
Value Elaborator::sliceAtRunTime(Value x, int64_t axis, const RangeExpr &range,
                                 const Operand &lower, const Operand &upper) {
  Span span = range.span;
  Value begin = size(lower, "the begin of a slice"), total = emit.sizeOf(x, axis, span);
  Value end = upper.value.is<Nothing>() ? total : size(upper, "the end of a slice");
  if (!begin || !end || !total)
    return {};
  if (range.isInclusive)
    end = emit.make<AddOp>(span, end, emit.constant(int64_t{1}, DType::I64, span));
  auto known = knownSize(emit.shapes.valueOf(end) - emit.shapes.valueOf(begin));
  SmallVector<int64_t> shape{known.value_or(ShapedType::kDynamic)};
  SmallVector<Value> sizes;
  if (known && *known < 0) {
    emit.error(DiagCode::PD0111, span, "the end of this slice lies before its begin");
    return {};
  }
  if (!known) {
    Value length = emit.make<SubOp>(span, end, begin);
    Value zero = emit.constant(int64_t{0}, DType::I64, span);
    assertSlice(emit.make<LeOp>(span, begin, end), begin, end, total, span);
    assertSlice(emit.make<LeOp>(span, end, total), begin, end, total, span);
    assertSlice(emit.make<GeOp>(span, begin, zero), begin, end, total, span);
    // The remainder changes nothing; it says that the length is at most that of the axis.
    Value above = emit.make<AddOp>(span, total, emit.constant(int64_t{1}, DType::I64, span));
    sizes.push_back(emit.make<ModOp>(span, length, above));
  }
  Value ids = emit.make<IotaOp>(span, emit.elementOf(DType::I64), int64_t{0}, sizes, shape);
  ids = ids ? emit.binary<AddOp>(ids, begin, span) : Value();
  return ids ? gatherAxis(x, axis, ids, span) : Value();
}

/// Stops the run where a slice is not inside its axis.
void Elaborator::assertSlice(Value condition, Value begin, Value end, Value total, Span span) {
  Builder &b = emit.b;
  Attribute format = ValueFormatAttr::get(b.getContext(), 0, -1, false);
  SmallVector<StringRef> segments{"the slice ", "..", " is not inside an axis of size ", ""};
  AssertOp::create(emit.b, emit.loc(span), condition, b.getStrArrayAttr(segments),
                   b.getArrayAttr({format, format, format}), ValueRange{begin, end, total});
}

/// The order of axes that brings `axis` to the front, the others keeping their order.
static SmallVector<int64_t> toFront(int64_t axis, int64_t rank) {
  SmallVector<int64_t> order{axis};
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis)
      order.push_back(i);
  return order;
}

Value Elaborator::gatherAxis(Value x, int64_t axis, Value ids, Span span) {
  if (axis == 0)
    return emit.make<GatherOp>(span, x, ids);
  int64_t idsRank = Emitter::rankOf(ids);
  Value table = emit.make<TransposeOp>(span, x, toFront(axis, Emitter::rankOf(x)));
  Value rows = table ? emit.make<GatherOp>(span, table, ids) : Value();
  if (!rows)
    return {};
  // The axes of the ids stand in front; they belong where the axis was.
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < axis; ++i)
    order.push_back(idsRank + i);
  for (int64_t i = 0; i < idsRank; ++i)
    order.push_back(i);
  for (int64_t i = idsRank + axis; i < Emitter::rankOf(rows); ++i)
    order.push_back(i);
  return idsRank == 0 ? rows : emit.make<TransposeOp>(span, rows, order);
}

Value Elaborator::indexAxis(Value x, int64_t &axis, const Expr &index) {
  if (auto *range = dynAs<RangeExpr>(&index))
    return sliceAxis(x, axis++, *range);
  Operand at = evalOperand(index);
  if (at.value.isPoison())
    return {};
  if (auto *number = at.value.get<int64_t>()) {
    auto size = knownSize(emit.shapes.dimsOf(x)[axis]);
    if (*number < 0 || (size && *number >= *size)) {
      Diagnostic &diagnostic =
          emit.error(DiagCode::PD0111, at.span,
                     absl::StrCat("the index ", *number, " is not inside axis ", axis, " of ",
                                  emit.typeText(x)));
      if (*number < 0)
        diagnostic.withHint("the last element is x[size(x, 0) - 1]");
      return {};
    }
    Value slice = emit.make<SliceOp>(at.span, x, axis, *number, int64_t{1});
    if (!slice)
      return {};
    ShapeArg shape = emit.shapeOf(slice, at.span);
    shape.shape.erase(shape.shape.begin() + axis);
    return emit.make<ReshapeOp>(at.span, slice, shape.sizes, shape.shape);
  }
  Value ids = at.value.is<SequencePtr>() ? tensorOfList(at, std::nullopt) : tensor(at);
  if (!ids)
    return {};
  if (!isIntTensor(ids.getType())) {
    Diagnostic &error = typeError(at.span, "integers as an index", ids);
    if (Emitter::dtypeOf(ids) == DType::Bool)
      error.withHint("where(c, a, b) chooses each element; how many hold, no shape can say");
    return {};
  }
  Value result = gatherAxis(x, axis, ids, at.span);
  axis += Emitter::rankOf(ids);
  return result;
}

} // namespace pdg
