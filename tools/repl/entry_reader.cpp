// Where an entry ends.
// SPDX-License-Identifier: Apache-2.0
#include "tools/repl/entry_reader.h"

#include "frontend/parse.h"

#include <algorithm>

namespace pdg {

void OpenBrackets::addLine(std::string_view line) {
  for (size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    if (c == '#')
      return;
    if (c == '"' || c == '\'') {
      for (++i; i < line.size() && line[i] != c; ++i)
        i += line[i] == '\\';
      continue;
    }
    depth_ += c == '(' || c == '[' || c == '{';
    depth_ -= c == ')' || c == ']' || c == '}';
  }
}

static std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

/// Looks whether an `else` follows, which continues the `if` above it.
static bool elseFollows(LineReader &reader) {
  std::string line;
  if (reader.read("", line) != LineReader::Result::Line)
    return false;
  std::string_view text = trim(line);
  bool result = text.starts_with("else") && (text.size() == 4 || !isalnum(text[4]));
  reader.putBack(std::move(line));
  return result;
}

LineReader::Result readEntry(LineReader &reader, const std::string &prompt,
                             const std::string &continuation, std::string &entry) {
  entry.clear();
  OpenBrackets brackets;
  std::string line;
  for (;;) {
    LineReader::Result result = reader.read(entry.empty() ? prompt : continuation, line);
    if (result == LineReader::Result::Interrupted)
      return result;
    if (result == LineReader::Result::End)
      return entry.empty() ? result : LineReader::Result::Line;
    std::string_view text = trim(line);
    if (entry.empty() && (text.empty() || text.starts_with(':'))) {
      entry = text;
      return LineReader::Result::Line;
    }
    entry += line + '\n';
    // Nobody types on behind an empty line, but a pasted text may have some.
    if (text.empty() && !reader.hasMore())
      return LineReader::Result::Line;
    brackets.addLine(line);
    // A comment that documents belongs to what follows.
    if (brackets.isOpen() || text.starts_with("##") || isIncompleteEntry(entry))
      continue;
    if (reader.isInteractive() || !text.ends_with('}') || !elseFollows(reader))
      return LineReader::Result::Line;
  }
}

} // namespace pdg
