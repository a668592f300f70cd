// Writes .npz archives: stored members, so that nothing is spent on packing what does not pack.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/checkpoint/npz.h"

#include "runtime/checkpoint/file.h"
#include "runtime/checkpoint/npy.h"
#include "runtime/checkpoint/zip_format.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <set>

#include <zlib.h>

namespace pdg {

namespace {

using zip::put;

// The first day that the format can express: the same tensors always give the same bytes.
constexpr uint32_t kTimeAndDate = 0x00210000;

struct Member {
  std::string name;
  uint32_t checksum = 0;
  uint64_t size = 0;
  uint64_t offset = 0;
};

uint32_t checksum(uint32_t seed, const void *bytes, uint64_t size) {
  return static_cast<uint32_t>(crc32_z(seed, static_cast<const Bytef *>(bytes), size));
}

// The fields that a local header and an entry of the directory share.
void putCommon(std::string &record, const Member &member, uint16_t version, uint32_t size) {
  bool isAscii = std::all_of(member.name.begin(), member.name.end(),
                             [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  put(record, version, 2);
  put(record, isAscii ? 0 : zip::kUtf8Flag, 2);
  put(record, zip::kStored, 2);
  put(record, kTimeAndDate, 4);
  put(record, member.checksum, 4);
  put(record, size, 4); // Packed.
  put(record, size, 4); // Unpacked.
  put(record, member.name.size(), 2);
}

std::string localHeader(const Member &member, uint64_t zip64From) {
  bool is64 = member.size >= zip64From;
  std::string record;
  put(record, zip::kLocalSignature, 4);
  putCommon(record, member, is64 ? 45 : 20, is64 ? zip::kIn64 : static_cast<uint32_t>(member.size));
  put(record, is64 ? 20 : 0, 2);
  record += member.name;
  if (is64) {
    put(record, zip::kExtra64, 2);
    put(record, 16, 2);
    put(record, member.size, 8);
    put(record, member.size, 8);
  }
  return record;
}

std::string directoryEntry(const Member &member, uint64_t zip64From) {
  bool size64 = member.size >= zip64From, offset64 = member.offset >= zip64From;
  std::string extra;
  if (size64) {
    put(extra, member.size, 8);
    put(extra, member.size, 8);
  }
  if (offset64)
    put(extra, member.offset, 8);
  uint16_t version = extra.empty() ? 20 : 45;
  std::string record;
  put(record, zip::kCentralSignature, 4);
  put(record, version, 2);
  putCommon(record, member, version, size64 ? zip::kIn64 : static_cast<uint32_t>(member.size));
  put(record, extra.empty() ? 0 : extra.size() + 4, 2);
  put(record, 0, 2); // Comment.
  put(record, 0, 2); // Disk.
  put(record, 0, 2); // Internal attributes.
  put(record, 0, 4); // External attributes.
  put(record, offset64 ? zip::kIn64 : static_cast<uint32_t>(member.offset), 4);
  record += member.name;
  if (!extra.empty()) {
    put(record, zip::kExtra64, 2);
    put(record, extra.size(), 2);
    record += extra;
  }
  return record;
}

std::string endOfArchive(uint64_t count, uint64_t begin, uint64_t size, uint64_t zip64From) {
  bool is64 = count >= zip::kCountIn64 || begin >= zip64From || size >= zip64From;
  std::string record;
  if (is64) {
    put(record, zip::kEnd64Signature, 4);
    put(record, zip::kEnd64Size - 12, 8);
    put(record, 45, 2);
    put(record, 45, 2);
    put(record, 0, 8); // Disks.
    put(record, count, 8);
    put(record, count, 8);
    put(record, size, 8);
    put(record, begin, 8);
    put(record, zip::kLocator64Signature, 4);
    put(record, 0, 4);
    put(record, begin + size, 8);
    put(record, 1, 4);
  }
  uint64_t shortCount = is64 ? zip::kCountIn64 : count;
  put(record, zip::kEndSignature, 4);
  put(record, 0, 4); // Disks.
  put(record, shortCount, 2);
  put(record, shortCount, 2);
  put(record, is64 ? zip::kIn64 : size, 4);
  put(record, is64 ? zip::kIn64 : begin, 4);
  put(record, 0, 2); // Comment.
  return record;
}

absl::Status checkNames(const std::string &path, std::span<const TensorRef> tensors) {
  std::set<std::string> names;
  for (const TensorRef &ref : tensors) {
    if (!names.insert(ref.name).second)
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": two tensors have the name '", ref.name, "'"));
    if (ref.name.size() > 60000)
      return absl::InvalidArgumentError(absl::StrCat(path, ": a name of ", ref.name.size(),
                                                     " bytes does not fit into a .npz file"));
  }
  return absl::OkStatus();
}

} // namespace

absl::Status writeNpz(const std::string &path, std::span<const TensorRef> tensors,
                      uint64_t zip64From) {
  if (absl::Status status = checkNames(path, tensors); !status.ok())
    return status;
  absl::StatusOr<AtomicFile> file = AtomicFile::create(path);
  if (!file.ok())
    return file.status();
  std::string directory;
  for (const TensorRef &ref : tensors) {
    std::string header = makeNpyHeader(ref.tensor->dtype(), ref.tensor->shape());
    uint64_t numBytes = static_cast<uint64_t>(ref.tensor->numBytes());
    Member member = {ref.name + ".npy", checksum(0, header.data(), header.size()),
                     header.size() + numBytes, file->size()};
    member.checksum = checksum(member.checksum, ref.tensor->bytes(), numBytes);
    if (absl::Status status = file->append(localHeader(member, zip64From) + header); !status.ok())
      return status;
    if (absl::Status status = file->append(ref.tensor->bytes(), numBytes); !status.ok())
      return status;
    directory += directoryEntry(member, zip64From);
  }
  uint64_t begin = file->size();
  std::string end = endOfArchive(tensors.size(), begin, directory.size(), zip64From);
  if (absl::Status status = file->append(directory + end); !status.ok())
    return status;
  return file->commit();
}

} // namespace pdg
