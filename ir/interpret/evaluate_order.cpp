// Ops that walk an axis in order, by their definition; a tensor is seen as [outer, n, inner].
// SPDX-License-Identifier: Apache-2.0
#include "ir/interpret/evaluate_order.h"
#include "ir/interpret/evaluate_elementwise.h"

#include <numeric>

using namespace mlir;

namespace pdg {
namespace {

/// A tensor seen along one axis.
struct AxisView {
  int64_t outer = 1, n = 1, inner = 1;
  AxisView(const HostTensor &x, int64_t axis) : n(x.shape()[axis]) {
    for (int64_t k = 0; k < axis; ++k)
      outer *= x.shape()[k];
    for (int64_t k = axis + 1; k < x.rank(); ++k)
      inner *= x.shape()[k];
  }
  /// The offset of element i of line `line`, of which there are outer * inner.
  int64_t at(int64_t line, int64_t i) const {
    return (line / inner * n + i) * inner + line % inner;
  }
  int64_t lines() const { return outer * inner; }
};

/// Index `i` of an integer tensor of any type.
int64_t indexAt(const HostTensor &ids, int64_t i) {
  int64_t result = 0;
  dispatch(Ints{}, ids.dtype(), [&]<class T>() { result = ids.data<T>()[i]; });
  return result;
}

template <class T>
void scanLine(const ScanForm &form, Evaluation &eval, HostTensor &out, const AxisView &view,
              int64_t line) {
  const T *x = eval.operand(0).data<T>();
  Scalar<T> state{static_cast<T>(form.kind == ScanForm::Prod)};
  for (int64_t step = 0; step < view.n; ++step) {
    int64_t at = view.at(line, form.reverse ? view.n - 1 - step : step);
    Scalar<T> here{x[at]}, old = state;
    if (form.kind == ScanForm::Sum)
      state = state + here;
    else if (form.kind == ScanForm::Prod)
      state = state * here;
    else if (Scalar<T> b{eval.operand(1).data<T>()[at]}; step == 0)
      state = b;
    else
      state = here * state + b;
    out.data<T>()[at] = (form.exclusive ? old : state).value;
  }
}

/// True if a comes before b; a NaN before nothing.
template <class T> bool isBefore(T a, T b, bool descending) {
  if (a != a || b != b)
    return a == a;
  return descending ? a > b : a < b;
}

} // namespace

LogicalResult evaluateScan(const ScanForm &form, Evaluation &eval) {
  const HostTensor &x = eval.operand(0);
  if (form.kind == ScanForm::Linear && x.shape() != eval.operand(1).shape())
    return eval.mismatch(x, eval.operand(1));
  HostTensor &out = eval.result(0, x.shape());
  AxisView view(x, form.axis);
  return success(dispatch(Numbers{}, x.dtype(), [&]<class T>() {
    for (int64_t line = 0; line < view.lines(); ++line)
      scanLine<T>(form, eval, out, view, line);
  }));
}

LogicalResult evaluateSort(const SortForm &form, Evaluation &eval) {
  const HostTensor &x = eval.operand(0);
  HostTensor &out = eval.result(0, x.shape());
  AxisView view(x, form.axis);
  return success(dispatch(AnyType{}, x.dtype(), [&]<class T>() {
    std::vector<int64_t> order(view.n);
    for (int64_t line = 0; line < view.lines(); ++line) {
      auto element = [&](int64_t i) { return x.data<T>()[view.at(line, i)]; };
      std::iota(order.begin(), order.end(), 0);
      std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        if (isBefore(element(a), element(b), form.descending))
          return true;
        return !isBefore(element(b), element(a), form.descending) && a < b;
      });
      for (int64_t i = 0; i < view.n; ++i)
        out.data<int64_t>()[view.at(line, i)] = order[i];
    }
  }));
}

/// True if `ids` has the sizes of `x` but for `axis`.
static bool fitsAlong(const HostTensor &x, const HostTensor &ids, int64_t axis) {
  for (int64_t k = 0; k < x.rank(); ++k)
    if (k != axis && x.shape()[k] != ids.shape()[k])
      return false;
  return true;
}

LogicalResult evaluateTake(int64_t axis, Evaluation &eval) {
  const HostTensor &x = eval.operand(0), &ids = eval.operand(1);
  if (!fitsAlong(x, ids, axis))
    return eval.mismatch(x, ids);
  HostTensor &out = eval.result(0, ids.shape());
  AxisView from(x, axis), to(ids, axis);
  size_t size = sizeOf(x.dtype());
  for (int64_t line = 0; line < to.lines(); ++line)
    for (int64_t i = 0; i < to.n; ++i) {
      int64_t at = to.at(line, i);
      std::memcpy(out.bytes() + at * size, x.bytes() + from.at(line, indexAt(ids, at)) * size,
                  size);
    }
  return success();
}

LogicalResult evaluatePlace(const PlaceForm &form, Evaluation &eval) {
  const HostTensor &x = eval.operand(0), &ids = eval.operand(1), &values = eval.operand(2);
  if (!fitsAlong(x, ids, form.axis))
    return eval.mismatch(x, ids);
  if (ids.shape() != values.shape())
    return eval.mismatch(ids, values);
  HostTensor &out = eval.result(0, x.shape());
  std::memcpy(out.bytes(), x.bytes(), x.numBytes());
  AxisView to(x, form.axis), from(ids, form.axis);
  return success(dispatch(AnyType{}, x.dtype(), [&]<class T>() {
    for (int64_t line = 0; line < from.lines(); ++line)
      for (int64_t i = 0; i < from.n; ++i) {
        int64_t at = from.at(line, i);
        T &place = out.data<T>()[to.at(line, indexAt(ids, at))];
        T value = values.data<T>()[at];
        place = form.adds ? (Scalar<T>{place} + Scalar<T>{value}).value : value;
      }
  }));
}

} // namespace pdg
