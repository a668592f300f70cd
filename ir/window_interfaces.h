// The interfaces of ops whose window moves over pictures, and what they speak in. Apart from
// ir/interfaces.h, since few files need them. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/interfaces.h"

#include <array>

namespace pdg {

/// How a window moves over a picture. Element u of window i covers position i * stride - before +
/// u * dilation of its axis, where the picture has `before` and `after` more positions at its ends.
struct WindowShape {
  std::array<int64_t, 2> size, stride, before, after, dilation;
  /// Positions from the first to the last of a window.
  int64_t reach(int axis) const { return (size[axis] - 1) * dilation[axis] + 1; }
  /// How many windows there are along an axis of `length` positions; they fit.
  int64_t count(int axis, int64_t length) const {
    return (length + before[axis] + after[axis] - reach(axis)) / stride[axis] + 1;
  }
};

/// What a convolution op computes. Operands: Forward x, w and perhaps a bias; InputGrad g, w;
/// WeightGrad x, g.
struct ConvolutionRule {
  enum Kind { Forward, InputGrad, WeightGrad } kind = Forward;
  WindowShape window;
  int64_t groups = 1;
  bool relu = false; ///< Forward: negative results become 0.
};

/// What a pooling op computes of each window. Operands: Max x; MaxAt x, y; MaxGrad g, x; Sum x;
/// SumGrad g.
struct PoolingRule {
  enum Kind { Max, MaxAt, MaxGrad, Sum, SumGrad } kind = Max;
  WindowShape window;
};

} // namespace pdg

#include "ir/window_interfaces.h.inc"
