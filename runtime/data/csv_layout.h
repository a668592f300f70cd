// Which columns of a CSV file become which part of an example.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/data/csv_scanner.h"
#include "runtime/data/reader.h"

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

namespace pdg {

/// What a column holds: numbers of a type, or words, whose index in `words` is the i64 value.
struct CsvType {
  DType dtype = DType::F32;
  std::vector<std::string> words;
};

/// A column that is read.
struct CsvColumn {
  size_t index = 0;   ///< In a row.
  size_t field = 0;   ///< Of an example.
  int64_t offset = 0; ///< In the field, in bytes.
  size_t type = 0;    ///< In CsvLayout::types.
};

/// How a row becomes an example.
struct CsvLayout {
  std::vector<std::string> names; ///< Of all columns of the file; "1", "2", ... without a header.
  std::vector<CsvType> types;
  std::vector<std::string> missing; ///< Texts that are NaN where floats are read.
  std::vector<CsvColumn> columns;
  std::vector<FieldInfo> fields;
};

/// Applies the options of `input` to a file whose columns are `names`. `rows` has just read the row
/// that messages point to.
absl::StatusOr<CsvLayout> makeLayout(const ReaderInput &input, const CsvScanner &rows,
                                     std::vector<std::string> names);

/// Writes field `column.index` of the row that `rows` has read to `to`.
absl::Status parseColumn(const CsvScanner &rows, const CsvLayout &layout, const CsvColumn &column,
                         char *to);

/// Lists names for a message, at most eight of them.
std::string listNames(const std::vector<std::string> &names);

} // namespace pdg
