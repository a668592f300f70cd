// Arrays in files: size checks, byte order, going from file to file.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/array_reader.h"

#include "runtime/base/tensor.h"
#include "runtime/base/text.h"
#include "runtime/checkpoint/npy.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

namespace pdg {

namespace {

absl::Status wrong(const InputFile &file, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(file.path(), ": ", toAbsl(what)));
}

/// How sizes of `file` are counted, for messages.
absl::string_view unitOf(const InputFile &file) {
  return file.isPacked() ? " bytes after unpacking" : " bytes";
}

/// The files of one field, one behind the other.
struct ArrayField {
  FieldInfo info;
  std::vector<ArrayFile> files;
  int64_t numExamples = 0;
};

int64_t countOf(const std::vector<int64_t> &shape) { return countElements(shape).value_or(0); }

int64_t endOf(const ArrayFile &array) {
  return array.begin + countOf(array.shape) * array.elementSize;
}

/// Checks that the sizes are those of a file that can exist: before anything is allocated.
absl::Status checkSize(const InputFile &file, const ArrayFile &array) {
  absl::StatusOr<int64_t> count = countElements(array.shape);
  int64_t limit = std::max<int64_t>(file.maxContentSize() - array.begin, 0);
  if (!count.ok() || *count > limit / array.elementSize) {
    std::string bytes =
        count.ok() && *count < INT64_MAX / 16
            ? absl::StrCat(" (", array.begin + *count * array.elementSize, " bytes)")
            : "";
    return wrong(file,
                 absl::StrCat("expects ", array.typeText(), bytes, ", as the header says, found ",
                              file.isPacked() ? "at most " : "", file.maxContentSize(),
                              unitOf(file), ": the file is cut off or its header wrong"));
  }
  if (!file.isPacked() && file.maxContentSize() > endOf(array))
    return wrong(file, absl::StrCat("expects the end of the file after ", endOf(array), " bytes (",
                                    array.typeText(), "), found ", file.maxContentSize()));
  return absl::OkStatus();
}

absl::StatusOr<ArrayFile> readChecked(InputFile &file, ReadArrayHeader readHeader) {
  absl::StatusOr<ArrayFile> array = readHeader(file);
  if (!array.ok())
    return array;
  array->path = file.path();
  array->begin = file.offset();
  // The number of examples may be 0, their sizes not: nothing in the file would bound the number.
  for (size_t axis = 1; axis < array->shape.size(); ++axis)
    if (array->shape[axis] == 0)
      return wrong(file, absl::StrCat("expects a size of at least 1 for axis ", axis, ", found 0"));
  if (absl::Status status = checkSize(file, *array); !status.ok())
    return status;
  // The size of the file bounds an example only if there is one.
  std::span<const int64_t> example = std::span(array->shape).subspan(1);
  if (!countBytes(array->dtype, example).ok())
    return wrong(file, absl::StrCat("expects examples that fit into memory, found ",
                                    typeString(array->dtype, example)));
  return array;
}

absl::StatusOr<ArrayField> readField(const ReaderInput &input,
                                     const std::vector<std::string> &paths,
                                     ReadArrayHeader readHeader) {
  ArrayField field;
  for (const std::string &path : paths) {
    absl::StatusOr<InputFile> file = InputFile::open(path, input.cancelled);
    if (!file.ok())
      return file.status();
    absl::StatusOr<ArrayFile> array = readChecked(*file, readHeader);
    if (!array.ok())
      return array.status();
    FieldInfo info = {array->dtype, {array->shape.begin() + 1, array->shape.end()}};
    if (field.files.empty())
      field.info = info;
    if (typeString(info.dtype, info.shape) != typeString(field.info.dtype, field.info.shape))
      return wrong(*file,
                   absl::StrCat("expects examples ", typeString(field.info.dtype, field.info.shape),
                                ", as in ", paths.front(), ", found ",
                                typeString(info.dtype, info.shape)));
    if (__builtin_add_overflow(field.numExamples, array->shape[0], &field.numExamples))
      return wrong(*file, "more examples than can be counted");
    field.files.push_back(*std::move(array));
  }
  return field;
}

/// Fields have the same number of files, and files in the same place as many examples.
absl::Status checkCounts(const ArrayField &first, const ArrayField &field) {
  if (field.files.size() != first.files.size())
    return absl::InvalidArgumentError(
        absl::StrCat("expects ", first.files.size(), " files for each field, as ",
                     first.files.front().path, " and those that follow it, found ",
                     field.files.size(), ", from ", field.files.front().path, " on"));
  for (size_t i = 0; i < field.files.size(); ++i)
    if (field.files[i].shape[0] != first.files[i].shape[0])
      return absl::InvalidArgumentError(absl::StrCat(
          field.files[i].path, ": expects ", first.files[i].shape[0], " examples, as in ",
          first.files[i].path, ", found ", field.files[i].shape[0]));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ArrayField>> readFields(const ReaderInput &input,
                                                   ReadArrayHeader readHeader) {
  if (input.files.empty())
    return absl::InvalidArgumentError("expects at least one file, found none");
  std::vector<ArrayField> fields;
  for (const std::vector<std::string> &paths : input.files) {
    absl::StatusOr<ArrayField> field = readField(input, paths, readHeader);
    if (!field.ok())
      return field.status();
    fields.push_back(*std::move(field));
    if (absl::Status status = checkCounts(fields.front(), fields.back()); !status.ok())
      return status;
  }
  return fields;
}

//===-- Elements ------------------------------------------------------------------------------===//

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

void convert(const ArrayFile &array, uint8_t *elements, int64_t count) {
  if (array.dtype == DType::Bool) // Code relies on 0 and 1; NumPy takes any other byte for true.
    for (int64_t i = 0; i < count; ++i)
      elements[i] = elements[i] != 0;
  if (array.elementSize < static_cast<int64_t>(sizeOf(array.dtype)))
    return widenWords(elements, count);
  if (!array.isBigEndian)
    return;
  switch (array.elementSize) {
  case 2:
    return swapWords<uint16_t>(elements, count);
  case 4:
    return swapWords<uint32_t>(elements, count);
  case 8:
    return swapWords<uint64_t>(elements, count);
  default:
    return;
  }
}

/// Reads `count` elements to `to`, in pieces, so that each is converted while it is in the cache.
absl::Status readElements(InputFile &file, const ArrayFile &array, int64_t count, uint8_t *to) {
  constexpr int64_t kPieceCount = int64_t{1} << 16;
  int64_t size = static_cast<int64_t>(sizeOf(array.dtype));
  for (int64_t begin = 0; begin < count; begin += kPieceCount) {
    int64_t pieceCount = std::min(kPieceCount, count - begin);
    uint8_t *piece = to + begin * size;
    // A narrower type is read into the end of its place and widened forwards.
    uint8_t *place = piece + pieceCount * (size - array.elementSize);
    absl::StatusOr<int64_t> found = file.read(place, pieceCount * array.elementSize);
    if (!found.ok())
      return found.status();
    if (*found < pieceCount * array.elementSize)
      return wrong(file, absl::StrCat("expects ", endOf(array), unitOf(file), " (",
                                      array.typeText(), "), found the end after ", file.offset()));
    convert(array, piece, pieceCount);
  }
  return absl::OkStatus();
}

/// Reading past the last element both finds surplus data and lets gzip prove its checksum.
absl::Status expectEnd(InputFile &file, const ArrayFile &array) {
  uint8_t surplus;
  absl::StatusOr<int64_t> found = file.read(&surplus, 1);
  if (!found.ok())
    return found.status();
  if (*found != 0)
    return wrong(file, absl::StrCat("expects the end of the data after ", endOf(array),
                                    unitOf(file), " (", array.typeText(), "), found more"));
  return absl::OkStatus();
}

/// Reads all of a column-major file, whose first element `file` is at, to `to`, row-major.
absl::Status readTurned(InputFile &file, const ArrayFile &array, GrowingBytes &to) {
  int64_t count = countOf(array.shape), size = static_cast<int64_t>(sizeOf(array.dtype));
  GrowingBytes columns;
  // checkSize has bounded the count by the size of the file.
  if (absl::Status status = columns.reserve(std::max<int64_t>(count * size, 1)); !status.ok())
    return status;
  if (absl::Status status = to.reserve(std::max<int64_t>(count * size, 1)); !status.ok())
    return status;
  if (absl::Status status = readElements(file, array, count, columns.data()); !status.ok())
    return status;
  if (absl::Status status = expectEnd(file, array); !status.ok())
    return status;
  copyToRowMajor(columns.data(), array.shape, static_cast<size_t>(size), to.data());
  return absl::OkStatus();
}

//===-- The reader ----------------------------------------------------------------------------===//

/// Where one field is being read.
struct Cursor {
  size_t file = 0;
  int64_t fileBegin = 0; ///< The index of the file's first example.
  std::optional<InputFile> open;
  int64_t next = -1;   ///< The index of the example that the open file is at.
  GrowingBytes turned; ///< The open file, row-major, if it is column-major.
};

class ArrayReader : public ExampleReader {
public:
  ArrayReader(std::vector<ArrayField> fields, ReadArrayHeader readHeader,
              const std::atomic<bool> *cancelled)
      : fields_(std::move(fields)), cursors_(fields_.size()), readHeader_(readHeader),
        cancelled_(cancelled) {}

  absl::StatusOr<int64_t> read(int64_t count, std::span<char *const> fields) override {
    count = std::min(count, fields_.front().numExamples - next_);
    for (size_t i = 0; i < fields_.size(); ++i)
      if (absl::Status status =
              readField(fields_[i], cursors_[i], count, reinterpret_cast<uint8_t *>(fields[i]));
          !status.ok())
        return status;
    next_ += count;
    return count;
  }

  absl::StatusOr<int64_t> seek(int64_t index) override {
    return next_ = std::min(index, fields_.front().numExamples);
  }

  Access access() const override { return isPacked_ ? Access::Forward : Access::Seekable; }

  /// Opens the first files, to know whether they are packed.
  absl::Status start() {
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (absl::Status status = open(fields_[i], cursors_[i]); !status.ok())
        return status;
      isPacked_ |= cursors_[i].open->isPacked();
    }
    return absl::OkStatus();
  }

private:
  absl::Status open(const ArrayField &field, Cursor &cursor) {
    const ArrayFile &expected = field.files[cursor.file];
    absl::StatusOr<InputFile> file = InputFile::open(expected.path, cancelled_);
    if (!file.ok())
      return file.status();
    absl::StatusOr<ArrayFile> found = readChecked(*file, readHeader_);
    if (!found.ok())
      return found.status();
    if (found->typeText() != expected.typeText() || found->begin != expected.begin)
      return wrong(*file, "changed while it was read");
    if (found->isColumnMajor != expected.isColumnMajor)
      return wrong(*file, "changed while it was read");
    cursor.open.emplace(*std::move(file));
    cursor.next = cursor.fileBegin;
    return found->isColumnMajor ? readTurned(*cursor.open, *found, cursor.turned)
                                : absl::OkStatus();
  }

  /// Brings `cursor` to example `index`, which exists.
  absl::Status moveTo(const ArrayField &field, Cursor &cursor, int64_t index) {
    auto fileEnd = [&] { return cursor.fileBegin + field.files[cursor.file].shape[0]; };
    if (index < cursor.fileBegin || index >= fileEnd()) {
      cursor.open.reset();
      if (index < cursor.fileBegin)
        cursor.file = 0, cursor.fileBegin = 0;
      while (index >= fileEnd())
        cursor.fileBegin = fileEnd(), ++cursor.file;
    }
    if (!cursor.open)
      if (absl::Status status = open(field, cursor); !status.ok())
        return status;
    if (cursor.next == index)
      return absl::OkStatus();
    const ArrayFile &array = field.files[cursor.file];
    int64_t bytes = countOf(field.info.shape) * array.elementSize;
    if (array.isColumnMajor)
      cursor.next = index;
    else if (absl::Status status =
                 cursor.open->seek(array.begin + (index - cursor.fileBegin) * bytes);
             !status.ok())
      return status;
    cursor.next = index;
    return absl::OkStatus();
  }

  absl::Status readField(const ArrayField &field, Cursor &cursor, int64_t count, uint8_t *to) {
    int64_t elements = countOf(field.info.shape);
    for (int64_t done = 0; done < count;) {
      if (absl::Status status = moveTo(field, cursor, next_ + done); !status.ok())
        return status;
      const ArrayFile &array = field.files[cursor.file];
      int64_t fileEnd = cursor.fileBegin + array.shape[0];
      int64_t piece = std::min(count - done, fileEnd - cursor.next);
      int64_t bytes = elements * static_cast<int64_t>(sizeOf(array.dtype));
      if (array.isColumnMajor)
        std::memcpy(to, cursor.turned.data() + (cursor.next - cursor.fileBegin) * bytes,
                    static_cast<size_t>(piece * bytes));
      else if (absl::Status status = readElements(*cursor.open, array, piece * elements, to);
               !status.ok())
        return status;
      to += piece * bytes;
      done += piece;
      cursor.next += piece;
      if (cursor.next == fileEnd && !array.isColumnMajor)
        if (absl::Status status = expectEnd(*cursor.open, array); !status.ok())
          return status;
    }
    return absl::OkStatus();
  }

  std::vector<ArrayField> fields_;
  std::vector<Cursor> cursors_;
  ReadArrayHeader readHeader_;
  const std::atomic<bool> *cancelled_;
  int64_t next_ = 0;
  bool isPacked_ = false;
};

} // namespace

std::string ArrayFile::typeText() const { return typeString(dtype, shape); }

absl::StatusOr<SourceHeader> probeArrays(const ReaderInput &input, ReadArrayHeader readHeader) {
  absl::StatusOr<std::vector<ArrayField>> fields = readFields(input, readHeader);
  if (!fields.ok())
    return fields.status();
  SourceHeader result;
  result.numExamples = fields->front().numExamples;
  for (const ArrayField &field : *fields)
    result.fields.push_back(field.info);
  return result;
}

absl::StatusOr<std::unique_ptr<ExampleReader>> openArrays(const ReaderInput &input,
                                                          ReadArrayHeader readHeader) {
  absl::StatusOr<std::vector<ArrayField>> fields = readFields(input, readHeader);
  if (!fields.ok())
    return fields.status();
  auto reader = std::make_unique<ArrayReader>(*std::move(fields), readHeader, input.cancelled);
  if (absl::Status status = reader->start(); !status.ok())
    return status;
  return reader;
}

} // namespace pdg
