// Lines, columns and UTF-8 of source texts, and reading them from disk.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/source.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace pdg {

Span cover(Span a, Span b) {
  if (!a.isValid())
    return b;
  if (!b.isValid())
    return a;
  return {a.file, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

/// Length of the well-formed sequence at `offset`, or 0 if it is malformed.
static size_t sequenceLength(std::string_view text, size_t offset) {
  auto byte = [&](size_t i) -> unsigned {
    return offset + i < text.size() ? static_cast<unsigned char>(text[offset + i]) : 0;
  };
  auto continues = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  unsigned first = byte(0);
  if (first < 0x80)
    return 1;
  if (first >= 0xC2 && first <= 0xDF)
    return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    // The second byte excludes overlong forms (E0) and surrogates (ED).
    unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    unsigned high = first == 0xED ? 0x9F : 0xBF;
    return byte(1) >= low && byte(1) <= high && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    unsigned low = first == 0xF0 ? 0x90 : 0x80;
    unsigned high = first == 0xF4 ? 0x8F : 0xBF;
    return byte(1) >= low && byte(1) <= high && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

char32_t decodeUtf8(std::string_view text, size_t &offset) {
  size_t length = sequenceLength(text, offset);
  if (length == 0) {
    ++offset;
    return 0xFFFD;
  }
  static constexpr unsigned char FirstByteMask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t value = static_cast<unsigned char>(text[offset]) & FirstByteMask[length];
  for (size_t i = 1; i < length; ++i)
    value = value << 6 | (static_cast<unsigned char>(text[offset + i]) & 0x3F);
  offset += length;
  return value;
}

void appendUtf8(char32_t codePoint, std::string &out) {
  auto put = [&](char32_t bits) { out.push_back(static_cast<char>(bits)); };
  auto putContinuation = [&](int shift) { put(0x80 | ((codePoint >> shift) & 0x3F)); };
  if (codePoint < 0x80)
    return put(codePoint);
  if (codePoint < 0x800) {
    put(0xC0 | codePoint >> 6);
    return putContinuation(0);
  }
  if (codePoint < 0x10000) {
    put(0xE0 | codePoint >> 12);
    putContinuation(6);
    return putContinuation(0);
  }
  put(0xF0 | codePoint >> 18);
  putContinuation(12);
  putContinuation(6);
  putContinuation(0);
}

size_t countCodePoints(std::string_view text) {
  size_t count = 0;
  for (size_t offset = 0; offset < text.size(); ++count)
    decodeUtf8(text, offset);
  return count;
}

std::optional<size_t> findMalformedUtf8(std::string_view text) {
  for (size_t offset = 0; offset < text.size();) {
    size_t length = sequenceLength(text, offset);
    if (length == 0)
      return offset;
    offset += length;
  }
  return std::nullopt;
}

/// Columns are counted from the last mark, so that a place in a line of megabytes costs no more
/// than another one.
static constexpr size_t MarkDistance = 256;

SourceFile::SourceFile(std::string path, std::string text)
    : path_(std::move(path)), text_(std::move(text)), lineStarts_{0} {
  for (size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n')
      lineStarts_.push_back(static_cast<uint32_t>(i + 1));
  size_t count = 0;
  for (size_t offset = 0; offset < text_.size(); decodeUtf8(text_, offset))
    if (count++ % MarkDistance == 0)
      marks_.push_back(static_cast<uint32_t>(offset));
}

size_t SourceFile::codePointsBefore(uint32_t offset) const {
  auto next = std::upper_bound(marks_.begin(), marks_.end(), offset);
  if (next == marks_.begin())
    return 0; // An empty text.
  uint32_t mark = *std::prev(next);
  size_t marked = static_cast<size_t>(next - marks_.begin() - 1) * MarkDistance;
  return marked + countCodePoints(std::string_view(text_).substr(mark, offset - mark));
}

LineColumn SourceFile::lineColumn(uint32_t offset) const {
  offset = std::min<uint32_t>(offset, text_.size());
  auto next = std::upper_bound(lineStarts_.begin(), lineStarts_.end(), offset);
  uint32_t line = static_cast<uint32_t>(next - lineStarts_.begin());
  size_t column = codePointsBefore(offset) - codePointsBefore(lineStarts_[line - 1]) + 1;
  return {line, static_cast<uint32_t>(column)};
}

std::string_view SourceFile::lineText(uint32_t line) const {
  uint32_t start = lineStarts_[line - 1];
  size_t end = line < lineStarts_.size() ? lineStarts_[line] - 1 : text_.size();
  std::string_view text = std::string_view(text_).substr(start, end - start);
  if (!text.empty() && text.back() == '\r')
    text.remove_suffix(1);
  return text;
}

void SourceManager::addOverlay(std::string path, std::string text) {
  overlays_[std::move(path)] = std::move(text);
}

FileId SourceManager::add(std::string path, std::string text) {
  files_.push_back(std::make_unique<SourceFile>(std::move(path), std::move(text)));
  return static_cast<FileId>(files_.size() - 1);
}

bool SourceManager::exists(const std::string &path) const {
  std::error_code error;
  return overlays_.contains(path) || std::filesystem::is_regular_file(path, error);
}

absl::StatusOr<FileId> SourceManager::load(const std::string &path) {
  if (auto overlay = overlays_.find(path); overlay != overlays_.end())
    return add(path, overlay->second);
  std::error_code error;
  std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status))
    return absl::NotFoundError("no such file");
  if (!std::filesystem::is_regular_file(status))
    return absl::InvalidArgumentError(
        std::filesystem::is_directory(status) ? "is a folder" : "is not a regular file");
  std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file)
    return absl::PermissionDeniedError("cannot be opened");
  std::string text;
  char buffer[1 << 16];
  while (size_t count = std::fread(buffer, 1, sizeof buffer, file.get())) {
    text.append(buffer, count);
    if (text.size() > MaxFileBytes)
      return absl::OutOfRangeError(
          absl::StrCat("is larger than ", MaxFileBytes >> 20, " MiB, which no script should be"));
  }
  if (std::ferror(file.get()))
    return absl::UnavailableError("cannot be read");
  return add(path, std::move(text));
}

std::string_view SourceManager::text(Span span) const {
  if (!span.isValid())
    return {};
  return file(span.file).text().substr(span.begin, span.end - span.begin);
}

} // namespace pdg
