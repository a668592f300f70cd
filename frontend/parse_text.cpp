// Strings: escapes, and the texts of `print` and `assert` with values in braces.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/parse_internal.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/text.h"

namespace pdg {

using P = PdgParser;

namespace {

/// One escape at the start of `raw`, behind the backslash: its length and its character.
struct Escape {
  size_t length = 0; // 0 if there is no such escape
  char32_t value = 0;
};

Escape readEscape(std::string_view raw) {
  if (raw.empty())
    return {};
  switch (raw[0]) {
  case 'n':
    return {1, '\n'};
  case 't':
    return {1, '\t'};
  case 'r':
    return {1, '\r'};
  case '\\':
  case '"':
  case '\'':
    return {1, static_cast<char32_t>(raw[0])};
  default:
    break;
  }
  size_t close = raw.find('}');
  if (raw.substr(0, 2) != "u{" || close == std::string_view::npos || close > 8)
    return {};
  uint32_t value = 0;
  bool isScalar = absl::SimpleHexAtoi(toAbsl(raw.substr(2, close - 2)), &value) &&
                  value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF) && value != 0;
  return isScalar ? Escape{close + 1, value} : Escape{};
}

/// Where the value in braces ends that starts at `begin`: at its `}`, and at the `:` of its format,
/// if it has one. Brackets inside are skipped.
struct Extent {
  size_t colon = std::string_view::npos;
  size_t close = std::string_view::npos;
};

Extent findExtent(std::string_view raw, size_t begin) {
  Extent extent;
  size_t depth = 0;
  for (size_t i = begin; i < raw.size(); ++i) {
    char c = raw[i];
    if (c == '(' || c == '[' || c == '{')
      ++depth;
    else if (depth > 0 && (c == ')' || c == ']' || c == '}'))
      --depth;
    else if (depth == 0 && c == ':' && extent.colon == std::string_view::npos)
      extent.colon = i;
    else if (depth == 0 && c == '}') {
      extent.close = i;
      break;
    }
  }
  return extent;
}

} // namespace

std::string Builder::decodeString(Span place) {
  std::string_view raw = sources_.text(place);
  std::string out;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      out.push_back(raw[i]);
      continue;
    }
    Escape escape = readEscape(raw.substr(i + 1));
    if (escape.length == 0) {
      uint32_t at = place.begin + static_cast<uint32_t>(i);
      size_t end = i + 1;
      if (end < raw.size())
        decodeUtf8(raw, end);
      diagnostics_
          .report(DiagCode::PD0006, {place.file, at, place.begin + static_cast<uint32_t>(end)},
                  absl::StrCat("'", toAbsl(raw.substr(i, end - i)), "' is no escape"))
          .withNote("the escapes are \\n \\t \\r \\\\ \\\" and \\u{...} with hexadecimal digits")
          .withHint("a backslash itself is written \\\\");
      continue;
    }
    appendUtf8(escape.value, out);
    i += escape.length;
  }
  return out;
}

Span Builder::insideQuotes(Span literal) const {
  std::string_view raw = sources_.text(literal);
  // A string that is not closed has been reported and has only its first quote.
  bool isClosed = raw.size() >= 2 && (raw.back() == '"' || raw.back() == '\'');
  return {literal.file, literal.begin + 1, literal.end - (isClosed ? 1 : 0)};
}

Template Builder::textOrValue(P::ExprContext *context) {
  Span all = span(context);
  auto *leaf = dynamic_cast<P::AtomExprContext *>(context);
  Template result;
  result.span = all;
  if (leaf && leaf->atom()->STRING()) {
    parseTemplate(insideQuotes(all), result);
    return result;
  }
  TemplatePart part;
  part.span = all;
  part.expr = expr(context);
  result.parts.push_back(std::move(part));
  return result;
}

