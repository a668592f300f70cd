// Reductions by their definition; the tensor is seen as [outer, n, inner].
// SPDX-License-Identifier: Apache-2.0
#include "ir/interpret/evaluate_contraction.h"
#include "ir/interpret/evaluate_elementwise.h"
#include "ir/interpret/evaluate_leaves.h"

#include <limits>

using namespace mlir;

namespace pdg {

int64_t leafCount(int64_t n) {
  int64_t leaves = 16;
  while (leaves > 1 && (n % leaves != 0 || n / leaves < 16))
    leaves /= 2;
  return leaves;
}

namespace {

constexpr int64_t kLanes = 16;
constexpr int64_t kBlock = 4096;

/// Adds as the type of the program adds: integers wrap.
template <class T> T add(T a, T b) { return (Scalar<T>{a} + Scalar<T>{b}).value; }

template <class T> T chain(const T *x, int64_t n, int64_t stride, T sum = 0) {
  for (int64_t i = 0; i < n; ++i)
    sum = add(sum, x[i * stride]);
  return sum;
}

/// The sum of `n` neighbours: 16 lanes in each block, blocks in order.
template <class T> T sumOfLanes(const T *x, int64_t n) {
  T total = 0;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    int64_t size = std::min(kBlock, n - begin);
    SmallVector<T> lanes(std::min(kLanes, size), T(0));
    for (int64_t i = 0; i < size; ++i)
      lanes[i % kLanes] = add(lanes[i % kLanes], x[begin + i]);
    T block = joinTree(lanes);
    total = begin == 0 ? block : add(total, block);
  }
  return total;
}

/// Whether an axis is the last one belongs to the op, not to sizes: one column of many has the sum
/// that it has alone.
struct SummedAxis {
  bool isFirst, isLast;
};

template <class T> T sumAlong(const T *x, int64_t n, int64_t inner, SummedAxis axis) {
  if (!axis.isFirst)
    return axis.isLast ? sumOfLanes(x, n) : chain(x, n, inner);
  int64_t leaves = leafCount(n), length = n / leaves;
  SmallVector<T> sums;
  for (int64_t leaf = 0; leaf < leaves; ++leaf) {
    const T *begin = x + leaf * length * inner;
    sums.push_back(axis.isLast ? sumOfLanes(begin, length) : chain(begin, length, inner));
  }
  return joinTree(sums);
}

/// The place of the extreme element: the first one; a NaN before all.
template <class T> int64_t extremeAt(const T *x, int64_t n, int64_t stride, bool largest) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i) {
    T a = x[best * stride], c = x[i * stride];
    if (a != a)
      break;
    if (c != c || (largest ? c > a : c < a))
      best = i;
  }
  return best;
}

/// The extreme of two zeros is +0 for a maximum and -0 for a minimum, wherever they stand. Of no
/// elements it is what any element beats.
template <class T> T extreme(const T *x, int64_t n, int64_t stride, bool largest) {
  using Limits = std::numeric_limits<T>;
  T worst = largest ? Limits::lowest() : Limits::max();
  if constexpr (Limits::has_infinity)
    worst = largest ? -Limits::infinity() : Limits::infinity();
  Scalar<T> best{worst};
  for (int64_t i = 0; i < n; ++i)
    best =
        largest ? maximum(best, Scalar<T>{x[i * stride]}) : minimum(best, Scalar<T>{x[i * stride]});
  return best.value;
}

template <class T>
void reduce(ReductionKind kind, SummedAxis axis, const HostTensor &x, HostTensor &out, int64_t n,
            int64_t inner) {
  for (int64_t i = 0; i < out.numElements(); ++i) {
    const T *begin = x.data<T>() + (i / inner) * n * inner + i % inner;
    switch (kind) {
    case ReductionKind::Sum:
      out.data<T>()[i] = sumAlong(begin, n, inner, axis);
      break;
    case ReductionKind::Max:
    case ReductionKind::Min:
      out.data<T>()[i] = extreme(begin, n, inner, kind == ReductionKind::Max);
      break;
    case ReductionKind::ArgMax:
    case ReductionKind::ArgMin:
      out.data<int64_t>()[i] = extremeAt(begin, n, inner, kind == ReductionKind::ArgMax);
      break;
    }
  }
}

} // namespace

LogicalResult evaluateReduction(ReductionOpInterface op, Evaluation &eval) {
  const HostTensor &x = eval.operand(0);
  int64_t axis = op.getReducedAxis(), n = x.shape()[axis], inner = 1;
  for (size_t k = axis + 1; k < x.shape().size(); ++k)
    inner *= x.shape()[k];
  std::vector<int64_t> shape = x.shape();
  shape.erase(shape.begin() + axis);
  HostTensor &out = eval.result(0, shape);
  SummedAxis place{axis == 0, axis + 1 == x.rank()};
  bool done = dispatch(Numbers{}, x.dtype(), [&]<class T>() {
    reduce<T>(op.getReductionKind(), place, x, out, n, inner);
  });
  return success(done);
}

LogicalResult evaluateSumLeaves(Evaluation &eval) {
  const HostTensor &x = eval.operand(0), &leaves = eval.operand(1);
  HostTensor &out = eval.result(0, leaves.shape());
  std::memcpy(out.bytes(), leaves.bytes(), leaves.numBytes());
  int64_t n = x.shape()[0], inner = out.numElements() / out.shape()[0];
  int64_t count = openLeafCount(n, out.shape()[0]), length = n / count;
  return success(dispatch(Floats{}, x.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < count * inner; ++i) {
      const T *begin = x.data<T>() + (i / inner) * length * inner + i % inner;
      T &sum = out.data<T>()[i];
      sum = x.rank() == 1 ? add(sum, sumOfLanes(begin, length)) : chain(begin, length, inner, sum);
    }
  }));
}

} // namespace pdg
