// Reads .npz archives. Nothing in the file is believed before it was compared with the file's size.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/checkpoint/npz.h"

#include "runtime/checkpoint/file.h"
#include "runtime/checkpoint/npy.h"
#include "runtime/checkpoint/zip_format.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include <zlib.h>

namespace pdg {

namespace {

using zip::get;

// Deflate cannot shrink more than this.
constexpr uint64_t kMaxRatio = 1032;

constexpr std::string_view kSuffix = ".npy";

struct Member {
  std::string name; ///< Without the suffix.
  uint16_t method = 0;
  uint32_t checksum = 0;
  uint64_t packedSize = 0;
  uint64_t size = 0;
  uint64_t begin = 0; ///< Of the local header at first, then of the packed bytes.
};

// Where the directory is.
struct Directory {
  uint64_t count = 0;
  uint64_t size = 0;
  uint64_t begin = 0;
};

class NpzReader {
public:
  explicit NpzReader(RandomAccessFile file) : file_(std::move(file)) {}

  absl::Status readDirectory();
  absl::StatusOr<HostTensor> read(const Member &member) const;
  absl::StatusOr<NpzEntry> readHeader(const Member &member) const;
  const std::vector<Member> &members() const { return members_; }

private:
  template <typename... Parts> absl::Status damaged(const Parts &...parts) const {
    return absl::DataLossError(absl::StrCat(file_.path(), ": damaged .npz file: ", parts...));
  }

  absl::StatusOr<Directory> findDirectory() const;
  absl::StatusOr<Directory> findDirectory64(uint64_t end) const;
  absl::Status parseDirectory(std::string_view bytes, uint64_t count);
  absl::StatusOr<Member> parseEntry(const char *entry, std::string name,
                                    std::string_view extra) const;
  absl::Status locate(Member &member, uint64_t limit) const;
  absl::Status checkOverlap() const;

