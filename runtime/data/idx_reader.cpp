// IDX files: header, size checks, byte order.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/idx_reader.h"

#include "runtime/base/tensor.h"
#include "runtime/base/text.h"
#include "runtime/data/input_file.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cstring>

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

struct IdxHeader {
  IdxType type;
  int64_t numExamples = 0;
  std::vector<int64_t> exampleShape;
  int64_t headerSize = 0;
  int64_t elementCount = 0;

  int64_t fileSize() const { return headerSize + elementCount * type.fileSize; }

  std::string typeText() const {
    std::vector<int64_t> shape = exampleShape;
    shape.insert(shape.begin(), numExamples);
    return typeString(type.dtype, shape);
  }
};

absl::Status wrong(const InputFile &file, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(file.path(), ": ", toAbsl(what)));
}

/// How sizes of `file` are counted, for messages.
absl::string_view unitOf(const InputFile &file) {
  return file.isPacked() ? " bytes after unpacking" : " bytes";
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

/// Checks that the sizes are those of a file that can exist: before anything is allocated.
absl::Status checkSize(const InputFile &file, IdxHeader &header,
                       const std::vector<int64_t> &shape) {
  absl::StatusOr<int64_t> count = countElements(shape);
  int64_t limit = file.maxContentSize() - header.headerSize;
  if (!count.ok() || *count > std::max<int64_t>(limit, 0) / header.type.fileSize) {
    std::string type = typeString(header.type.dtype, shape);
    std::string bytes =
        count.ok() && *count < INT64_MAX / 16
            ? absl::StrCat(" (", header.headerSize + *count * header.type.fileSize, " bytes)")
            : "";
    return wrong(file, absl::StrCat("expects ", type, bytes, ", as the header says, found ",
                                    file.isPacked() ? "at most " : "", file.maxContentSize(),
                                    unitOf(file), ": the file is cut off or its header wrong"));
  }
  header.elementCount = *count;
  if (!file.isPacked() && file.maxContentSize() > header.fileSize())
    return wrong(file, absl::StrCat("expects the end of the file after ", header.fileSize(),
                                    " bytes (", typeString(header.type.dtype, shape), "), found ",
                                    file.maxContentSize()));
  return absl::OkStatus();
}

absl::StatusOr<IdxHeader> readHeader(InputFile &file) {
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
  std::vector<int64_t> shape;
  for (int i = 0; i < 4 * rank; i += 4)
    shape.push_back(int64_t{sizes[i]} << 24 | sizes[i + 1] << 16 | sizes[i + 2] << 8 |
                    sizes[i + 3]);
  // The number of examples may be 0, their sizes not: nothing in the file would bound the number.
  for (int i = 1; i < rank; ++i)
    if (shape[i] == 0)
      return wrong(file, absl::StrCat("expects a size of at least 1 for axis ", i,
                                      ", found 0 at byte ", kMagicSize + 4 * i));
  IdxHeader header;
  header.type = *type;
  header.headerSize = file.offset();
  if (absl::Status status = checkSize(file, header, shape); !status.ok())
    return status;
  header.numExamples = shape.front();
  header.exampleShape.assign(shape.begin() + 1, shape.end());
  return header;
}

template <typename Word> Word loadBigEndian(const uint8_t *bytes) {
  Word word = 0;
  for (size_t i = 0; i < sizeof(Word); ++i)
    word = static_cast<Word>(word << 8 | bytes[i]);
  return word;
}

/// Turns `count` big-endian words in place into words of this machine.
template <typename Word> void swapWords(uint8_t *bytes, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    Word word = loadBigEndian<Word>(bytes + i * sizeof(Word));
    std::memcpy(bytes + i * sizeof(Word), &word, sizeof(Word));
  }
}

/// Turns `count` big-endian i16 that begin at `bytes + 2 * count` into i32 that begin at `bytes`.
/// Each is read before it is overwritten: element i lies at or behind the end of its result.
void widenWords(uint8_t *bytes, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    int32_t wide = static_cast<int16_t>(loadBigEndian<uint16_t>(bytes + 2 * (count + i)));
    std::memcpy(bytes + 4 * i, &wide, 4);
  }
}

