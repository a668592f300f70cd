// The grammar of CSV, one byte at a time.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/csv_scanner.h"

#include "runtime/base/text.h"

#include <absl/status/status.h>
#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

namespace pdg {

static bool isLineEnd(int byte) { return byte == '\n' || byte == '\r'; }

absl::StatusOr<bool> CsvScanner::readRow() {
  if (!isStarted_)
    if (absl::Status status = skipByteOrderMark(); !status.ok())
      return status;
  do {
    text_.clear();
    ends_.clear();
    places_.clear();
    hasQuotes_ = false;
    absl::StatusOr<int> next = peek();
    if (next.ok() && *next == '\n' && isAfterReturn_) {
      take();
      next = peek();
    }
    isAfterReturn_ = false;
    if (!next.ok())
      return next.status();
    if (*next == kEnd)
      return false;
    bool goesOn = true;
    while (goesOn) {
      absl::StatusOr<bool> more = readField();
      if (!more.ok())
        return more;
      goesOn = *more;
    }
  } while (isBlankRow());
  return true;
}

/// Reads a field and what follows it. Returns whether another field follows in the row.
absl::StatusOr<bool> CsvScanner::readField() {
  if (ends_.size() == kMaxFields)
    return errorAt(here_, absl::StrCat("expects at most ", kMaxFields, " fields in a row"));
  places_.push_back(here_);
  absl::StatusOr<int> first = peek();
  if (!first.ok())
    return first.status();
  absl::Status status = *first == '"' ? readQuoted() : readUnquoted();
  if (!status.ok())
    return status;
  ends_.push_back(text_.size());
  return takeSeparator();
}

absl::Status CsvScanner::readQuoted() {
  Place opening = here_;
  hasQuotes_ = true;
  take();
  while (true) {
    absl::StatusOr<int> byte = peek();
    if (!byte.ok())
      return byte.status();
    if (*byte == kEnd)
      return errorAt(opening, "expects a closing quote for the one that opens here, found the end "
                              "of the file");
    take();
    if (*byte == '"') {
      absl::StatusOr<int> next = peek();
      if (!next.ok())
        return next.status();
      if (*next != '"')
        return absl::OkStatus();
      take(); // "" inside quotes is one quote.
    }
    char taken = static_cast<char>(*byte);
    if (absl::Status status = append({&taken, 1}); !status.ok())
      return status;
  }
}

absl::Status CsvScanner::readUnquoted() {
  while (true) {
    absl::StatusOr<int> byte = peek();
    if (!byte.ok())
      return byte.status();
    if (*byte == kEnd || *byte == delimiter_ || isLineEnd(*byte))
      break;
    // All of the field that the buffer has, at once: most bytes of most files are taken here.
    const uint8_t *first = buffer_.data() + begin_, *last = buffer_.data() + end_;
    const uint8_t *stop = std::find_if(first, last, [this](uint8_t byte) {
      return byte == static_cast<uint8_t>(delimiter_) || isLineEnd(byte);
    });
    if (absl::Status status =
            append({reinterpret_cast<const char *>(first), static_cast<size_t>(stop - first)});
        !status.ok())
      return status;
    begin_ += stop - first;
    here_.column += stop - first;
  }
  return absl::OkStatus();
}

/// Takes the delimiter or the line's end behind a field. Returns whether it was a delimiter.
absl::StatusOr<bool> CsvScanner::takeSeparator() {
  absl::StatusOr<int> byte = peek();
  if (!byte.ok())
    return byte.status();
  if (*byte == delimiter_) {
    take();
    return true;
  }
  places_.push_back(here_);
  if (!isLineEnd(*byte) && *byte != kEnd) {
    char found = static_cast<char>(*byte);
    return errorAt(here_,
                   absl::StrCat("expects ",
                                delimiter_ == ',' ? "a comma" : quoteForMessage({&delimiter_, 1}),
                                " or the line's end behind a closing quote, found ",
                                quoteForMessage({&found, 1})));
  }
  if (*byte != kEnd)
    take();
  return false;
}

absl::StatusOr<int> CsvScanner::peek() {
  if (begin_ == end_) {
    absl::StatusOr<int64_t> found = file_.read(buffer_.data(), buffer_.size());
    if (!found.ok())
      return found.status();
    begin_ = 0;
    end_ = *found;
  }
  return begin_ == end_ ? kEnd : buffer_[begin_];
}

/// Goes past the byte that peek() returned.
void CsvScanner::take() {
  uint8_t byte = buffer_[begin_++];
  if (byte == '\r' || (byte == '\n' && !isAfterReturn_)) {
    ++here_.line;
    here_.column = 1;
  } else if (byte != '\n') {
    ++here_.column;
  }
  isAfterReturn_ = byte == '\r';
}

/// Adds `bytes` to the field that is being read.
absl::Status CsvScanner::append(std::string_view bytes) {
  size_t begin = ends_.empty() ? 0 : ends_.back();
  if (text_.size() - begin + bytes.size() > kMaxFieldSize)
    return errorAt(places_.back(), absl::StrCat("expects a field of at most ", kMaxFieldSize,
                                                " bytes: is this a CSV file?"));
  text_.append(bytes);
  return absl::OkStatus();
}

/// The mark may be there only once, at the first byte; the buffer holds it whole if it is there.
absl::Status CsvScanner::skipByteOrderMark() {
  isStarted_ = true;
  if (absl::StatusOr<int> first = peek(); !first.ok())
    return first.status();
  if (end_ >= 3 && buffer_[0] == 0xef && buffer_[1] == 0xbb && buffer_[2] == 0xbf)
    begin_ = 3;
  return absl::OkStatus();
}

bool CsvScanner::isBlankRow() const {
  return ends_.size() == 1 && !hasQuotes_ && text_.find_first_not_of(" \t\r") == std::string::npos;
}

absl::Status CsvScanner::errorAtField(size_t i, std::string_view what) const {
  return errorAt(places_[std::min(i, places_.size() - 1)], what);
}

absl::Status CsvScanner::errorAt(Place place, std::string_view what) const {
  return absl::InvalidArgumentError(
      absl::StrCat(path(), ":", place.line, ":", place.column, ": ", toAbsl(what)));
}

std::string quoteForMessage(std::string_view text) {
  constexpr size_t kMaxShown = 40;
  bool isLong = text.size() > kMaxShown;
  return absl::StrCat("'", absl::Utf8SafeCEscape(toAbsl(text.substr(0, kMaxShown))),
                      isLong ? "..." : "", "'");
}

} // namespace pdg