  RandomAccessFile file_;
  std::vector<Member> members_;
};

// The end record is the last thing in the file, but for a comment of up to 64 KiB.
absl::StatusOr<Directory> NpzReader::findDirectory() const {
  uint64_t length = std::min<uint64_t>(file_.size(), zip::kEndSize + 0xffff);
  std::string tail(length, '\0');
  if (absl::Status status = file_.readAt(file_.size() - length, tail.data(), length); !status.ok())
    return status;
  for (uint64_t at = length; at-- > 0;) {
    if (length - at < zip::kEndSize || get(&tail[at], 4) != zip::kEndSignature ||
        get(&tail[at + 20], 2) != length - at - zip::kEndSize)
      continue;
    Directory directory = {get(&tail[at + 10], 2), get(&tail[at + 12], 4), get(&tail[at + 16], 4)};
    uint64_t end = file_.size() - length + at;
    if (directory.count == zip::kCountIn64 || directory.size == zip::kIn64 ||
        directory.begin == zip::kIn64)
      return findDirectory64(end);
    if (directory.begin > end || directory.size > end - directory.begin)
      return damaged("its directory lies outside");
    return directory;
  }
  return damaged("no end of a zip archive found (is the file complete?)");
}

absl::StatusOr<Directory> NpzReader::findDirectory64(uint64_t end) const {
  char record[zip::kEnd64Size];
  if (end < zip::kLocator64Size + zip::kEnd64Size)
    return damaged("no 64-bit directory found");
  if (absl::Status status = file_.readAt(end - zip::kLocator64Size, record, zip::kLocator64Size);
      !status.ok())
    return status;
  uint64_t at = get(record + 8, 8);
  if (get(record, 4) != zip::kLocator64Signature ||
      at > end - zip::kLocator64Size - zip::kEnd64Size)
    return damaged("no 64-bit directory found");
  if (absl::Status status = file_.readAt(at, record, zip::kEnd64Size); !status.ok())
    return status;
  Directory directory = {get(record + 32, 8), get(record + 40, 8), get(record + 48, 8)};
  if (get(record, 4) != zip::kEnd64Signature)
    return damaged("no 64-bit directory found");
  if (directory.begin > at || directory.size > at - directory.begin)
    return damaged("its directory lies outside");
  return directory;
}

absl::Status NpzReader::readDirectory() {
  absl::StatusOr<Directory> directory = findDirectory();
  if (!directory.ok())
    return directory.status();
  std::string bytes(directory->size, '\0');
  if (absl::Status status = file_.readAt(directory->begin, bytes.data(), bytes.size());
      !status.ok())
    return status;
  if (absl::Status status = parseDirectory(bytes, directory->count); !status.ok())
    return status;
  for (Member &member : members_)
    if (absl::Status status = locate(member, directory->begin); !status.ok())
      return status;
  return checkOverlap();
}

absl::Status NpzReader::parseDirectory(std::string_view bytes, uint64_t count) {
  std::set<std::string> names;
  while (count-- > 0) {
    if (bytes.size() < zip::kCentralSize || get(bytes.data(), 4) != zip::kCentralSignature)
      return damaged("an entry of its directory is not one");
    uint64_t nameSize = get(bytes.data() + 28, 2), extraSize = get(bytes.data() + 30, 2);
    uint64_t length = zip::kCentralSize + nameSize + extraSize + get(bytes.data() + 32, 2);
    if (bytes.size() < length)
      return damaged("its directory is cut off");
    absl::StatusOr<Member> member =
        parseEntry(bytes.data(), std::string(bytes.substr(zip::kCentralSize, nameSize)),
                   bytes.substr(zip::kCentralSize + nameSize, extraSize));
    if (!member.ok())
      return member.status();
    if (!names.insert(member->name).second)
      return damaged("two members have the name '", member->name, "'");
    members_.push_back(*std::move(member));
    bytes.remove_prefix(length);
  }
  return bytes.empty() ? absl::OkStatus() : damaged("its directory has more than its entries");
}

absl::StatusOr<Member> NpzReader::parseEntry(const char *entry, std::string name,
                                             std::string_view extra) const {
  auto isControl = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::any_of(name.begin(), name.end(), isControl))
    return damaged("the name of a member has control characters");
  if (name.size() < kSuffix.size() || name.substr(name.size() - kSuffix.size()) != kSuffix)
    return absl::InvalidArgumentError(
        absl::StrCat(file_.path(), ": expected only .npy members, found '", name, "'"));
  Member member;
  member.name = name.substr(0, name.size() - kSuffix.size());
  member.method = static_cast<uint16_t>(get(entry + 10, 2));
  member.checksum = static_cast<uint32_t>(get(entry + 16, 4));
  member.packedSize = get(entry + 20, 4);
  member.size = get(entry + 24, 4);
  member.begin = get(entry + 42, 4);
  if (get(entry + 8, 2) & zip::kEncryptedFlag)
    return absl::InvalidArgumentError(
        absl::StrCat(file_.path(), ": member '", name, "' is encrypted"));
  while (extra.size() >= 4) {
    uint64_t kind = get(extra.data(), 2), size = get(extra.data() + 2, 2);
    std::string_view field = extra.substr(4, size);
    extra.remove_prefix(std::min(extra.size(), size + 4));
    if (kind != zip::kExtra64)
      continue;
    for (uint64_t *value : {&member.size, &member.packedSize, &member.begin}) {
      if (*value != zip::kIn64 || field.size() < 8)
        continue;
      *value = get(field.data(), 8);
      field.remove_prefix(8);
    }
  }
  return member;
}

// Finds the packed bytes, which must end before `limit`, behind the member's own header.
absl::Status NpzReader::locate(Member &member, uint64_t limit) const {
  char header[zip::kLocalSize];
  if (limit < zip::kLocalSize || member.begin > limit - zip::kLocalSize)
    return damaged("member '", member.name, "' lies outside");
  if (absl::Status status = file_.readAt(member.begin, header, zip::kLocalSize); !status.ok())
    return status;
  uint64_t skipped = zip::kLocalSize + get(header + 26, 2) + get(header + 28, 2);
  if (get(header, 4) != zip::kLocalSignature || skipped > limit - member.begin ||
      member.packedSize > limit - member.begin - skipped)
    return damaged("member '", member.name, "' lies outside");
  if (member.method != zip::kStored && member.method != zip::kDeflated)
    return absl::InvalidArgumentError(absl::StrCat(file_.path(), ": member '", member.name,
                                                   "' is packed by method ", member.method,
                                                   "; expected stored (0) or deflated (8)"));
  bool possible = member.method == zip::kStored ? member.size == member.packedSize
                                                : member.size / kMaxRatio <= member.packedSize;
  if (!possible)
    return damaged("member '", member.name, "' cannot have ", member.size, " bytes");
  member.begin += skipped;
  return absl::OkStatus();
}

// Without it a small file could claim any number of large members.
absl::Status NpzReader::checkOverlap() const {
  std::vector<const Member *> ordered;
  for (const Member &member : members_)
    ordered.push_back(&member);
  std::sort(ordered.begin(), ordered.end(),
            [](const Member *left, const Member *right) { return left->begin < right->begin; });
  for (size_t i = 1; i < ordered.size(); ++i)
    if (ordered[i - 1]->begin + ordered[i - 1]->packedSize > ordered[i]->begin)
      return damaged("members '", ordered[i - 1]->name, "' and '", ordered[i]->name, "' overlap");
  return absl::OkStatus();
}

// The unpacked bytes of one member, in order.
class MemberStream {
public:
  MemberStream(const RandomAccessFile &file, const Member &member)
      : file_(file), member_(member), next_(member.begin),
        isOpen_(member.method == zip::kDeflated && inflateInit2(&zlib_, -MAX_WBITS) == Z_OK) {}
  ~MemberStream() {
    if (isOpen_)
      inflateEnd(&zlib_);
  }
  MemberStream(const MemberStream &) = delete;
  MemberStream &operator=(const MemberStream &) = delete;

