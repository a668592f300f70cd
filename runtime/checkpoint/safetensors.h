// The safetensors format: 8 bytes of length, a JSON header with type, shape and place of each
// tensor, then their bytes without gaps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/checkpoint/named_tensor.h"

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <span>
#include <string>
#include <vector>

namespace pdg {

/// Reads all tensors, in the order of their bytes. Before any tensor is made, every name, type,
/// shape and offset is checked: no name twice, sizes that fit, no overlaps, no gaps, nothing
/// outside the file. Errors name the file and the tensor.
absl::StatusOr<std::vector<NamedTensor>> readSafetensors(const std::string &path);

/// Writes the tensors, atomically, those with the widest elements first, so that each is aligned to
/// its element size. The same tensors give the same bytes. Names must differ.
absl::Status writeSafetensors(const std::string &path, std::span<const TensorRef> tensors);

} // namespace pdg
