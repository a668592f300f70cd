// How one message looks, as text and as JSON.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/diagnostics.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/text.h"
#include <algorithm>
#include <nlohmann/json.hpp>

namespace pdg {

namespace {

constexpr size_t TabWidth = 4;
constexpr size_t MaxLineWidth = 160;

struct CodePointRange {
  char32_t first, last;
};

// Scripts and symbols that terminals show two cells wide (the wide and full-width classes of
// Unicode's annex 11, joined to coarse ranges).
constexpr CodePointRange WideRanges[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};

// Marks that are drawn over the letter before them, and characters without any width.
constexpr CodePointRange ZeroRanges[] = {{0x0300, 0x036F}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
                                         {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F},
                                         {0xFE20, 0xFE2F}};

template <size_t N> bool contains(const CodePointRange (&ranges)[N], char32_t c) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [c](CodePointRange r) { return c >= r.first && c <= r.last; });
}

size_t displayWidth(char32_t c) {
  return contains(ZeroRanges, c) ? 0 : contains(WideRanges, c) ? 2 : 1;
}

/// One code point as it is shown: tabs as spaces, control characters as a visible mark.
void appendShown(char32_t c, size_t column, std::string &out) {
  if (c == '\t')
    out.append(TabWidth - column % TabWidth, ' ');
  else
    appendUtf8(c < 0x20 || c == 0x7F ? U'\uFFFD' : c, out);
}

size_t advance(char32_t c, size_t column) {
  return c == '\t' ? column + TabWidth - column % TabWidth : column + displayWidth(c);
}

/// A source line ready to print, with the cells that a span of it covers.
struct ShownLine {
  std::string text;
  size_t begin = 0;
  size_t end = 0;
};

ShownLine showLine(std::string_view line, size_t spanBegin, size_t spanEnd) {
  // A long line is cut on both sides of the span.
  size_t from = 0;
  if (line.size() > MaxLineWidth && spanBegin > MaxLineWidth / 2)
    from = std::min(spanBegin, line.size()) - MaxLineWidth / 2;
  while (from > 0 && from < line.size() && (line[from] & 0xC0) == 0x80)
    --from;
  ShownLine shown;
  size_t column = 0;
  if (from > 0) {
    shown.text = "...";
    column = 3;
  }
  bool hasBegin = false, hasEnd = false;
  size_t offset = from;
  while (offset < line.size() && offset - from < MaxLineWidth) {
    if (!hasBegin && offset >= spanBegin)
      shown.begin = column, hasBegin = true;
    if (!hasEnd && offset >= spanEnd)
      shown.end = column, hasEnd = true;
    char32_t c = decodeUtf8(line, offset);
    appendShown(c, column, shown.text);
    column = advance(c, column);
  }
  if (!hasBegin)
    shown.begin = column;
  if (!hasEnd)
    shown.end = column;
  if (offset < line.size())
    shown.text += "...";
  return shown;
}

/// Appends text in colours, or plain.
class Painter {
public:
  explicit Painter(bool useColor) : useColor_(useColor) {}
  std::string bold(std::string_view text) const { return wrap("\033[1m", text); }
  std::string gutter(std::string_view text) const { return wrap("\033[1;34m", text); }
  std::string severity(Severity severity, std::string_view text) const {
    return wrap(severity == Severity::Error ? "\033[1;31m" : "\033[1;33m", text);
  }

private:
  std::string wrap(std::string_view start, std::string_view text) const {
    return useColor_ ? absl::StrCat(toAbsl(start), toAbsl(text), "\033[0m") : std::string(text);
  }
  bool useColor_;
};

