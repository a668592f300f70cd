// Memory for one message. SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/buffer.h"

#include <absl/strings/str_cat.h>

namespace pdg {

absl::Status Buffer::grow(int64_t bytes) {
  constexpr int64_t kAlignment = 64;
  if (memory_ && bytes <= capacity_)
    return absl::OkStatus();
  // Both must not exist at once: a message may be a large part of the machine's memory.
  memory_.reset();
  capacity_ = 0;
  int64_t rounded = (bytes + kAlignment) / kAlignment * kAlignment;
  memory_.reset(static_cast<char *>(std::aligned_alloc(kAlignment, static_cast<size_t>(rounded))));
  if (!memory_)
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a message of ", bytes, " bytes"));
  capacity_ = rounded;
  return absl::OkStatus();
}

} // namespace pdg
