// NumPy's .npz format: a zip archive with one .npy member per tensor.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/checkpoint/named_tensor.h"

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pdg {

/// The sizes from which on zip needs its 64-bit fields.
inline constexpr uint64_t kZip64From = 0xffffffff;

/// Reads all tensors, stored or deflated, in the order of the archive. Directory, sizes and
/// checksums are verified; errors name the file and the member.
absl::StatusOr<std::vector<NamedTensor>> readNpz(const std::string &path);

/// Reads the tensor `name` only. The error for an unknown name lists those that there are.
absl::StatusOr<HostTensor> readNpz(const std::string &path, const std::string &name);

/// What an archive says of one of its tensors.
struct NpzEntry {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
};

/// Reads the headers of all tensors, in the order of the archive.
absl::StatusOr<std::vector<NpzEntry>> listNpz(const std::string &path);

/// Writes the tensors, uncompressed, atomically. The same tensors give the same bytes. Names must
/// differ. Sizes and offsets of `zip64From` or more use 64-bit fields; only tests lower it.
absl::Status writeNpz(const std::string &path, std::span<const TensorRef> tensors,
                      uint64_t zip64From = kZip64From);

} // namespace pdg
