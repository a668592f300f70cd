// The header of IDX files.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/idx_reader.h"

#include "runtime/base/text.h"
#include "runtime/data/array_reader.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

namespace pdg {

namespace {

constexpr int64_t kMagicSize = 4;
constexpr int kMaxRank = 8;

/// An element type of the format: its code, the size in the file and the type in memory.
struct IdxType {
  uint8_t code;
  int64_t fileSize;
  DType dtype;
};

constexpr IdxType kIdxTypes[] = {
    {0x08, 1, DType::U8},  {0x09, 1, DType::I8},  {0x0b, 2, DType::I32},
    {0x0c, 4, DType::I32}, {0x0d, 4, DType::F32}, {0x0e, 8, DType::F64},
};

absl::Status wrong(const InputFile &file, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(file.path(), ": ", toAbsl(what)));
}

/// Reads `size` more bytes of the header into `to`.
absl::Status readHeaderBytes(InputFile &file, uint8_t *to, int64_t size) {
  absl::StatusOr<int64_t> found = file.read(to, size);
  if (!found.ok())
    return found.status();
  if (*found < size)
    return wrong(file,
                 absl::StrCat("expects an IDX header of at least ", file.offset() - *found + size,
                              " bytes, found the end after ", file.offset()));
  return absl::OkStatus();
}

absl::StatusOr<IdxType> findType(const InputFile &file, const uint8_t (&magic)[kMagicSize]) {
  if (magic[0] != 0 || magic[1] != 0)
    return wrong(file, absl::StrFormat("expects an IDX file, which begins with the bytes 00 00, "
                                       "found %02x %02x at byte 0",
                                       magic[0], magic[1]));
  for (const IdxType &type : kIdxTypes)
    if (type.code == magic[2])
      return type;
  return wrong(file, absl::StrFormat("expects an IDX element type (08 u8, 09 i8, 0b i16, 0c i32, "
                                     "0d f32, 0e f64), found %02x at byte 2",
                                     magic[2]));
}

absl::StatusOr<ArrayFile> readHeader(InputFile &file) {
  uint8_t magic[kMagicSize];
  if (absl::Status status = readHeaderBytes(file, magic, kMagicSize); !status.ok())
    return status;
  absl::StatusOr<IdxType> type = findType(file, magic);
  if (!type.ok())
    return type.status();
  int rank = magic[3];
  if (rank < 1 || rank > kMaxRank)
    return wrong(
        file, absl::StrCat("expects 1 to ", kMaxRank, " dimensions, found ", rank, " at byte 3"));
  uint8_t sizes[4 * kMaxRank];
  if (absl::Status status = readHeaderBytes(file, sizes, 4 * rank); !status.ok())
    return status;
  ArrayFile array;
  array.dtype = type->dtype;
  array.elementSize = type->fileSize;
  array.isBigEndian = true;
  for (int i = 0; i < 4 * rank; i += 4)
    array.shape.push_back(int64_t{sizes[i]} << 24 | sizes[i + 1] << 16 | sizes[i + 2] << 8 |
                          sizes[i + 3]);
  return array;
}

} // namespace

absl::StatusOr<SourceHeader> probeIdx(const ReaderInput &input) {
  return probeArrays(input, readHeader);
}

absl::StatusOr<std::unique_ptr<ExampleReader>> openIdx(const ReaderInput &input) {
  return openArrays(input, readHeader);
}

} // namespace pdg
