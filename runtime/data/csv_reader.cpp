// From rows of text to examples.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/csv_reader.h"

#include "runtime/base/tensor.h"
#include "runtime/base/text.h"
#include "runtime/data/csv_layout.h"

#include <absl/status/status.h>
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>

namespace pdg {

namespace {

bool hasHeader(const ReaderInput &input) {
  const OptionValue *header = input.option("header");
  return !header || header->text == "true";
}

absl::StatusOr<std::unique_ptr<CsvScanner>> openFile(const ReaderInput &input,
                                                     const std::string &path) {
  absl::StatusOr<InputFile> file = InputFile::open(path, input.cancelled);
  if (!file.ok())
    return file.status();
  const OptionValue *delimiter = input.option("delimiter");
  return std::make_unique<CsvScanner>(*std::move(file), delimiter ? delimiter->text[0] : ',');
}

/// Reads the first row of a file and makes the layout from it.
absl::StatusOr<CsvLayout> readLayout(const ReaderInput &input, CsvScanner &rows) {
  absl::StatusOr<bool> hasRow = rows.readRow();
  if (!hasRow.ok())
    return hasRow.status();
  if (!*hasRow)
    return absl::InvalidArgumentError(absl::StrCat(
        rows.path(), hasHeader(input)
                         ? ": expects a first line with the names of the columns, found nothing"
                         : ": expects a line, found nothing"));
  std::vector<std::string> names;
  for (size_t i = 0; i < rows.numFields(); ++i)
    names.push_back(hasHeader(input)
                        ? std::string(absl::StripAsciiWhitespace(toAbsl(rows.field(i))))
                        : absl::StrCat(i + 1));
  return makeLayout(input, rows, std::move(names));
}

class CsvReader : public ExampleReader {
public:
  CsvReader(const ReaderInput &input)
      : source_(input.source), paths_(input.paths), files_(input.allFiles()),
        cancelled_(input.cancelled) {}

  absl::StatusOr<int64_t> read(int64_t count, std::span<char *const> fields) override {
    int64_t done = 0;
    for (; done < count; ++done) {
      absl::StatusOr<bool> hasRow = nextRow();
      if (!hasRow.ok())
        return hasRow.status();
      if (!*hasRow)
        break;
      for (const CsvColumn &column : layout_.columns)
        if (absl::Status status =
                parseColumn(*rows_, layout_, column,
                            fields[column.field] + done * sizes_[column.field] + column.offset);
            !status.ok())
          return status;
    }
    return done;
  }

  absl::StatusOr<int64_t> seek(int64_t index) override {
    if (index < next_) {
      rows_.reset();
      file_ = 0;
      next_ = 0;
    }
    while (next_ < index) {
      absl::StatusOr<bool> hasRow = nextRow();
      if (!hasRow.ok())
        return hasRow.status();
      if (!*hasRow)
        break;
    }
    return next_;
  }

  Access access() const override { return Access::Forward; }

private:
  /// Opens the next file and goes behind its header.
  absl::Status openNext() {
    ReaderInput input = {source_, {}, paths_, cancelled_};
    absl::StatusOr<std::unique_ptr<CsvScanner>> rows = openFile(input, files_[file_]);
    if (!rows.ok())
      return rows.status();
    rows_ = *std::move(rows);
    absl::StatusOr<CsvLayout> layout = readLayout(input, *rows_);
    if (!layout.ok())
      return layout.status();
    layout_ = *std::move(layout);
    std::vector<int64_t> sizes;
    for (const FieldInfo &field : layout_.fields)
      sizes.push_back(countBytes(field.dtype, field.shape).value_or(0));
    if (!sizes_.empty() && sizes != sizes_)
      return rows_->errorAtField(0, "changed while it was read");
    sizes_ = std::move(sizes);
    isRowTaken_ = hasHeader(input);
    return absl::OkStatus();
  }

  /// Reads the next row, of the next file after the last of one.
  absl::StatusOr<bool> nextRow() {
    while (true) {
      if (!rows_) {
        if (file_ == files_.size())
          return false;
        if (absl::Status status = openNext(); !status.ok())
          return status;
      }
      absl::StatusOr<bool> hasRow = true;
      if (isRowTaken_)
        hasRow = rows_->readRow();
      isRowTaken_ = true;
      if (!hasRow.ok())
        return hasRow;
      if (*hasRow) {
        ++next_;
        return checkWidth();
      }
      rows_.reset();
      ++file_;
    }
  }

  absl::StatusOr<bool> checkWidth() const {
    size_t found = rows_->numFields(), expected = layout_.names.size();
    if (found == expected)
      return true;
    return rows_->errorAtField(std::min(found, expected),
                               absl::StrCat("expects ", expected, " fields (",
                                            listNames(layout_.names), "), found ", found));
  }

  const SourceInfo source_;
  const DataPaths paths_;
  const std::vector<std::string> files_;
  const std::atomic<bool> *cancelled_;
  CsvLayout layout_;
  std::vector<int64_t> sizes_; ///< Bytes of the fields of an example.
  size_t file_ = 0;            ///< The one that is open or comes next.
  std::unique_ptr<CsvScanner> rows_;
  bool isRowTaken_ = true; ///< False if the row read last is the next example.
  int64_t next_ = 0;
};

} // namespace

absl::StatusOr<SourceHeader> probeCsv(const ReaderInput &input) {
  SourceHeader header;
  std::vector<std::string> names, files = input.allFiles();
  if (files.empty())
    return absl::InvalidArgumentError("expects at least one CSV file, found none");
  for (const std::string &path : files) {
    absl::StatusOr<std::unique_ptr<CsvScanner>> rows = openFile(input, path);
    if (!rows.ok())
      return rows.status();
    absl::StatusOr<CsvLayout> layout = readLayout(input, **rows);
    if (!layout.ok())
      return layout.status();
    if (header.fields.empty()) {
      header.fields = layout->fields;
      names = layout->names;
    }
    // With `columns` the order and the other columns of a file do not matter.
    if (!input.option("columns") && layout->names != names)
      return (*rows)->errorAtField(0, absl::StrCat("expects the columns ", listNames(names),
                                                   ", as in ", files.front(), ", found ",
                                                   listNames(layout->names)));
  }
  return header;
}

absl::StatusOr<std::unique_ptr<ExampleReader>> openCsv(const ReaderInput &input) {
  return std::make_unique<CsvReader>(input);
}

} // namespace pdg
