// Convolutions by their definitions.
// SPDX-License-Identifier: Apache-2.0
#include "ir/interpret/evaluate_convolution.h"
#include "ir/interpret/evaluate_contraction.h"
#include "ir/interpret/evaluate_elementwise.h"
#include "ir/interpret/evaluate_leaves.h"
#include "ir/interpret/picture_view.h"

#include <cmath>

using namespace mlir;

namespace pdg {
namespace {

/// Where position u of window i lies along an axis of the picture.
int64_t placeOf(const WindowShape &m, int axis, int64_t i, int64_t u) {
  return i * m.stride[axis] - m.before[axis] + u * m.dilation[axis];
}

/// The window whose position u lies at `place` of an axis with `count` windows, or nothing.
std::optional<int64_t> windowAt(const WindowShape &m, int axis, int64_t place, int64_t u,
                                int64_t count) {
  int64_t start = place + m.before[axis] - u * m.dilation[axis];
  if (start < 0 || start % m.stride[axis] || start / m.stride[axis] >= count)
    return std::nullopt;
  return start / m.stride[axis];
}

template <class T>
void conv2d(const ConvolutionRule &form, Const4<T> x, Const4<T> w, const T *bias, View4<T> out) {
  const WindowShape &m = form.window;
  int64_t filters = w.size[0] / form.groups;
  each4(out.size, [&](int64_t n, int64_t o, int64_t i, int64_t j) {
    T sum = 0;
    for (int64_t c = 0; c < w.size[1]; ++c)
      for (int64_t u = 0; u < w.size[2]; ++u)
        for (int64_t v = 0; v < w.size[3]; ++v)
          sum = std::fma(
              w.at(o, c, u, v),
              x.padded(n, o / filters * w.size[1] + c, placeOf(m, 0, i, u), placeOf(m, 1, j, v)),
              sum);
    if (bias)
      sum += bias[o];
    out.at(n, o, i, j) = form.relu ? maximum(Scalar<T>{sum}, Scalar<T>{0}).value : sum;
  });
}

template <class T>
void inputGrad(const ConvolutionRule &form, Const4<T> g, Const4<T> w, View4<T> out) {
  const WindowShape &m = form.window;
  int64_t filters = w.size[0] / form.groups;
  each4(out.size, [&](int64_t n, int64_t channel, int64_t y, int64_t x) {
    int64_t c = channel % w.size[1], first = channel / w.size[1] * filters;
    T sum = 0;
    for (int64_t u = 0; u < w.size[2]; ++u)
      for (int64_t v = 0; v < w.size[3]; ++v) {
        auto i = windowAt(m, 0, y, u, g.size[2]), j = windowAt(m, 1, x, v, g.size[3]);
        if (!i || !j)
          continue;
        T chain = 0;
        for (int64_t o = first; o < first + filters; ++o)
          chain = std::fma(w.at(o, c, u, v), g.at(n, o, *i, *j), chain);
        sum += chain;
      }
    out.at(n, channel, y, x) = sum;
  });
}

/// Calls `body(o, c, u, v, go)` for each weight, where `go(leaf, sum)` goes on with the chain of a
/// leaf, of `leaves`, from `sum`.
template <class T, class Body>
void eachWeight(const ConvolutionRule &form, Const4<T> x, Const4<T> g, std::array<int64_t, 4> sizes,
                int64_t leaves, Body body) {
  const WindowShape &m = form.window;
  int64_t perLeaf = g.size[0] / leaves, filters = sizes[0] / form.groups;
  each4(sizes, [&](int64_t o, int64_t c, int64_t u, int64_t v) {
    int64_t channel = o / filters * sizes[1] + c;
    body(o, c, u, v, [&](int64_t leaf, T sum) {
      for (int64_t n = leaf * perLeaf; n < (leaf + 1) * perLeaf; ++n)
        for (int64_t i = 0; i < g.size[2]; ++i)
          for (int64_t j = 0; j < g.size[3]; ++j)
            sum = std::fma(x.padded(n, channel, placeOf(m, 0, i, u), placeOf(m, 1, j, v)),
                           g.at(n, o, i, j), sum);
      return sum;
    });
  });
}

template <class T>
void weightGrad(const ConvolutionRule &form, Const4<T> x, Const4<T> g, View4<T> out) {
  int64_t leaves = leafCount(g.size[0]);
  eachWeight(form, x, g, out.size, leaves,
             [&](int64_t o, int64_t c, int64_t u, int64_t v, auto go) {
               SmallVector<T> sums;
               for (int64_t leaf = 0; leaf < leaves; ++leaf)
                 sums.push_back(go(leaf, T(0)));
               out.at(o, c, u, v) = joinTree(sums);
             });
}

} // namespace

LogicalResult evaluateConv2d(const ConvolutionRule &form, bool hasBias, Evaluation &eval) {
  const HostTensor &x = eval.operand(0), &w = eval.operand(1);
  if (x.shape()[1] != w.shape()[1] * form.groups)
    return eval.mismatch(x, w);
  SmallVector<int64_t> shape{x.shape()[0], w.shape()[0]};
  for (int axis : {0, 1})
    shape.push_back(form.window.count(axis, x.shape()[2 + axis]));
  HostTensor &out = eval.result(0, shape);
  return success(dispatch(Floats{}, x.dtype(), [&]<class T>() {
    const T *bias = hasBias ? eval.operand(2).data<T>() : nullptr;
    conv2d<T>(form, Const4<T>(x), Const4<T>(w), bias, View4<T>(out));
  }));
}

LogicalResult evaluateConv2dInputGrad(const ConvolutionRule &form, ArrayRef<int64_t> picture,
                                      Evaluation &eval) {
  const HostTensor &g = eval.operand(0), &w = eval.operand(1);
  HostTensor &out =
      eval.result(0, {g.shape()[0], w.shape()[1] * form.groups, picture[0], picture[1]});
  return success(dispatch(Floats{}, g.dtype(), [&]<class T>() {
    inputGrad<T>(form, Const4<T>(g), Const4<T>(w), View4<T>(out));
  }));
}

LogicalResult evaluateConv2dWeightGrad(const ConvolutionRule &form, Evaluation &eval) {
  const HostTensor &x = eval.operand(0), &g = eval.operand(1);
  if (x.shape()[0] != g.shape()[0])
    return eval.mismatch(x, g);
  HostTensor &out = eval.result(
      0, {g.shape()[1], x.shape()[1] / form.groups, form.window.size[0], form.window.size[1]});
  return success(dispatch(Floats{}, g.dtype(), [&]<class T>() {
    weightGrad<T>(form, Const4<T>(x), Const4<T>(g), View4<T>(out));
  }));
}

LogicalResult evaluateConv2dWeightLeaves(const ConvolutionRule &form, Evaluation &eval) {
  const HostTensor &x = eval.operand(0), &g = eval.operand(1), &leaves = eval.operand(2);
  if (x.shape()[0] != g.shape()[0])
    return eval.mismatch(x, g);
  HostTensor &out = eval.result(0, leaves.shape());
  std::memcpy(out.bytes(), leaves.bytes(), leaves.numBytes());
  int64_t count = openLeafCount(g.shape()[0], out.shape()[0]);
  std::array<int64_t, 4> sizes;
  std::copy_n(out.shape().begin() + 1, 4, sizes.begin());
  int64_t size = out.numElements() / out.shape()[0];
  return success(dispatch(Floats{}, g.dtype(), [&]<class T>() {
    int64_t at = 0; // Weights are visited in the order of their elements.
    eachWeight(form, Const4<T>(x), Const4<T>(g), sizes, count,
               [&](int64_t, int64_t, int64_t, int64_t, auto go) {
                 for (int64_t leaf = 0; leaf < count; ++leaf) {
                   T &sum = out.data<T>()[leaf * size + at];
                   sum = go(leaf, sum);
                 }
                 ++at;
               });
  }));
}

} // namespace pdg
