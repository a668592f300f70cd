// Sealed memory files. SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/wire/shared_region.h"

#include <absl/strings/str_cat.h>

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace pdg {

Descriptor::~Descriptor() {
  if (fd_ >= 0)
    close(fd_);
}

SharedRegion::SharedRegion(SharedRegion &&other) noexcept { *this = std::move(other); }

SharedRegion &SharedRegion::operator=(SharedRegion &&other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(isWritable_, other.isWritable_);
  return *this;
}

SharedRegion::~SharedRegion() {
  if (data_)
    munmap(data_, static_cast<size_t>(size_));
}

absl::StatusOr<SharedRegion> SharedRegion::create(int64_t size, Access access) {
  SharedRegion region;
  region.descriptor_ = Descriptor(memfd_create("pdg", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  int fd = region.descriptor_.get();
  if (fd < 0 || ftruncate(fd, size) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("no shared memory of ", size, " bytes"));
  void *data = mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED)
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot map ", size, " bytes"));
  region.data_ = static_cast<char *>(data);
  region.size_ = size;
  region.isWritable_ = true;
  int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (access == Access::OwnerWrites)
    seals |= F_SEAL_FUTURE_WRITE;
  if (fcntl(fd, F_ADD_SEALS, seals) != 0)
    return absl::ErrnoToStatus(errno, "cannot seal shared memory");
  return region;
}

absl::StatusOr<SharedRegion> SharedRegion::map(Descriptor descriptor, int64_t size, Access access) {
  SharedRegion region;
  int fd = descriptor.get();
  int seals = fcntl(fd, F_GET_SEALS);
  struct stat status;
  if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &status) != 0 || status.st_size != size)
    return absl::PermissionDeniedError(
        absl::StrCat("expects sealed memory of ", size, " bytes, got something else"));
  region.isWritable_ = access == Access::AllWrite;
  int protection = PROT_READ | (region.isWritable_ ? PROT_WRITE : 0);
  void *data = mmap(nullptr, static_cast<size_t>(size), protection, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED)
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot map ", size, " bytes"));
  region.data_ = static_cast<char *>(data);
  region.size_ = size;
  region.descriptor_ = std::move(descriptor);
  return region;
}

absl::Status SharedRegion::allocate(int64_t offset, int64_t size) {
  while (size > 0 && fallocate(descriptor_.get(), 0, offset, size) != 0)
    if (errno != EINTR)
      return absl::ResourceExhaustedError(absl::StrCat("no shared memory for ", size, " bytes"));
  return absl::OkStatus();
}

void SharedRegion::populate(int64_t size) {
  // Only speed depends on it, so older systems may refuse.
  madvise(data_, static_cast<size_t>(size), isWritable_ ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
}

} // namespace pdg
