// Convolutions and pooling by their definitions.
// SPDX-License-Identifier: Apache-2.0
#include "ir/interpret/evaluate_convolution.h"
#include "ir/interpret/evaluate_contraction.h"
#include "ir/interpret/evaluate_elementwise.h"

#include <cmath>

using namespace mlir;

namespace pdg {
namespace {

/// Four-axis tensors of type T by index.
template <class T> struct View4 {
  T *data;
  std::array<int64_t, 4> size;
  template <class Tensor> explicit View4(Tensor &tensor) {
    data = tensor.template data<std::remove_const_t<T>>();
    std::copy(tensor.shape().begin(), tensor.shape().end(), size.begin());
  }
  T &at(int64_t n, int64_t c, int64_t y, int64_t x) const {
    return data[((n * size[1] + c) * size[2] + y) * size[3] + x];
  }
  /// The element, or 0 outside the picture.
  T padded(int64_t n, int64_t c, int64_t y, int64_t x) const {
    return y < 0 || y >= size[2] || x < 0 || x >= size[3] ? T(0) : at(n, c, y, x);
  }
};

/// Calls `visit` for every index of four sizes, in row-major order.
template <class Fn> void each4(const std::array<int64_t, 4> &size, Fn visit) {
  for (int64_t a = 0; a < size[0]; ++a)
    for (int64_t b = 0; b < size[1]; ++b)
      for (int64_t c = 0; c < size[2]; ++c)
        for (int64_t d = 0; d < size[3]; ++d)
          visit(a, b, c, d);
}

template <class T> using Const4 = View4<const T>;

template <class T> void conv2d(const Window &m, Const4<T> x, Const4<T> w, View4<T> out) {
  each4(out.size, [&](int64_t n, int64_t o, int64_t i, int64_t j) {
    T sum = 0;
    for (int64_t c = 0; c < w.size[1]; ++c)
      for (int64_t u = 0; u < w.size[2]; ++u)
        for (int64_t v = 0; v < w.size[3]; ++v)
          sum = std::fma(w.at(o, c, u, v),
                         x.padded(n, c, i * m.stride[0] + u - m.padding[0],
                                  j * m.stride[1] + v - m.padding[1]),
                         sum);
    out.at(n, o, i, j) = sum;
  });
}

template <class T> void inputGrad(const Window &m, Const4<T> g, Const4<T> w, View4<T> out) {
  each4(out.size, [&](int64_t n, int64_t c, int64_t y, int64_t x) {
    T sum = 0;
    for (int64_t u = 0; u < w.size[2]; ++u)
      for (int64_t v = 0; v < w.size[3]; ++v) {
        int64_t i = y + m.padding[0] - u, j = x + m.padding[1] - v;
        if (i < 0 || j < 0 || i % m.stride[0] || j % m.stride[1] || i / m.stride[0] >= g.size[2] ||
            j / m.stride[1] >= g.size[3])
          continue;
        T chain = 0;
        for (int64_t o = 0; o < w.size[0]; ++o)
          chain = std::fma(w.at(o, c, u, v), g.at(n, o, i / m.stride[0], j / m.stride[1]), chain);
        sum += chain;
      }
    out.at(n, c, y, x) = sum;
  });
}

template <class T> void weightGrad(const Window &m, Const4<T> x, Const4<T> g, View4<T> out) {
  int64_t leaves = leafCount(g.size[0]), perLeaf = g.size[0] / leaves;
  each4(out.size, [&](int64_t o, int64_t c, int64_t u, int64_t v) {
    SmallVector<T> sums;
    for (int64_t leaf = 0; leaf < leaves; ++leaf) {
      T sum = 0;
      for (int64_t n = leaf * perLeaf; n < (leaf + 1) * perLeaf; ++n)
        for (int64_t i = 0; i < g.size[2]; ++i)
          for (int64_t j = 0; j < g.size[3]; ++j)
            sum = std::fma(x.padded(n, c, i * m.stride[0] + u - m.padding[0],
                                    j * m.stride[1] + v - m.padding[1]),
                           g.at(n, o, i, j), sum);
      sums.push_back(sum);
    }
    out.at(o, c, u, v) = joinTree(sums);
  });
}

/// The place of the largest element of a window: the first; a NaN before all; padding never.
template <class T>
std::pair<int64_t, int64_t> largestIn(const Const4<T> &x, int64_t n, int64_t c, int64_t top,
                                      int64_t left, ArrayRef<int64_t> size) {
  std::optional<std::pair<int64_t, int64_t>> best;
  for (int64_t y = std::max<int64_t>(top, 0); y < std::min(top + size[0], x.size[2]); ++y)
    for (int64_t z = std::max<int64_t>(left, 0); z < std::min(left + size[1], x.size[3]); ++z) {
      T value = x.at(n, c, y, z);
      T current = best ? x.at(n, c, best->first, best->second) : value;
      if (!best || (current == current && (value != value || value > current)))
        best = {y, z};
    }
  return *best;
}

} // namespace

LogicalResult evaluateConv2d(const Window &window, Evaluation &eval) {
  const HostTensor &x = eval.operand(0), &w = eval.operand(1);
  if (x.shape()[1] != w.shape()[1])
    return eval.mismatch(x, w);
  SmallVector<int64_t> shape{x.shape()[0], w.shape()[0]};
  for (int axis : {0, 1})
    shape.push_back((x.shape()[2 + axis] + 2 * window.padding[axis] - w.shape()[2 + axis]) /
                        window.stride[axis] +
                    1);
  HostTensor &out = eval.result(0, shape);
  return success(dispatch(Floats{}, x.dtype(), [&]<class T>() {
    conv2d<T>(window, Const4<T>(x), Const4<T>(w), View4<T>(out));
  }));
}

LogicalResult evaluateConv2dInputGrad(const Window &window, Evaluation &eval) {
  const HostTensor &g = eval.operand(0), &w = eval.operand(1);
  HostTensor &out = eval.result(0, eval.operand(2).shape());
  return success(dispatch(Floats{}, g.dtype(), [&]<class T>() {
    inputGrad<T>(window, Const4<T>(g), Const4<T>(w), View4<T>(out));
  }));
}

LogicalResult evaluateConv2dWeightGrad(const Window &window, Evaluation &eval) {
  const HostTensor &x = eval.operand(0), &g = eval.operand(1);
  HostTensor &out = eval.result(0, eval.operand(2).shape());
  return success(dispatch(Floats{}, g.dtype(), [&]<class T>() {
    weightGrad<T>(window, Const4<T>(x), Const4<T>(g), View4<T>(out));
  }));
}

LogicalResult evaluateMaxPool2d(ArrayRef<int64_t> size, const Window &m, Evaluation &eval) {
  const HostTensor &x = eval.operand(0);
  SmallVector<int64_t> shape{x.shape()[0], x.shape()[1]};
  for (int axis : {0, 1})
    shape.push_back((x.shape()[2 + axis] + 2 * m.padding[axis] - size[axis]) / m.stride[axis] + 1);
  HostTensor &out = eval.result(0, shape);
  return success(dispatch(Floats{}, x.dtype(), [&]<class T>() {
    Const4<T> from(x);
    View4<T> to(out);
    each4(to.size, [&](int64_t n, int64_t c, int64_t i, int64_t j) {
      int64_t top = i * m.stride[0] - m.padding[0], left = j * m.stride[1] - m.padding[1];
      // The value is an exact maximum: of two zeros it is +0, whichever comes first.
      auto [y, z] = largestIn(from, n, c, top, left, size);
      Scalar<T> best{from.at(n, c, y, z)};
      for (int64_t row = std::max<int64_t>(top, 0); row < std::min(top + size[0], from.size[2]);
           ++row)
        for (int64_t k = std::max<int64_t>(left, 0); k < std::min(left + size[1], from.size[3]);
             ++k)
          best = maximum(best, Scalar<T>{from.at(n, c, row, k)});
      to.at(n, c, i, j) = best.value;
    });
  }));
}

LogicalResult evaluateMaxPool2dGrad(ArrayRef<int64_t> size, const Window &m, Evaluation &eval) {
  const HostTensor &g = eval.operand(0), &x = eval.operand(1);
  HostTensor &out = eval.result(0, x.shape());
  std::memset(out.bytes(), 0, out.numBytes());
  return success(dispatch(Floats{}, x.dtype(), [&]<class T>() {
    Const4<T> from(x), cotangent(g);
    View4<T> to(out);
    each4(cotangent.size, [&](int64_t n, int64_t c, int64_t i, int64_t j) {
      auto [y, z] = largestIn(from, n, c, i * m.stride[0] - m.padding[0],
                              j * m.stride[1] - m.padding[1], size);
      to.at(n, c, y, z) += cotangent.at(n, c, i, j);
    });
  }));
}

} // namespace pdg
