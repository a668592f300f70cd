// From rows of text to columns of numbers.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/csv_reader.h"

#include "runtime/base/text.h"
#include "runtime/data/csv_scanner.h"

#include <absl/status/status.h>
#include <absl/strings/ascii.h>
#include <absl/strings/charconv.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace pdg {

namespace {

constexpr size_t kNoTarget = std::numeric_limits<size_t>::max();

/// The first line of a file and what follows from it.
struct CsvHeader {
  std::vector<std::string> names;
  size_t target = kNoTarget;
};

/// Lists names for a message, at most eight of them.
std::string listNames(const std::vector<std::string> &names) {
  constexpr size_t kMaxShown = 8;
  std::string text = absl::StrJoin(names.begin(), names.begin() + std::min(names.size(), kMaxShown),
                                   ", ", [](std::string *out, const std::string &name) {
                                     absl::StrAppend(out, quoteForMessage(name));
                                   });
  return names.size() > kMaxShown ? absl::StrCat(text, ", ...") : text;
}

/// Finds the column `target` of the header row that `rows` has read.
absl::StatusOr<size_t> findTarget(const CsvScanner &rows, const std::vector<std::string> &names,
                                  const std::string &target) {
  size_t found = kNoTarget;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] != target)
      continue;
    if (found != kNoTarget)
      return rows.errorAtField(i, absl::StrCat("expects one column named ", quoteForMessage(target),
                                               ", found a second"));
    found = i;
  }
  if (found == kNoTarget)
    return rows.errorAtField(0, absl::StrCat("expects a column named ", quoteForMessage(target),
                                             " for the target, found ", listNames(names)));
  if (names.size() == 1)
    return rows.errorAtField(0, "expects a column beside the target, found none");
  return found;
}

absl::StatusOr<CsvHeader> readHeader(CsvScanner &rows, const std::string &target) {
  absl::StatusOr<bool> hasRow = rows.readRow();
  if (!hasRow.ok())
    return hasRow.status();
  if (!*hasRow)
    return absl::InvalidArgumentError(
        absl::StrCat(rows.path(), ": expects a first line with the names of the columns, found "
                                  "nothing"));
  CsvHeader header;
  for (size_t i = 0; i < rows.numFields(); ++i)
    header.names.emplace_back(absl::StripAsciiWhitespace(toAbsl(rows.field(i))));
  if (target.empty())
    return header;
  absl::StatusOr<size_t> found = findTarget(rows, header.names, target);
  if (!found.ok())
    return found.status();
  header.target = *found;
  return header;
}

SourceHeader describe(const CsvHeader &header) {
  int64_t numColumns = static_cast<int64_t>(header.names.size());
  SourceHeader result;
  if (header.target == kNoTarget)
    result.fields = {{DType::F32, {numColumns}}};
  else
    result.fields = {{DType::F32, {numColumns - 1}}, {DType::F32, {}}};
  return result;
}

/// Opens the one file of a source.
absl::StatusOr<InputFile> openFile(const ReaderInput &input) {
  if (input.paths.size() != 1)
    return absl::InvalidArgumentError(
        absl::StrCat("expects one CSV file, found ", input.paths.size()));
  return InputFile::open(input.paths[0], input.cancelled);
}

/// Reads field `i` of the row as a number.
absl::StatusOr<float> parseNumber(const CsvScanner &rows, const CsvHeader &header, size_t i) {
  absl::string_view text = absl::StripAsciiWhitespace(toAbsl(rows.field(i)));
  absl::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-')
    digits.remove_prefix(1);
  float value = 0;
  const char *end = digits.data() + digits.size();
  absl::from_chars_result result = absl::from_chars(digits.data(), end, value);
  bool isNumber = result.ptr == end && result.ec != std::errc::invalid_argument &&
                  digits.find_first_of("xX") == digits.npos && !digits.empty(); // No "0x10".
  // A number too close to zero becomes zero; one too far from it has no place.
  bool isTooLarge = result.ec == std::errc::result_out_of_range && std::abs(value) > 1;
  if (isNumber && !isTooLarge)
    return value;
  return rows.errorAtField(
      i, absl::StrCat("expects ", isTooLarge ? "a number that f32 can hold" : "a number",
                      " in column ", quoteForMessage(header.names[i]), ", found ",
                      text.empty() ? "nothing" : quoteForMessage(toStd(text))));
}

/// Appends the row that `rows` has read to the columns of `table`.
absl::Status appendRow(const CsvScanner &rows, const CsvHeader &header, ExampleTable &table) {
  if (rows.numFields() != header.names.size())
    return rows.errorAtField(std::min(rows.numFields(), header.names.size()),
                             absl::StrCat("expects ", header.names.size(), " fields (",
                                          listNames(header.names), "), found ", rows.numFields()));
  int64_t written[2];
  for (size_t c = 0; c < table.columns.size(); ++c) {
    FieldColumn &column = table.columns[c];
    written[c] = table.numExamples * column.exampleBytes;
    if (absl::Status status = column.bytes.reserveMore(written[c], column.exampleBytes);
        !status.ok())
      return status;
  }
  for (size_t i = 0; i < rows.numFields(); ++i) {
    absl::StatusOr<float> value = parseNumber(rows, header, i);
    if (!value.ok())
      return value.status();
    size_t c = i == header.target ? 1 : 0;
    std::memcpy(table.columns[c].bytes.data() + written[c], &*value, sizeof(float));
    written[c] += sizeof(float);
  }
  ++table.numExamples;
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<SourceHeader> probeCsv(const ReaderInput &input) {
  absl::StatusOr<InputFile> file = openFile(input);
  if (!file.ok())
    return file.status();
  CsvScanner rows(*std::move(file));
  absl::StatusOr<CsvHeader> header = readHeader(rows, input.source.target);
  if (!header.ok())
    return header.status();
  return describe(*header);
}

absl::StatusOr<ExampleTable> loadCsv(const ReaderInput &input) {
  absl::StatusOr<InputFile> file = openFile(input);
  if (!file.ok())
    return file.status();
  CsvScanner rows(*std::move(file));
  absl::StatusOr<CsvHeader> header = readHeader(rows, input.source.target);
  if (!header.ok())
    return header.status();
  ExampleTable table;
  for (const FieldInfo &field : describe(*header).fields) {
    absl::StatusOr<FieldColumn> column = makeColumn(field);
    if (!column.ok())
      return column.status();
    table.columns.push_back(*std::move(column));
  }
  while (true) {
    absl::StatusOr<bool> hasRow = rows.readRow();
    if (!hasRow.ok())
      return hasRow.status();
    if (!*hasRow)
      return table;
    if (absl::Status status = appendRow(rows, *header, table); !status.ok())
      return status;
  }
}

} // namespace pdg
