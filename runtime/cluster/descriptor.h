// Files of the system that are closed in time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/status/statusor.h>

#include <string_view>

namespace pdg {

/// A descriptor that is closed at its end.
struct Descriptor {
  explicit Descriptor(int value = -1) : value(value) {}
  Descriptor(Descriptor &&other) noexcept;
  ~Descriptor();
  int value;
};

/// Makes a file in memory that processes started from now on can read, and no other.
absl::StatusOr<Descriptor> shareBytes(std::string_view bytes);

} // namespace pdg
