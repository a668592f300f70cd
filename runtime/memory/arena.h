// The one buffer that holds every intermediate value of a program; places in it are planned when
// compiling.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>

namespace pdg {

/// Memory from the system, zero at first, in huge pages where the system has them. Movable.
class Arena {
public:
  /// Huge pages have this size; an arena begins on such a boundary.
  static constexpr int64_t kAlignment = int64_t{2} << 20;

  Arena() = default;
  Arena(Arena &&other) noexcept;
  Arena &operator=(Arena &&other) noexcept;
  ~Arena();

  /// Reserves `numBytes`; 0 gives an arena without memory. Fails on a negative size and if the
  /// system refuses.
  static absl::StatusOr<Arena> create(int64_t numBytes);

  /// The first byte, aligned to kAlignment; null if there are none.
  char *data() const { return data_; }

  /// The size that was asked for.
  int64_t size() const { return size_; }

private:
  char *data_ = nullptr;
  int64_t size_ = 0;
};

} // namespace pdg
