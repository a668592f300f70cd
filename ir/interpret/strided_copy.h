// Copies between tensors by strides, for the ops that move elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/interfaces.h"

namespace pdg {

/// The stride of each axis of a row-major tensor, in elements.
inline llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

/// Fills `out` in row-major order from the elements of `x` at `offset` and `strides`, one for each
/// axis of `out`.
void copyStrided(const HostTensor &x, int64_t offset, llvm::ArrayRef<int64_t> strides,
                 HostTensor &out);

/// The reverse: writes the elements of `x`, in row-major order, to `offset` and `strides` of `out`.
void writeStrided(const HostTensor &x, int64_t offset, llvm::ArrayRef<int64_t> strides,
                  HostTensor &out);

} // namespace pdg
