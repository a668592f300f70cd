// Puts lines together to entries: an entry goes on while brackets are open.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/repl/line_reader.h"

#include <string_view>

namespace pdg {

/// Counts the brackets of a text that are open, line by line. Strings and comments end with their
/// line, so no line changes what another means.
class OpenBrackets {
public:
  void addLine(std::string_view line);
  bool isOpen() const { return depth_ > 0; }

private:
  int64_t depth_ = 0;
};

/// Reads an entry: a command (`:help`) or statements. On a terminal an empty line ends it in any
/// case. Result::Interrupted: what was typed so far is forgotten.
LineReader::Result readEntry(LineReader &reader, const std::string &prompt,
                             const std::string &continuation, std::string &entry);

} // namespace pdg
