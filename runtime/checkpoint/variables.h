// Variables to and from files. The form follows from the name: .safetensors or .npz.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/checkpoint/named_tensor.h"

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdg {

/// Says whether the variable `name` is `path` or lies in its scope: "net.hidden" holds
/// "net.hidden.W" and "net.hidden.W/adam.m", not "net.hidden2.W".
bool isInScope(std::string_view name, std::string_view path);

/// An error unless writeTensors() could write to `path` now: unless its name ends in .safetensors
/// or .npz and its folder takes a file. Leaves no file behind.
absl::Status checkTensorFile(const std::string &path);

/// Reads all tensors of a .safetensors or .npz file.
absl::StatusOr<std::vector<NamedTensor>> readTensors(const std::string &path);

/// Writes a .safetensors or .npz file, atomically. NaNs become the quiet positive one, in `tensors`
/// too: their sign and payload are not part of a result, and equal results make equal files.
absl::Status writeTensors(const std::string &path, std::span<const TensorRef> tensors);

/// What a load with scopes left as it was.
struct LoadReport {
  int64_t numLoaded = 0;
  std::vector<std::string> kept;   ///< Variables that have their first values: "name: type".
  std::vector<std::string> unused; ///< Tensors of the file.
};

/// Fills `variables` from a file. Each must be there with its exact type and shape, and the file
/// must hold nothing else. If `only` is not empty, this is asked of the variables and tensors in
/// those scopes, and all others are left alone; of the states of optimizers in those scopes
/// ("W/adam.m") only those are loaded that both sides have, since another statement may train the
/// variable now, or none. `report`, which may be null, says what was not loaded. The error lists
/// everything that does not fit; then no variable was changed.
absl::Status loadVariables(const std::string &path, std::span<const TensorRef> variables,
                           std::span<const std::string> only = {}, LoadReport *report = nullptr);

/// The report for a user, a line for each variable; empty if everything was loaded.
std::string describe(const LoadReport &report, const std::string &path);

} // namespace pdg
