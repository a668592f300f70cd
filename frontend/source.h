// The texts that the compiler reads and places in them. A place is a byte range of one file; lines
// and columns are computed only when somebody wants to see them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdg {

/// Index of a file in its SourceManager.
using FileId = uint32_t;

/// A half-open byte range [begin, end) of one file. The default span is nowhere.
struct Span {
  static constexpr FileId Nowhere = UINT32_MAX;
  FileId file = Nowhere;
  uint32_t begin = 0;
  uint32_t end = 0;

  bool isValid() const { return file != Nowhere; }
  friend bool operator==(const Span &, const Span &) = default;
};

/// Returns the smallest span that covers both; one of them if the other is nowhere.
/// Requires: both lie in the same file if both are valid.
Span cover(Span a, Span b);

/// A line and a column, both counted from 1; columns count Unicode code points.
struct LineColumn {
  uint32_t line = 0;
  uint32_t column = 0;
  friend bool operator==(const LineColumn &, const LineColumn &) = default;
};

/// The number of code points of `text`; a malformed byte counts as one.
size_t countCodePoints(std::string_view text);

/// The byte offset of the first malformed UTF-8 sequence (overlong forms, surrogates and values
/// beyond U+10FFFF are malformed), or nothing if `text` is well-formed.
std::optional<size_t> findMalformedUtf8(std::string_view text);

/// Reads one code point at `offset` and moves `offset` behind it; a malformed byte reads as U+FFFD.
char32_t decodeUtf8(std::string_view text, size_t &offset);

/// Appends `codePoint` to `out` as UTF-8.
void appendUtf8(char32_t codePoint, std::string &out);

/// One text with its path and its table of lines. Immutable.
class SourceFile {
public:
  SourceFile(std::string path, std::string text);

  const std::string &path() const { return path_; }
  std::string_view text() const { return text_; }
  size_t lineCount() const { return lineStarts_.size(); }

  /// The place of byte `offset`; offsets past the end are at the end.
  LineColumn lineColumn(uint32_t offset) const;

  /// The text of `line` (from 1) without its line end.
  std::string_view lineText(uint32_t line) const;

  /// The byte offset at which `line` (from 1) starts.
  uint32_t lineStart(uint32_t line) const { return lineStarts_[line - 1]; }

private:
  /// How many code points there are before byte `offset`.
  size_t codePointsBefore(uint32_t offset) const;

  std::string path_;
  std::string text_;
  std::vector<uint32_t> lineStarts_;
  std::vector<uint32_t> marks_; ///< Where every 256th code point starts.
};

/// Owns all texts of one compilation. Files are read from disk or, first, from texts that were
/// registered under their path (tests, the REPL, editors). Not thread-safe.
class SourceManager {
public:
  /// Registers `text` so that loading `path` finds it instead of a file on disk.
  void addOverlay(std::string path, std::string text);

  /// Adds a text and returns its number.
  FileId add(std::string path, std::string text);

  /// Reads `path` and adds it. Refuses what is not a regular file or is larger than MaxFileBytes
  /// (OutOfRange), so a device or a data set given by mistake cannot exhaust the memory.
  absl::StatusOr<FileId> load(const std::string &path);

  /// True if `load(path)` would find an overlay or a regular file.
  bool exists(const std::string &path) const;

  const SourceFile &file(FileId id) const { return *files_[id]; }
  size_t size() const { return files_.size(); }

  /// The text of a span; empty for a span that is nowhere.
  std::string_view text(Span span) const;
  LineColumn lineColumn(Span span) const { return file(span.file).lineColumn(span.begin); }

  static constexpr size_t MaxFileBytes = size_t{4} << 20;

private:
  std::vector<std::unique_ptr<SourceFile>> files_;
  absl::flat_hash_map<std::string, std::string> overlays_;
};

} // namespace pdg