  absl::Status read(void *to, uint64_t size) {
    absl::Status status =
        member_.method == zip::kStored ? readStored(to, size) : readDeflated(to, size);
    if (status.ok())
      checksum_ = static_cast<uint32_t>(crc32_z(checksum_, static_cast<Bytef *>(to), size));
    return status;
  }

  absl::Status checkEnd() const {
    if (checksum_ != member_.checksum)
      return damaged("its checksum is wrong");
    return absl::OkStatus();
  }

private:
  absl::Status damaged(const char *why) const {
    return absl::DataLossError(
        absl::StrCat(file_.path(), ": member '", member_.name, "' is damaged: ", why));
  }

  absl::Status readStored(void *to, uint64_t size) {
    if (size > member_.begin + member_.size - next_)
      return damaged("it ends too early");
    uint64_t begin = next_;
    next_ += size;
    return file_.readAt(begin, to, size);
  }

  absl::Status readDeflated(void *to, uint64_t size) {
    if (!isOpen_)
      return absl::ResourceExhaustedError(
          absl::StrCat(file_.path(), ": cannot unpack: out of memory"));
    Bytef *out = static_cast<Bytef *>(to);
    while (size != 0) {
      if (zlib_.avail_in == 0)
        if (absl::Status status = refill(); !status.ok())
          return status;
      uInt piece = static_cast<uInt>(std::min<uint64_t>(size, 1u << 30));
      zlib_.next_out = out;
      zlib_.avail_out = piece;
      int result = inflate(&zlib_, Z_NO_FLUSH);
      uInt written = piece - zlib_.avail_out;
      out += written;
      size -= written;
      bool isStuck = written == 0 && zlib_.avail_in != 0;
      if ((result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) ||
          (size != 0 && (result == Z_STREAM_END || isStuck)))
        return damaged("it does not unpack");
    }
    return absl::OkStatus();
  }

