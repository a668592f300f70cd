// Memory for one message: aligned, kept from message to message, grown when a larger one comes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace pdg {

/// Bytes aligned to 64, not initialized. Movable.
class Buffer {
public:
  /// Makes room for `bytes`; what was there is lost if it has to grow. ResourceExhausted if memory
  /// is short.
  absl::Status grow(int64_t bytes);

  /// The memory; not null once grow succeeded, even for 0 bytes.
  char *data() const { return memory_.get(); }

  int64_t capacity() const { return capacity_; }

private:
  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };

  std::unique_ptr<char, Free> memory_;
  int64_t capacity_ = 0;
};

} // namespace pdg