/// Reads the elements behind the header into `to`, in pieces, so that each is converted while it
/// is still in the cache.
absl::Status readElements(InputFile &file, const IdxHeader &header, uint8_t *to) {
  constexpr int64_t kPieceCount = int64_t{1} << 16;
  int64_t size = static_cast<int64_t>(sizeOf(header.type.dtype));
  for (int64_t begin = 0; begin < header.elementCount; begin += kPieceCount) {
    int64_t count = std::min(kPieceCount, header.elementCount - begin);
    uint8_t *piece = to + begin * size;
    // A narrower type is read into the end of its place and widened forwards.
    uint8_t *place = piece + count * (size - header.type.fileSize);
    absl::StatusOr<int64_t> found = file.read(place, count * header.type.fileSize);
    if (!found.ok())
      return found.status();
    if (*found < count * header.type.fileSize)
      return wrong(file, absl::StrCat("expects ", header.fileSize(), unitOf(file), " (",
                                      header.typeText(), "), found the end after ", file.offset()));
    switch (header.type.fileSize) {
    case 2:
      widenWords(piece, count);
      break;
    case 4:
      swapWords<uint32_t>(piece, count);
      break;
    case 8:
      swapWords<uint64_t>(piece, count);
      break;
    default:
      break;
    }
  }
  return absl::OkStatus();
}

/// Reading past the last element both finds surplus data and lets gzip prove its checksum.
absl::Status expectEnd(InputFile &file, const IdxHeader &header) {
  uint8_t surplus;
  absl::StatusOr<int64_t> found = file.read(&surplus, 1);
  if (!found.ok())
    return found.status();
  if (*found != 0)
    return wrong(file, absl::StrCat("expects the end of the data after ", header.fileSize(),
                                    unitOf(file), " (", header.typeText(), "), found more"));
  return absl::OkStatus();
}

absl::StatusOr<FieldColumn> loadFile(const std::string &path, const FieldInfo &field,
                                     int64_t numExamples, const std::atomic<bool> *cancelled) {
  absl::StatusOr<InputFile> file = InputFile::open(path, cancelled);
  if (!file.ok())
    return file.status();
  absl::StatusOr<IdxHeader> header = readHeader(*file);
  if (!header.ok())
    return header.status();
  if (header->numExamples != numExamples || header->exampleShape != field.shape ||
      header->type.dtype != field.dtype)
    return wrong(*file, "changed while it was read");
  absl::StatusOr<FieldColumn> column = makeColumn(field);
  if (!column.ok())
    return wrong(*file, toStd(column.status().message()));
  // One byte at least, so that an empty column has an address too.
  int64_t size = header->elementCount * static_cast<int64_t>(sizeOf(field.dtype));
  if (absl::Status status = column->bytes.reserve(std::max<int64_t>(size, 1)); !status.ok())
    return status;
  if (absl::Status status = readElements(*file, *header, column->bytes.data()); !status.ok())
    return status;
  if (absl::Status status = expectEnd(*file, *header); !status.ok())
    return status;
  return column;
}

} // namespace

absl::StatusOr<SourceHeader> probeIdx(const ReaderInput &input) {
  if (input.paths.empty())
    return absl::InvalidArgumentError("expects at least one IDX file, found none");
  SourceHeader result;
  for (const std::string &path : input.paths) {
    absl::StatusOr<InputFile> file = InputFile::open(path, input.cancelled);
    if (!file.ok())
      return file.status();
    absl::StatusOr<IdxHeader> header = readHeader(*file);
    if (!header.ok())
      return header.status();
    if (result.fields.empty())
      result.numExamples = header->numExamples;
    if (header->numExamples != result.numExamples)
      return wrong(*file, absl::StrCat("expects ", result.numExamples, " examples, as in ",
                                       input.paths.front(), ", found ", header->numExamples));
    result.fields.push_back({header->type.dtype, header->exampleShape});
  }
  return result;
}

absl::StatusOr<ExampleTable> loadIdx(const ReaderInput &input) {
  absl::StatusOr<SourceHeader> header = probeIdx(input);
  if (!header.ok())
    return header.status();
  ExampleTable table;
  table.numExamples = header->numExamples;
  for (size_t i = 0; i < input.paths.size(); ++i) {
    absl::StatusOr<FieldColumn> column =
        loadFile(input.paths[i], header->fields[i], header->numExamples, input.cancelled);
    if (!column.ok())
      return column.status();
    table.columns.push_back(*std::move(column));
  }
  return table;
}

} // namespace pdg
