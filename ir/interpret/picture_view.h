// Tensors [examples, channels, height, width] by index, for the interpreter.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/base/tensor.h"

#include <array>

namespace pdg {

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

} // namespace pdg
