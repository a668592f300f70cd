// Walks one tensor in order and the other by strides.
// SPDX-License-Identifier: Apache-2.0
#include "ir/interpret/strided_copy.h"

namespace pdg {

/// Calls `visit(i, offset)` for each element i of a tensor of `shape`.
template <class Fn>
static void walk(llvm::ArrayRef<int64_t> shape, int64_t offset, llvm::ArrayRef<int64_t> strides,
                 int64_t count, Fn visit) {
  llvm::SmallVector<int64_t> at(shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    visit(i, offset);
    for (size_t axis = shape.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++at[axis] < shape[axis])
        break;
      offset -= strides[axis] * shape[axis];
      at[axis] = 0;
    }
  }
}

void copyStrided(const HostTensor &x, int64_t offset, llvm::ArrayRef<int64_t> strides,
                 HostTensor &out) {
  size_t size = sizeOf(x.dtype());
  walk(out.shape(), offset, strides, out.numElements(), [&](int64_t i, int64_t from) {
    std::memcpy(out.bytes() + i * size, x.bytes() + from * size, size);
  });
}

void writeStrided(const HostTensor &x, int64_t offset, llvm::ArrayRef<int64_t> strides,
                  HostTensor &out) {
  size_t size = sizeOf(x.dtype());
  walk(x.shape(), offset, strides, x.numElements(), [&](int64_t i, int64_t to) {
    std::memcpy(out.bytes() + to * size, x.bytes() + i * size, size);
  });
}

} // namespace pdg
