// NumPy's .npy format: one tensor. Also the members of .npz files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/base/tensor.h"

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace pdg {

/// Puts the next `size` bytes of a stream to `to`, or fails.
using ReadExactly = std::function<absl::Status(void *to, uint64_t size)>;

/// Returns what precedes the elements of a tensor in a .npy file; a multiple of 64 bytes long.
std::string makeNpyHeader(DType dtype, const std::vector<int64_t> &shape);

/// What precedes the elements of a .npy file.
struct NpyHeader {
  DType dtype = DType::F32;
  bool isBigEndian = false;
  bool isColumnMajor = false;
  std::vector<int64_t> shape;
  uint64_t numBytes = 0; ///< Of the header.
};

/// Reads the header of a stream of at most `size` bytes, and nothing behind it. What it says of
/// sizes is not checked. Errors begin with `name`.
absl::StatusOr<NpyHeader> parseNpyHeader(const std::string &name, uint64_t size,
                                         const ReadExactly &read);

/// Reads a tensor from a stream that holds exactly `size` bytes. Column-major and big-endian files
/// are brought into our order. Errors begin with `name`. Nothing larger than `size` is allocated.
absl::StatusOr<HostTensor> parseNpy(const std::string &name, uint64_t size,
                                    const ReadExactly &read);

/// Copies a column-major array of `shape` to `to`, row-major.
void copyToRowMajor(const uint8_t *from, std::span<const int64_t> shape, size_t elementSize,
                    uint8_t *to);

/// Reads a .npy file.
absl::StatusOr<HostTensor> readNpy(const std::string &path);

/// Writes a .npy file, atomically.
absl::Status writeNpy(const std::string &path, const HostTensor &tensor);

} // namespace pdg
