// Arenas are mapped a little too large and cut to the boundary of a huge page.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/arena.h"

#include <absl/strings/str_cat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/mman.h>

namespace pdg {

namespace {

int64_t roundUp(int64_t size) { return (size + Arena::kAlignment - 1) & -Arena::kAlignment; }

} // namespace

absl::StatusOr<Arena> Arena::create(int64_t numBytes) {
  Arena arena;
  if (numBytes == 0)
    return arena;
  if (numBytes < 0 || numBytes > (int64_t{1} << 46))
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot reserve ", numBytes, " bytes for the values of the program"));
  int64_t length = roundUp(numBytes), mapped = length + kAlignment;
  void *memory = mmap(nullptr, static_cast<size_t>(mapped), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot reserve ", numBytes,
                     " bytes for the values of the program: ", std::strerror(errno)));
  char *begin = static_cast<char *>(memory);
  int64_t head = roundUp(reinterpret_cast<int64_t>(begin)) - reinterpret_cast<int64_t>(begin);
  if (head != 0)
    munmap(begin, static_cast<size_t>(head));
  if (head != kAlignment)
    munmap(begin + head + length, static_cast<size_t>(kAlignment - head));
  arena.data_ = begin + head;
  arena.size_ = numBytes;
  // Advice only: without huge pages large products are a few percent slower.
  madvise(arena.data_, static_cast<size_t>(length), MADV_HUGEPAGE);
  return arena;
}

Arena::Arena(Arena &&other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Arena &Arena::operator=(Arena &&other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Arena::~Arena() {
  if (data_)
    munmap(data_, static_cast<size_t>(roundUp(size_)));
}

} // namespace pdg
