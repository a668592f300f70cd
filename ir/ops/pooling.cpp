// The elements of pooling and of its gradient: windows are small and known, so they are unrolled.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/convolution.h"
#include "ir/rules.h"

using namespace mlir;

namespace pdg {
namespace {

/// Integers of one element or of lanes, for index arithmetic.
Emitted positionOf(ElementContext &context, const AxisIndex &index) {
  return Emitted(context.b, context.loc, context.materialize(index));
}

/// An element of a picture and whether its place is inside.
struct Seen {
  Emitted value, inside;
};

/// Loads element (row, column) of operand `operand`; outside the picture `otherwise`.
Seen loadPlace(ElementContext &context, unsigned operand, ArrayRef<AxisIndex> index, Emitted row,
               Emitted column, double otherwise) {
  auto size = [&](int64_t axis, Emitted like) {
    return broadcastLike(Emitted(context.b, context.loc, context.dim(operand, axis)), like);
  };
  Emitted rowInside = (row >= 0) & (row < size(2, row));
  Emitted columnInside = (column >= 0) & (column < size(3, column));
  Emitted inside = broadcastLike(rowInside, columnInside) & columnInside;
  SmallVector<AxisIndex> at(index);
  at[2] = {select(rowInside, row, row.like(0)).value};
  at[3] = {select(columnInside, column, column.like(0)).value};
  Emitted value(context.b, context.loc, context.load(operand, at));
  value = broadcastLike(value, inside); // One that is the same in all lanes comes as one element.
  return {select(inside, value, value.like(otherwise)), inside};
}

/// A picture position as wide as the lanes.
Emitted wide(ElementContext &context, Emitted position, Emitted like) {
  return broadcastLike(position, like);
}

} // namespace

Value MaxPool2dOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  Emitted column = positionOf(context, index[3]);
  Emitted row = wide(context, positionOf(context, index[2]), column);
  std::optional<Emitted> best;
  for (int64_t u = 0; u < getWindow()[0]; ++u)
    for (int64_t v = 0; v < getWindow()[1]; ++v) {
      Seen seen = loadPlace(context, 0, index, row * getStride()[0] + (u - getPadding()[0]),
                            column * getStride()[1] + (v - getPadding()[1]), -INFINITY);
      best = best ? maximum(*best, seen.value) : seen.value;
    }
  return best->value;
}

Value MaxPool2dGradOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  ArrayRef<int64_t> window = getWindow(), stride = getStride(), padding = getPadding();
  Emitted x = positionOf(context, index[3]);
  Emitted y = wide(context, positionOf(context, index[2]), x);
  std::optional<Emitted> sum;
  // The windows that hold (y, x), in the order of the output: the last rows of a window first.
  for (int64_t a = (window[0] - 1) / stride[0]; a >= 0; --a)
    for (int64_t c = (window[1] - 1) / stride[1]; c >= 0; --c) {
      Emitted i = floorDiv(y + padding[0], y.like(stride[0])) - a;
      Emitted j = floorDiv(x + padding[1], x.like(stride[1])) - c;
      Seen g = loadPlace(context, 0, index, i, j, 0);
      // The first largest element of window (i, j); a NaN is larger than all.
      std::optional<Emitted> best, bestY, bestX;
      for (int64_t u = 0; u < window[0]; ++u)
        for (int64_t v = 0; v < window[1]; ++v) {
          Emitted row = i * stride[0] + (u - padding[0]), column = j * stride[1] + (v - padding[1]);
          Seen seen = loadPlace(context, 1, index, row, column, -INFINITY);
          if (!best) {
            // Whether the place is inside decides for the first one: outside never wins.
            best = seen.value, bestY = select(seen.inside, row, row.like(-1)), bestX = column;
            continue;
          }
          Emitted isNew = (seen.value > *best) | ((seen.value != seen.value) & (*best == *best)) |
                          ((*bestY < 0) & seen.inside);
          isNew = isNew & seen.inside;
          best = select(isNew, seen.value, *best);
          bestY = select(isNew, row, *bestY);
          bestX = select(isNew, column, *bestX);
        }
      Emitted hit = (*bestY == y) & (*bestX == x) & g.inside;
      Emitted term = select(hit, g.value, g.value.like(0));
      sum = (sum ? *sum : term.like(0)) + term;
    }
  return sum->value;
}

} // namespace pdg