/// `--> file:line:column`, the source line and the underline with its label.
void appendSnippet(Span span, std::string_view label, char mark, Severity severity,
                   const SourceManager &sources, const Painter &paint, std::string &out) {
  const SourceFile &file = sources.file(span.file);
  LineColumn place = file.lineColumn(span.begin);
  uint32_t lineStart = file.lineStart(place.line);
  ShownLine line =
      showLine(file.lineText(place.line), span.begin - lineStart, span.end - lineStart);
  std::string number = absl::StrCat(place.line);
  std::string margin(number.size(), ' ');
  absl::StrAppend(&out, margin, paint.gutter("--> "), file.path(), ":", place.line, ":",
                  place.column, "\n");
  absl::StrAppend(&out, margin, paint.gutter(" |"), "\n");
  absl::StrAppend(&out, paint.gutter(number + " |"), line.text.empty() ? "" : " ", line.text, "\n");
  std::string underline(std::max<size_t>(line.end, line.begin + 1) - line.begin, mark);
  if (!label.empty())
    absl::StrAppend(&underline, " ", toAbsl(label));
  absl::StrAppend(&out, margin, paint.gutter(" |"), " ", std::string(line.begin, ' '),
                  paint.severity(severity, underline), "\n");
}

const char *severityName(Severity severity) {
  return severity == Severity::Error ? "error" : "warning";
}

nlohmann::ordered_json placeJson(Span span, const SourceManager &sources) {
  nlohmann::ordered_json json;
  const SourceFile &file = sources.file(span.file);
  LineColumn begin = file.lineColumn(span.begin), end = file.lineColumn(span.end);
  json["file"] = file.path();
  json["line"] = begin.line;
  json["column"] = begin.column;
  json["endLine"] = end.line;
  json["endColumn"] = end.column;
  return json;
}

} // namespace

std::string renderDiagnostic(const Diagnostic &diagnostic, const SourceManager &sources,
                             const RenderOptions &options) {
  Painter paint(options.useColor);
  std::string out = absl::StrCat(
      paint.severity(diagnostic.severity, absl::StrCat(severityName(diagnostic.severity), "[",
                                                       codeName(diagnostic.code), "]")),
      paint.bold(": " + diagnostic.message), "\n");
  if (diagnostic.span.isValid())
    appendSnippet(diagnostic.span, diagnostic.label, '^', diagnostic.severity, sources, paint, out);
  for (const SecondarySpan &second : diagnostic.secondary) {
    absl::StrAppend(&out, paint.bold("note: "), second.text, "\n");
    if (second.span.isValid())
      appendSnippet(second.span, "", '-', diagnostic.severity, sources, paint, out);
  }
  for (const std::string &note : diagnostic.notes)
    absl::StrAppend(&out, paint.bold("note: "), note, "\n");
  if (!diagnostic.hint.empty())
    absl::StrAppend(&out, paint.bold("hint: "), diagnostic.hint, "\n");
  return out;
}

std::string renderSnippet(Span span, const SourceManager &sources, const RenderOptions &options) {
  std::string out;
  appendSnippet(span, "", '^', Severity::Error, sources, Painter(options.useColor), out);
  return out;
}

std::string renderDiagnosticJson(const Diagnostic &diagnostic, const SourceManager &sources) {
  nlohmann::ordered_json json;
  json["code"] = codeName(diagnostic.code);
  json["severity"] = severityName(diagnostic.severity);
  json["title"] = codeTitle(diagnostic.code);
  json["message"] = diagnostic.message;
  if (diagnostic.span.isValid())
    json.update(placeJson(diagnostic.span, sources));
  json["label"] = diagnostic.label;
  json["secondary"] = nlohmann::ordered_json::array();
  for (const SecondarySpan &second : diagnostic.secondary) {
    nlohmann::ordered_json place =
        second.span.isValid() ? placeJson(second.span, sources) : nlohmann::ordered_json();
    place["text"] = second.text;
    json["secondary"].push_back(std::move(place));
  }
  json["notes"] = diagnostic.notes;
  json["hint"] = diagnostic.hint;
  // A message may quote malformed bytes of the source; they become U+FFFD.
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace pdg