  absl::Status refill() {
    uint64_t left = member_.begin + member_.packedSize - next_;
    if (left == 0)
      return damaged("it ends too early");
    uint64_t size = std::min<uint64_t>(left, sizeof(buffer_));
    uint64_t begin = next_;
    next_ += size;
    zlib_.next_in = buffer_;
    zlib_.avail_in = static_cast<uInt>(size);
    return file_.readAt(begin, buffer_, size);
  }

  const RandomAccessFile &file_;
  const Member &member_;
  uint64_t next_;
  uint32_t checksum_ = 0;
  z_stream zlib_ = {};
  Bytef buffer_[1 << 16];
  bool isOpen_;
};

absl::StatusOr<HostTensor> NpzReader::read(const Member &member) const {
  auto stream = std::make_unique<MemberStream>(file_, member);
  std::string name = absl::StrCat(file_.path(), ": member '", member.name, "'");
  absl::StatusOr<HostTensor> tensor =
      parseNpy(name, member.size, [&](void *to, uint64_t size) { return stream->read(to, size); });
  if (!tensor.ok())
    return tensor;
  if (absl::Status status = stream->checkEnd(); !status.ok())
    return status;
  return tensor;
}

absl::StatusOr<NpzEntry> NpzReader::readHeader(const Member &member) const {
  auto stream = std::make_unique<MemberStream>(file_, member);
  std::string name = absl::StrCat(file_.path(), ": member '", member.name, "'");
  absl::StatusOr<NpyHeader> header = parseNpyHeader(
      name, member.size, [&](void *to, uint64_t size) { return stream->read(to, size); });
  if (!header.ok())
    return header.status();
  return NpzEntry{member.name, header->dtype, header->shape};
}

absl::StatusOr<NpzReader> openNpz(const std::string &path) {
  absl::StatusOr<RandomAccessFile> file = RandomAccessFile::open(path);
  if (!file.ok())
    return file.status();
  NpzReader reader(*std::move(file));
  if (absl::Status status = reader.readDirectory(); !status.ok())
    return status;
  return reader;
}

} // namespace

absl::StatusOr<std::vector<NpzEntry>> listNpz(const std::string &path) {
  absl::StatusOr<NpzReader> reader = openNpz(path);
  if (!reader.ok())
    return reader.status();
  std::vector<NpzEntry> entries;
  for (const Member &member : reader->members()) {
    absl::StatusOr<NpzEntry> entry = reader->readHeader(member);
    if (!entry.ok())
      return entry.status();
    entries.push_back(*std::move(entry));
  }
  return entries;
}

absl::StatusOr<std::vector<NamedTensor>> readNpz(const std::string &path) {
  absl::StatusOr<NpzReader> reader = openNpz(path);
  if (!reader.ok())
    return reader.status();
  std::vector<NamedTensor> tensors;
  for (const Member &member : reader->members()) {
    absl::StatusOr<HostTensor> tensor = reader->read(member);
    if (!tensor.ok())
      return tensor.status();
    tensors.push_back({member.name, *std::move(tensor)});
  }
  return tensors;
}

absl::StatusOr<HostTensor> readNpz(const std::string &path, const std::string &name) {
  absl::StatusOr<NpzReader> reader = openNpz(path);
  if (!reader.ok())
    return reader.status();
  std::string names;
  for (const Member &member : reader->members()) {
    if (member.name == name)
      return reader->read(member);
    absl::StrAppend(&names, names.empty() ? "" : ", ", member.name);
  }
  return absl::NotFoundError(
      absl::StrCat(path, ": no tensor '", name, "'; it holds ", names.empty() ? "none" : names));
}

} // namespace pdg
