// Reads a file from its beginning to its end, unpacking it if it is gzip, and proves that what was
// read is whole: a packed file's checksum, length and end are verified.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace pdg {

/// A file open for reading. What it holds after unpacking is called its content. A file is packed
/// if it begins as gzip does; one named .gz must be.
///
/// Errors name the file and the byte: NotFound, PermissionDenied and so on from the system,
/// DataLoss for gzip data that is cut off, damaged or followed by something else, Cancelled when
/// asked.
class InputFile {
public:
  /// Opens `path`. Reading fails with Cancelled once `*cancelled`, which may be null, is true.
  static absl::StatusOr<InputFile> open(std::string path,
                                        const std::atomic<bool> *cancelled = nullptr);

  InputFile(InputFile &&);
  InputFile &operator=(InputFile &&);
  ~InputFile();

  /// Reads up to `size` bytes of content and returns how many there were: fewer only at the end.
  /// The end of a packed file is reported only if the file is proved whole.
  absl::StatusOr<int64_t> read(void *to, int64_t size);

  /// Goes to byte `offset` of the content, or to its end if there are fewer. Of a packed file
  /// everything before is unpacked: again, to go back.
  absl::Status seek(int64_t offset);

  const std::string &path() const { return path_; }
  bool isPacked() const { return unpacker_ != nullptr; }

  /// The number of bytes of content read so far.
  int64_t offset() const { return offset_; }

  /// A bound on the bytes of content: the size of a plain file; of a packed one, the most that its
  /// bytes can unpack to.
  int64_t maxContentSize() const;

private:
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  struct Unpacker;

  explicit InputFile(std::string path);

  absl::StatusOr<int64_t> readPiece(void *to, int64_t size);
  absl::StatusOr<int64_t> readPacked(void *to, int64_t size);
  absl::StatusOr<int64_t> readRaw(void *to, int64_t size);
  absl::Status restart();
  absl::Status refill();
  absl::Status endMember();
  absl::Status describeDamage() const;
  absl::Status lost(std::string_view what) const;

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::unique_ptr<Unpacker> unpacker_;
  const std::atomic<bool> *cancelled_ = nullptr;
  int64_t fileSize_ = 0;
  int64_t offset_ = 0;
};

} // namespace pdg
