// Reading and atomic writing of files with system calls.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/checkpoint/file.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pdg {

namespace {

// One system call moves at most 2 GiB.
constexpr uint64_t kMaxTransfer = uint64_t{1} << 30;

absl::Status systemError(const char *what, const std::string &path) {
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot ", what, " ", path));
}

// Makes the new name itself durable. A file system that cannot do that is no reason to fail.
void syncFolder(const std::string &path) {
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return;
  fsync(descriptor);
  close(descriptor);
}

} // namespace

absl::StatusOr<RandomAccessFile> RandomAccessFile::open(const std::string &path) {
  // Non-blocking, so that a named pipe is refused below instead of waited for.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return systemError("open", path);
  struct stat info;
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(descriptor);
    return absl::InvalidArgumentError(absl::StrCat("cannot read ", path, ": not a regular file"));
  }
  return RandomAccessFile(path, descriptor, static_cast<uint64_t>(info.st_size));
}

RandomAccessFile::RandomAccessFile(std::string path, int descriptor, uint64_t size)
    : path_(std::move(path)), descriptor_(descriptor), size_(size) {}

RandomAccessFile::RandomAccessFile(RandomAccessFile &&other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

RandomAccessFile &RandomAccessFile::operator=(RandomAccessFile &&other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

RandomAccessFile::~RandomAccessFile() {
  if (descriptor_ >= 0)
    close(descriptor_);
}

absl::Status RandomAccessFile::readAt(uint64_t offset, void *to, uint64_t size) const {
  char *next = static_cast<char *>(to);
  while (size != 0) {
    ssize_t count =
        pread(descriptor_, next, std::min(size, kMaxTransfer), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return systemError("read", path_);
    if (count == 0)
      return absl::DataLossError(
          absl::StrCat(path_, ": ends at byte ", offset, ", expected ", size, " more bytes"));
    next += count;
    offset += static_cast<uint64_t>(count);
    size -= static_cast<uint64_t>(count);
  }
  return absl::OkStatus();
}

absl::StatusOr<AtomicFile> AtomicFile::create(const std::string &path) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return absl::InvalidArgumentError(
        absl::StrCat("cannot write ", path, ": exists and is not a regular file"));
  // The process id keeps two processes that save to one name apart; the last to finish wins.
  std::string temporary = absl::StrCat(path, ".", getpid(), ".tmp");
  int descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return systemError("write", path);
  return AtomicFile(path, std::move(temporary), descriptor);
}

AtomicFile::AtomicFile(std::string path, std::string temporary, int descriptor)
    : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : path_(std::move(other.path_)), temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0)
    return;
  close(descriptor_);
  unlink(temporary_.c_str());
}

absl::Status AtomicFile::append(const void *bytes, uint64_t size) {
  const char *next = static_cast<const char *>(bytes);
  while (size != 0) {
    ssize_t count = write(descriptor_, next, std::min(size, kMaxTransfer));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return systemError("write", path_);
    next += count;
    size_ += static_cast<uint64_t>(count);
    size -= static_cast<uint64_t>(count);
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::commit() {
  if (fsync(descriptor_) != 0)
    return systemError("write", path_);
  if (rename(temporary_.c_str(), path_.c_str()) != 0)
    return systemError("write", path_);
  close(std::exchange(descriptor_, -1));
  syncFolder(path_);
  return absl::OkStatus();
}

} // namespace pdg