/// Splits a text into what is printed as it is and values in braces.
void Builder::parseTemplate(Span place, Template &out) {
  std::string_view raw = sources_.text(place);
  TemplatePart text;
  auto flush = [&](size_t begin, size_t end) {
    Span piece = {place.file, place.begin + static_cast<uint32_t>(begin),
                  place.begin + static_cast<uint32_t>(end)};
    text.text += decodeString(piece);
    text.span = cover(text.span, piece);
  };
  size_t begin = 0, i = 0;
  while (i < raw.size()) {
    char c = raw[i];
    bool isDoubled = (c == '{' || c == '}') && i + 1 < raw.size() && raw[i + 1] == c;
    if (c == '\\') {
      // The braces of \u{...} belong to the escape.
      i += 1 + std::max<size_t>(readEscape(raw.substr(i + 1)).length, 1);
    } else if (isDoubled) {
      flush(begin, i + 1);
      begin = i += 2;
    } else if (c == '{') {
      flush(begin, i);
      if (!text.text.empty())
        out.parts.push_back(std::move(text));
      text = TemplatePart();
      begin = i = interpolation(place, i, out);
    } else {
      if (c == '}')
        reportText({place.file, place.begin + static_cast<uint32_t>(i),
                    place.begin + static_cast<uint32_t>(i) + 1},
                   "found '}' without '{' before it", "a brace itself is written }}");
      ++i;
    }
  }
  flush(begin, raw.size());
  if (!text.text.empty())
    out.parts.push_back(std::move(text));
}

void Builder::reportText(Span place, std::string message, std::string hint) {
  diagnostics_.report(DiagCode::PD0030, place, std::move(message)).withHint(std::move(hint));
}

/// Reads the value whose `{` is at byte `open` of the text; returns where the text goes on.
size_t Builder::interpolation(Span place, size_t open, Template &out) {
  std::string_view raw = sources_.text(place);
  auto at = [&](size_t offset) { return place.begin + static_cast<uint32_t>(offset); };
  Extent extent = findExtent(raw, open + 1);
  if (extent.close == std::string_view::npos) {
    reportText({place.file, at(open), at(open + 1)}, "expected '}' after the value in the text",
               "a brace itself is written {{");
    return raw.size();
  }
  bool hasFormat = extent.colon != std::string_view::npos;
  size_t end = hasFormat ? extent.colon : extent.close;
  TemplatePart part;
  part.span = {place.file, at(open), at(extent.close + 1)};
  if (absl::StripAsciiWhitespace(toAbsl(raw.substr(open + 1, end - open - 1))).empty()) {
    reportText(part.span, "expected a value between '{' and '}'", "a brace itself is written {{");
    return extent.close + 1;
  }
  part.expr =
      parseInterpolation(sources_, {place.file, at(open + 1), at(end)}, diagnostics_, brokenNames_);
  if (hasFormat)
    part.format = format({place.file, at(extent.colon + 1), at(extent.close)});
  if (part.expr)
    out.parts.push_back(std::move(part));
  return extent.close + 1;
}

/// `8`, `.4`, `8.4`, `.4g`: width, number of decimals, or of significant digits with `g`.
FormatSpec Builder::format(Span place) {
  std::string_view text = sources_.text(place);
  FormatSpec result;
  auto readNumber = [&](std::optional<int> &number) {
    size_t length = 0;
    while (length < text.size() && absl::ascii_isdigit(text[length]))
      ++length;
    int value = 0;
    if (length == 0 || length > 3 || !absl::SimpleAtoi(toAbsl(text.substr(0, length)), &value))
      return length == 0;
    number = value;
    text.remove_prefix(length);
    return true;
  };
  bool isGood = readNumber(result.width);
  if (isGood && !text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    isGood = readNumber(result.precision) && result.precision.has_value();
    if (isGood && text == "g") {
      result.isGeneral = true;
      text = {};
    }
  }
  bool isEmpty = !result.width && !result.precision;
  if (isGood && text.empty() && !isEmpty)
    return result;
  reportText(place,
             absl::StrCat("expected a format such as .4, .4g or 8, found '",
                          toAbsl(sources_.text(place)), "'"),
             "{x:.4} has four decimals, {x:.4g} four significant digits, {x:8} eight characters");
  return {};
}

} // namespace pdg
