// Descriptors, and files in memory.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cluster/descriptor.h"

#include <absl/strings/str_cat.h>

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace pdg {

Descriptor::Descriptor(Descriptor &&other) noexcept : value(std::exchange(other.value, -1)) {}

Descriptor::~Descriptor() {
  if (value >= 0)
    close(value);
}

absl::StatusOr<Descriptor> shareBytes(std::string_view bytes) {
  Descriptor file(memfd_create("pdg-module", 0));
  while (file.value >= 0 && !bytes.empty()) {
    ssize_t written = write(file.value, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      break;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  if (file.value < 0 || !bytes.empty())
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a module: ", std::strerror(errno)));
  return file;
}

} // namespace pdg
