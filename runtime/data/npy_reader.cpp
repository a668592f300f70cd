// NumPy's files as data, on top of what reads them as tensors.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/npy_reader.h"

#include "runtime/base/tensor.h"
#include "runtime/checkpoint/npy.h"
#include "runtime/checkpoint/npz.h"
#include "runtime/data/array_reader.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>

namespace pdg {

namespace {

absl::StatusOr<ArrayFile> readHeader(InputFile &file) {
  auto read = [&file](void *to, uint64_t size) -> absl::Status {
    absl::StatusOr<int64_t> found = file.read(to, static_cast<int64_t>(size));
    if (!found.ok())
      return found.status();
    if (*found < static_cast<int64_t>(size))
      return absl::DataLossError(absl::StrCat(
          file.path(), ": expects a .npy header, found the end after ", file.offset(), " bytes"));
    return absl::OkStatus();
  };
  absl::StatusOr<NpyHeader> header =
      parseNpyHeader(file.path(), static_cast<uint64_t>(file.maxContentSize()), read);
  if (!header.ok())
    return header.status();
  if (header->shape.empty())
    return absl::InvalidArgumentError(absl::StrCat(
        file.path(), ": expects an array whose first axis is the examples, found a scalar"));
  ArrayFile array;
  array.dtype = header->dtype;
  array.shape = header->shape;
  array.elementSize = static_cast<int64_t>(sizeOf(header->dtype));
  array.isBigEndian = header->isBigEndian;
  array.isColumnMajor = header->isColumnMajor && header->shape.size() > 1;
  return array;
}

/// The arrays to read: those that `fields` names, or the only one of the first file.
absl::StatusOr<std::vector<std::string>> fieldNames(const ReaderInput &input) {
  if (const OptionValue *fields = input.option("fields"))
    return textsOf(*fields);
  absl::StatusOr<std::vector<NpzEntry>> entries = listNpz(input.allFiles().front());
  if (!entries.ok())
    return entries.status();
  if (entries->size() == 1)
    return std::vector<std::string>{entries->front().name};
  std::string names;
  for (const NpzEntry &entry : *entries)
    absl::StrAppend(&names, names.empty() ? "" : ", ", entry.name);
  return absl::InvalidArgumentError(
      absl::StrCat(input.allFiles().front(), ": holds ", names.empty() ? "no array" : names,
                   "; expects 'fields' to say which are wanted, such as fields: [\"",
                   entries->empty() ? "x" : entries->front().name, "\"]"));
}

/// What `entries` say of the array `name`.
absl::StatusOr<NpzEntry> findEntry(const std::string &path, const std::vector<NpzEntry> &entries,
                                   const std::string &name) {
  std::string names;
  for (const NpzEntry &entry : entries) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", entry.name);
    if (entry.name != name)
      continue;
    if (entry.shape.empty())
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": expects '", name, "' to have an axis of examples, found a scalar"));
    if (std::find(entry.shape.begin() + 1, entry.shape.end(), 0) != entry.shape.end())
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": expects sizes of at least 1 behind the axis of examples, found '",
                       name, "' ", typeString(entry.dtype, entry.shape)));
    return entry;
  }
  return absl::InvalidArgumentError(absl::StrCat(path, ": expects an array '", name, "', found ",
                                                 names.empty() ? "none" : names));
}

/// Adds what file `path` holds to `header`; the first file says what fields there are.
absl::Status addFile(const std::string &path, const std::vector<std::string> &names,
                     SourceHeader &header) {
  absl::StatusOr<std::vector<NpzEntry>> entries = listNpz(path);
  if (!entries.ok())
    return entries.status();
  bool isFirst = header.fields.empty();
  int64_t numExamples = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    absl::StatusOr<NpzEntry> entry = findEntry(path, *entries, names[i]);
    if (!entry.ok())
      return entry.status();
    FieldInfo field = {entry->dtype, {entry->shape.begin() + 1, entry->shape.end()}};
    std::string found = typeString(field.dtype, field.shape);
    if (isFirst)
      header.fields.push_back(field);
    const FieldInfo &first = header.fields[i];
    if (std::string expected = typeString(first.dtype, first.shape); found != expected)
      return absl::InvalidArgumentError(absl::StrCat(path, ": expects examples ", expected, " in '",
                                                     names[i], "', found ", found));
    if (i == 0)
      numExamples = entry->shape[0];
    if (entry->shape[0] != numExamples)
      return absl::InvalidArgumentError(absl::StrCat(path, ": expects ", numExamples,
                                                     " examples in '", names[i], "', as in '",
                                                     names[0], "', found ", entry->shape[0]));
  }
  if (__builtin_add_overflow(header.numExamples, numExamples, &header.numExamples))
    return absl::InvalidArgumentError(absl::StrCat(path, ": more examples than can be counted"));
  return absl::OkStatus();
}

absl::StatusOr<SourceHeader> probeNamed(const ReaderInput &input,
                                        const std::vector<std::string> &names) {
  SourceHeader header;
  header.numExamples = 0;
  for (const std::string &path : input.allFiles())
    if (absl::Status status = addFile(path, names, header); !status.ok())
      return status;
  return header;
}

} // namespace

absl::StatusOr<SourceHeader> probeNpy(const ReaderInput &input) {
  return probeArrays(input, readHeader);
}

absl::StatusOr<std::unique_ptr<ExampleReader>> openNpy(const ReaderInput &input) {
  return openArrays(input, readHeader);
}

absl::StatusOr<SourceHeader> probeNpz(const ReaderInput &input) {
  absl::StatusOr<std::vector<std::string>> names = fieldNames(input);
  if (!names.ok())
    return names.status();
  return probeNamed(input, *names);
}

absl::StatusOr<std::unique_ptr<ExampleReader>> openNpz(const ReaderInput &input) {
  absl::StatusOr<std::vector<std::string>> names = fieldNames(input);
  if (!names.ok())
    return names.status();
  absl::StatusOr<SourceHeader> header = probeNamed(input, *names);
  if (!header.ok())
    return header.status();
  ExampleTable table;
  for (const FieldInfo &field : header->fields) {
    absl::StatusOr<FieldColumn> column = makeColumn(field);
    if (!column.ok())
      return column.status();
    if (absl::Status status = column->bytes.reserve(1); !status.ok())
      return status;
    table.columns.push_back(*std::move(column));
  }
  for (const std::string &path : input.allFiles()) {
    int64_t numExamples = 0;
    for (size_t i = 0; i < names->size(); ++i) {
      absl::StatusOr<HostTensor> array = readNpz(path, (*names)[i]);
      if (!array.ok())
        return array.status();
      FieldColumn &column = table.columns[i];
      std::vector<int64_t> shape = column.info.shape;
      shape.insert(shape.begin(),
                   i == 0 && !array->shape().empty() ? array->shape()[0] : numExamples);
      if (array->dtype() != column.info.dtype || array->shape() != shape)
        return absl::InvalidArgumentError(absl::StrCat(path, ": changed while it was read"));
      int64_t used = table.numExamples * column.exampleBytes;
      if (absl::Status status = column.bytes.reserveMore(used, array->numBytes()); !status.ok())
        return status;
      std::memcpy(column.bytes.data() + used, array->bytes(),
                  static_cast<size_t>(array->numBytes()));
      numExamples = array->shape()[0];
    }
    table.numExamples += numExamples;
  }
  return std::make_unique<TableReader>(std::move(table));
}

} // namespace pdg
