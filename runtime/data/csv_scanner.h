// Splits CSV text into fields, keeping line and column for messages. Knows quotes and line ends,
// and nothing of numbers. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/data/input_file.h"

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pdg {

/// Reads the rows of a CSV file one after another. Fields are separated by a delimiter; one in
/// double quotes may contain it, line ends and doubled quotes; lines end with LF, CRLF or CR, the
/// last one perhaps with the file; a UTF-8 byte order mark at the beginning is skipped, and so are
/// lines that are empty or blank.
class CsvScanner {
public:
  /// Longer fields are refused: such a file is something else.
  static constexpr size_t kMaxFieldSize = size_t{1} << 16;
  /// Wider rows are refused for the same reason.
  static constexpr size_t kMaxFields = size_t{1} << 20;

  explicit CsvScanner(InputFile file, char delimiter = ',')
      : file_(std::move(file)), delimiter_(delimiter) {}

  /// Reads the next row. Returns false at the end of the file.
  absl::StatusOr<bool> readRow();

  /// The row that was read.
  size_t numFields() const { return ends_.size(); }
  std::string_view field(size_t i) const {
    size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }

  /// An error at field `i` of the row, or at the row's end if there are fewer fields.
  absl::Status errorAtField(size_t i, std::string_view what) const;

  const std::string &path() const { return file_.path(); }

private:
  struct Place {
    int64_t line = 1;
    int64_t column = 1;
  };

  static constexpr int kEnd = -1;

  absl::StatusOr<int> peek();
  void take();
  absl::StatusOr<bool> readField();
  absl::Status readQuoted();
  absl::Status readUnquoted();
  absl::StatusOr<bool> takeSeparator();
  absl::Status skipByteOrderMark();
  absl::Status append(std::string_view bytes);
  bool isBlankRow() const;
  absl::Status errorAt(Place place, std::string_view what) const;

  InputFile file_;
  char delimiter_;
  std::array<uint8_t, 1 << 16> buffer_;
  int64_t begin_ = 0, end_ = 0;
  bool isStarted_ = false;
  bool isAfterReturn_ = false; ///< The byte taken last was a CR: an LF belongs to it.
  Place here_;
  std::string text_;          ///< The fields of the row, one behind the other.
  std::vector<size_t> ends_;  ///< Where each field ends in text_.
  std::vector<Place> places_; ///< Where each field begins in the file, then where the row ends.
  bool hasQuotes_ = false;
};

/// Returns `text` quoted and escaped for a message, abridged if long.
std::string quoteForMessage(std::string_view text);

} // namespace pdg
