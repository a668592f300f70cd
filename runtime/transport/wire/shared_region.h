// Memory that processes of one host share: made by one, sealed, handed over as a descriptor.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <utility>

namespace pdg {

/// A file descriptor that is closed with its owner. Movable.
class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();

  int get() const { return fd_; }
  bool isOpen() const { return fd_ >= 0; }

private:
  int fd_ = -1;
};

/// A mapped region. It has no name anywhere, so nothing is left of it when its processes end.
/// Movable.
class SharedRegion {
public:
  /// Who may write a region that another process has made.
  enum class Access { OwnerWrites, AllWrite };

  SharedRegion() = default;
  SharedRegion(SharedRegion &&other) noexcept;
  SharedRegion &operator=(SharedRegion &&other) noexcept;
  ~SharedRegion();

  /// Makes a region of zeros, whose size stays as it is. With OwnerWrites no other process can map
  /// it so that it could write.
  static absl::StatusOr<SharedRegion> create(int64_t size, Access access);

  /// Maps a region that another process made. PermissionDenied if it could shrink or has another
  /// size: reading it might then end this process.
  static absl::StatusOr<SharedRegion> map(Descriptor descriptor, int64_t size, Access access);

  /// Takes memory from the system for a part of the own region. ResourceExhausted if there is none;
  /// writing would end the process instead.
  absl::Status allocate(int64_t offset, int64_t size);

  /// Prepares this process's view of the first `size` bytes, which must have memory, so that using
  /// them does not fault.
  void populate(int64_t size);

  char *data() const { return data_; }
  int64_t size() const { return size_; }
  int descriptor() const { return descriptor_.get(); }

private:
  Descriptor descriptor_;
  char *data_ = nullptr;
  int64_t size_ = 0;
  bool isWritable_ = false;
};

} // namespace pdg
