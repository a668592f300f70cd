// Pooling by its definition.
// SPDX-License-Identifier: Apache-2.0
#include "ir/interpret/evaluate_pooling.h"
#include "ir/interpret/evaluate_elementwise.h"
#include "ir/interpret/picture_view.h"

#include <cstring>

using namespace mlir;

namespace pdg {
namespace {

/// The positions of a window that lie inside the picture.
struct Area {
  int64_t top, bottom, left, right;

  Area(const WindowShape &m, int64_t i, int64_t j, int64_t height, int64_t width) {
    top = i * m.stride[0] - m.before[0];
    left = j * m.stride[1] - m.before[1];
    bottom = std::min(top + m.size[0], height);
    right = std::min(left + m.size[1], width);
    top = std::max<int64_t>(top, 0);
    left = std::max<int64_t>(left, 0);
  }
  /// Calls `visit(row, column)` for each, row by row.
  template <class Fn> void each(Fn visit) const {
    for (int64_t row = top; row < bottom; ++row)
      for (int64_t column = left; column < right; ++column)
        visit(row, column);
  }
};

template <class T> struct Pooling {
  const WindowShape &m;
  View4<T> out;

  /// The place of the largest element of a window: the first; a NaN before all.
  std::pair<int64_t, int64_t> largest(Const4<T> x, int64_t n, int64_t c, const Area &area) const {
    std::pair<int64_t, int64_t> best{area.top, area.left};
    area.each([&](int64_t row, int64_t column) {
      T value = x.at(n, c, row, column), current = x.at(n, c, best.first, best.second);
      if (current == current && (value != value || value > current))
        best = {row, column};
    });
    return best;
  }

  Area area(const Const4<T> &picture, int64_t i, int64_t j) const {
    return Area(m, i, j, picture.size[2], picture.size[3]);
  }

  /// The value is an exact maximum: of two zeros it is +0, whichever comes first.
  void max(Const4<T> x) const {
    each4(out.size, [&](int64_t n, int64_t c, int64_t i, int64_t j) {
      Area all = area(x, i, j);
      Scalar<T> best{x.at(n, c, all.top, all.left)};
      all.each([&](int64_t row, int64_t column) {
        best = maximum(best, Scalar<T>{x.at(n, c, row, column)});
      });
      out.at(n, c, i, j) = best.value;
    });
  }

  void maxAt(Const4<T> x, Const4<T> y) const {
    each4(out.size, [&](int64_t n, int64_t c, int64_t i, int64_t j) {
      auto [row, column] = largest(x, n, c, area(x, i, j));
      out.at(n, c, i, j) = y.at(n, c, row, column);
    });
  }

  void maxGrad(Const4<T> g, Const4<T> x) const {
    each4(g.size, [&](int64_t n, int64_t c, int64_t i, int64_t j) {
      auto [row, column] = largest(x, n, c, area(x, i, j));
      out.at(n, c, row, column) += g.at(n, c, i, j);
    });
  }

  void sum(Const4<T> x) const {
    each4(out.size, [&](int64_t n, int64_t c, int64_t i, int64_t j) {
      T sum = 0;
      area(x, i, j).each([&](int64_t row, int64_t column) { sum += x.at(n, c, row, column); });
      out.at(n, c, i, j) = sum;
    });
  }

  void sumGrad(Const4<T> g) const {
    each4(g.size, [&](int64_t n, int64_t c, int64_t i, int64_t j) {
      Area(m, i, j, out.size[2], out.size[3]).each([&](int64_t row, int64_t column) {
        out.at(n, c, row, column) += g.at(n, c, i, j);
      });
    });
  }
};

} // namespace

LogicalResult evaluatePooling(const PoolingRule &form, ArrayRef<int64_t> picture,
                              Evaluation &eval) {
  const HostTensor &first = eval.operand(0);
  bool hasTwo = form.kind == PoolingRule::MaxAt || form.kind == PoolingRule::MaxGrad;
  const HostTensor &second = eval.operand(hasTwo ? 1 : 0);
  ArrayRef<int64_t> sizes = second.shape();
  if (sizes.take_front(2) != ArrayRef<int64_t>(first.shape()).take_front(2))
    return eval.mismatch(first, second);
  SmallVector<int64_t> shape(sizes);
  for (int axis : {0, 1}) {
    if (form.kind == PoolingRule::SumGrad)
      shape[2 + axis] = picture[axis];
    else if (form.kind != PoolingRule::MaxGrad)
      shape[2 + axis] = form.window.count(axis, sizes[2 + axis]);
  }
  HostTensor &out = eval.result(0, shape);
  std::memset(out.bytes(), 0, out.numBytes());
  return success(dispatch(Floats{}, first.dtype(), [&]<class T>() {
    Pooling<T> pooling{form.window, View4<T>(out)};
    switch (form.kind) {
    case PoolingRule::Max:
      return pooling.max(Const4<T>(first));
    case PoolingRule::MaxAt:
      return pooling.maxAt(Const4<T>(first), Const4<T>(second));
    case PoolingRule::MaxGrad:
      return pooling.maxGrad(Const4<T>(first), Const4<T>(second));
    case PoolingRule::Sum:
      return pooling.sum(Const4<T>(first));
    case PoolingRule::SumGrad:
      return pooling.sumGrad(Const4<T>(first));
    }
  }));
}

} // namespace pdg
