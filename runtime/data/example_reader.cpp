// Reading whole sources into memory, and from there.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/example_reader.h"

#include "runtime/base/tensor.h"

#include <absl/status/status.h>

#include <algorithm>
#include <cstring>

namespace pdg {

absl::StatusOr<int64_t> TableReader::read(int64_t count, std::span<char *const> fields) {
  count = std::min(count, table_.numExamples - next_);
  for (size_t i = 0; i < table_.columns.size(); ++i) {
    const FieldColumn &column = table_.columns[i];
    std::memcpy(fields[i], column.bytes.data() + next_ * column.exampleBytes,
                static_cast<size_t>(count * column.exampleBytes));
  }
  next_ += count;
  return count;
}

absl::StatusOr<int64_t> TableReader::seek(int64_t index) {
  return next_ = std::min(index, table_.numExamples);
}

absl::StatusOr<int64_t> exampleBytes(const SourceHeader &header) {
  int64_t sum = 0;
  for (const FieldInfo &field : header.fields) {
    absl::StatusOr<int64_t> bytes = countBytes(field.dtype, field.shape);
    if (!bytes.ok())
      return bytes;
    if (__builtin_add_overflow(sum, *bytes, &sum))
      return absl::InvalidArgumentError("an example is larger than any memory");
  }
  return sum;
}

/// Makes an empty table with room for `numExamples`.
static absl::StatusOr<ExampleTable> makeTable(const SourceHeader &header, int64_t numExamples) {
  ExampleTable table;
  for (const FieldInfo &field : header.fields) {
    absl::StatusOr<FieldColumn> column = makeColumn(field);
    if (!column.ok())
      return column.status();
    // One byte at least, so that an empty column has an address too.
    int64_t size = 0;
    if (__builtin_mul_overflow(numExamples, column->exampleBytes, &size))
      return absl::ResourceExhaustedError("the examples are larger than any memory");
    if (absl::Status status = column->bytes.reserve(std::max<int64_t>(size, 1)); !status.ok())
      return status;
    table.columns.push_back(*std::move(column));
  }
  return table;
}

absl::StatusOr<std::optional<ExampleTable>>
readTable(ExampleReader &reader, const SourceHeader &header, ExampleRange range, int64_t maxBytes) {
  constexpr int64_t kPieceBytes = int64_t{1} << 20;
  absl::StatusOr<int64_t> bytes = exampleBytes(header);
  if (!bytes.ok())
    return bytes.status();
  int64_t one = std::max<int64_t>(*bytes, 1), most = maxBytes / one;
  int64_t wanted = range.end == kDynamicSize ? INT64_MAX : range.end - range.begin;
  bool isKnown = header.numExamples != kDynamicSize;
  if (most == 0 || (isKnown && wanted > most))
    return std::nullopt;
  absl::StatusOr<ExampleTable> table = makeTable(header, isKnown ? wanted : 0);
  if (!table.ok())
    return table.status();
  if (absl::StatusOr<int64_t> begin = reader.seek(range.begin); !begin.ok())
    return begin.status();
  int64_t piece = std::max<int64_t>(kPieceBytes / one, 1);
  std::vector<char *> fields(table->columns.size());
  while (table->numExamples <= most) {
    int64_t count = std::min(piece, wanted - table->numExamples);
    for (size_t i = 0; i < fields.size(); ++i) {
      FieldColumn &column = table->columns[i];
      int64_t used = table->numExamples * column.exampleBytes;
      if (absl::Status status = column.bytes.reserveMore(used, count * column.exampleBytes);
          !status.ok())
        return status;
      fields[i] = reinterpret_cast<char *>(column.bytes.data()) + used;
    }
    absl::StatusOr<int64_t> found = reader.read(count, fields);
    if (!found.ok())
      return found.status();
    table->numExamples += *found;
    if (*found < piece)
      return std::optional(*std::move(table));
  }
  return std::nullopt;
}

} // namespace pdg
