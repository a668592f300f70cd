// Plain and gzip files. The zlib stream is driven directly, not through gzread: that one takes a
// cut or followed file for a whole one in some cases, and copies once more.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/input_file.h"

#include "runtime/base/text.h"

#include <absl/status/status.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

namespace pdg {

namespace {

// Content is read in pieces of this size, so that cancelling takes effect soon.
constexpr int64_t kPieceSize = int64_t{1} << 20;
constexpr int64_t kInputSize = int64_t{1} << 18;
// A deflate block cannot describe more than 1032 bytes of content by one byte.
constexpr int64_t kMaxUnpackRatio = 1032;
constexpr uint8_t kGzipMagic[2] = {0x1f, 0x8b};

} // namespace

/// The gzip state: a zlib stream and the bytes of the file that it works on.
struct InputFile::Unpacker {
  z_stream stream = {};
  std::unique_ptr<uint8_t[]> input{new uint8_t[kInputSize]};
  int64_t fileOffset = 0; ///< Bytes taken from the file, those still waiting in `stream` included.
  bool isAtEnd = false;

  ~Unpacker() { inflateEnd(&stream); }

  /// The place in the file of the next byte that zlib will look at.
  int64_t position() const { return fileOffset - stream.avail_in; }
};

InputFile::InputFile(std::string path) : path_(std::move(path)) {}
InputFile::InputFile(InputFile &&) = default;
InputFile &InputFile::operator=(InputFile &&) = default;
InputFile::~InputFile() = default;

absl::StatusOr<InputFile> InputFile::open(std::string path, const std::atomic<bool> *cancelled) {
  InputFile input(std::move(path));
  input.cancelled_ = cancelled;
  input.file_.reset(std::fopen(input.path_.c_str(), "rbe"));
  struct stat info;
  if (!input.file_ || fstat(fileno(input.file_.get()), &info) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open '", input.path_, "'"));
  if (!S_ISREG(info.st_mode))
    return absl::InvalidArgumentError(absl::StrCat("'", input.path_, "' is not a regular file"));
  input.fileSize_ = info.st_size;
  std::setvbuf(input.file_.get(), nullptr, _IONBF, 0);

  uint8_t magic[2] = {};
  absl::StatusOr<int64_t> found = input.readRaw(magic, 2);
  if (!found.ok())
    return found.status();
  std::rewind(input.file_.get());
  bool isPacked = *found == 2 && magic[0] == kGzipMagic[0] && magic[1] == kGzipMagic[1];
  if (!isPacked && absl::EndsWith(input.path_, ".gz"))
    return *found == 2 ? input.lost(absl::StrFormat("expects a gzip file, which begins with the "
                                                    "bytes 1f 8b, found %02x %02x at byte 0",
                                                    magic[0], magic[1]))
                       : input.lost(absl::StrCat("expects a gzip file, found ", *found, " bytes"));
  if (isPacked) {
    input.unpacker_ = std::make_unique<Unpacker>();
    // 15 bits of window is the most there is; 16 more ask for the gzip form with its checksum.
    if (inflateInit2(&input.unpacker_->stream, 15 + 16) != Z_OK)
      return absl::ResourceExhaustedError(
          absl::StrCat("cannot unpack '", input.path_, "': out of memory"));
  }
  return input;
}

int64_t InputFile::maxContentSize() const {
  return isPacked() ? std::min(fileSize_, INT64_MAX / kMaxUnpackRatio) * kMaxUnpackRatio
                    : fileSize_;
}

absl::StatusOr<int64_t> InputFile::read(void *to, int64_t size) {
  int64_t done = 0;
  while (done < size) {
    if (cancelled_ && cancelled_->load(std::memory_order_relaxed))
      return absl::CancelledError(absl::StrCat("reading '", path_, "' was cancelled"));
    int64_t piece = std::min(size - done, kPieceSize);
    absl::StatusOr<int64_t> found = readPiece(static_cast<uint8_t *>(to) + done, piece);
    if (!found.ok())
      return found;
    offset_ += *found;
    done += *found;
    if (*found == piece)
      continue;
    // Else a cut would look like the end of the data.
    if (!isPacked() && offset_ != fileSize_)
      return lost(absl::StrCat("expects ", fileSize_,
                               " bytes, as when it was opened, found the end "
                               "after ",
                               offset_, ": it changed while it was read"));
    break;
  }
  return done;
}

absl::Status InputFile::seek(int64_t offset) {
  if (!isPacked()) {
    offset_ = std::min(offset, fileSize_);
    if (fseeko(file_.get(), offset_, SEEK_SET) != 0)
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot read '", path_, "'"));
    return absl::OkStatus();
  }
  if (offset < offset_)
    if (absl::Status status = restart(); !status.ok())
      return status;
  uint8_t skipped[1 << 14];
  while (offset_ < offset) {
    absl::StatusOr<int64_t> found =
        read(skipped, std::min<int64_t>(offset - offset_, sizeof(skipped)));
    if (!found.ok())
      return found.status();
    if (*found == 0)
      break;
  }
  return absl::OkStatus();
}

/// Goes back to the beginning of a packed file.
absl::Status InputFile::restart() {
  if (fseeko(file_.get(), 0, SEEK_SET) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read '", path_, "'"));
  offset_ = 0;
  inflateReset(&unpacker_->stream);
  unpacker_->stream.avail_in = 0;
  unpacker_->fileOffset = 0;
  unpacker_->isAtEnd = false;
  return absl::OkStatus();
}

absl::StatusOr<int64_t> InputFile::readPiece(void *to, int64_t size) {
  return isPacked() ? readPacked(to, size) : readRaw(to, size);
}

absl::StatusOr<int64_t> InputFile::readRaw(void *to, int64_t size) {
  size_t found = std::fread(to, 1, static_cast<size_t>(size), file_.get());
  if (std::ferror(file_.get()))
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read '", path_, "'"));
  return static_cast<int64_t>(found);
}

absl::StatusOr<int64_t> InputFile::readPacked(void *to, int64_t size) {
  Unpacker &unpacker = *unpacker_;
  z_stream &stream = unpacker.stream;
  stream.next_out = static_cast<Bytef *>(to);
  stream.avail_out = static_cast<uInt>(size);
  while (stream.avail_out > 0 && !unpacker.isAtEnd) {
    if (stream.avail_in == 0) {
      if (absl::Status status = refill(); !status.ok())
        return status;
      if (stream.avail_in == 0)
        return lost(absl::StrCat("expects more gzip data, found the end of the file at byte ",
                                 fileSize_, ": the file is cut off"));
    }
    int code = inflate(&stream, Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
      if (absl::Status status = endMember(); !status.ok())
        return status;
    } else if (code == Z_MEM_ERROR) {
      return absl::ResourceExhaustedError(
          absl::StrCat("cannot unpack '", path_, "': out of memory"));
    } else if (code != Z_OK) {
      return describeDamage();
    }
  }
  return size - static_cast<int64_t>(stream.avail_out);
}

absl::Status InputFile::refill() {
  absl::StatusOr<int64_t> found = readRaw(unpacker_->input.get(), kInputSize);
  if (!found.ok())
    return found.status();
  unpacker_->fileOffset += *found;
  unpacker_->stream.next_in = unpacker_->input.get();
  unpacker_->stream.avail_in = static_cast<uInt>(*found);
  return absl::OkStatus();
}

/// After the checksum of one gzip member: nothing follows, or another member, whose content is
/// appended (that is how gzip files are concatenated).
absl::Status InputFile::endMember() {
  z_stream &stream = unpacker_->stream;
  if (stream.avail_in == 0)
    if (absl::Status status = refill(); !status.ok())
      return status;
  unpacker_->isAtEnd = stream.avail_in == 0;
  if (unpacker_->isAtEnd)
    return absl::OkStatus();
  if (*stream.next_in != kGzipMagic[0])
    return lost(absl::StrCat("expects the end of the file after its gzip data at byte ",
                             unpacker_->position(), ", found ", fileSize_ - unpacker_->position(),
                             " more bytes"));
  inflateReset(&stream);
  return absl::OkStatus();
}

absl::Status InputFile::describeDamage() const {
  const char *reason = unpacker_->stream.msg;
  return lost(absl::StrCat("damaged gzip data before byte ", unpacker_->position(), " (",
                           reason ? reason : "invalid", ")"));
}

absl::Status InputFile::lost(std::string_view what) const {
  return absl::DataLossError(absl::StrCat(path_, ": ", toAbsl(what)));
}

} // namespace pdg
