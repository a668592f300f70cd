// Files for tensors: reading at any place, and writing so that a file is either whole or not there.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace pdg {

/// A file open for reading. Read with system calls and not mapped: a file that another process cuts
/// off then gives an error and not a signal.
class RandomAccessFile {
public:
  /// Opens `path`, which must be a regular file.
  static absl::StatusOr<RandomAccessFile> open(const std::string &path);

  RandomAccessFile(RandomAccessFile &&other) noexcept;
  RandomAccessFile &operator=(RandomAccessFile &&other) noexcept;
  ~RandomAccessFile();

  /// Reads exactly `size` bytes at `offset`. Fails if the file ends before.
  absl::Status readAt(uint64_t offset, void *to, uint64_t size) const;

  const std::string &path() const { return path_; }

  /// The size when it was opened.
  uint64_t size() const { return size_; }

private:
  RandomAccessFile(std::string path, int descriptor, uint64_t size);

  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

/// A file that appears under its name only when it is complete and on disk: written to a temporary
/// name in the same folder, synced, renamed. Without commit() nothing remains of it.
class AtomicFile {
public:
  /// Begins to write `path`. What is there already stays until commit(); it must be a regular file.
  static absl::StatusOr<AtomicFile> create(const std::string &path);

  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;
  ~AtomicFile();

  /// Writes `size` bytes after what was written so far.
  absl::Status append(const void *bytes, uint64_t size);
  absl::Status append(std::string_view bytes) { return append(bytes.data(), bytes.size()); }

  /// The number of bytes appended.
  uint64_t size() const { return size_; }

  /// Syncs the file and gives it its name. Call at most once.
  absl::Status commit();

private:
  AtomicFile(std::string path, std::string temporary, int descriptor);

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

} // namespace pdg
