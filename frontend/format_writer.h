// Collects the lines of a layout. A comment goes to the end of its line, whatever is still written
// there, so no word ever lands behind it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pdg {

class LayoutWriter {
public:
  size_t column() const { return column_; }
  /// The indentation of the current line.
  size_t indent() const { return indent_; }
  /// From which deeper lines are indented, until the next line starts.
  void setIndent(size_t indent) { indent_ = indent; }

  /// Ends the line, unless it is empty, and indents the next one.
  void startLine(size_t indent);
  /// Ends the line and leaves one empty.
  void blankLine();
  /// Writes a word. After a comment it starts a new line, unless it is a comma.
  void write(std::string_view text, bool hasSpace = false);
  /// A comment behind the line.
  void comment(std::string_view text);
  /// A comment on a line of its own.
  void commentLine(std::string_view text, size_t indent);

  /// All lines. Comments behind lines that follow each other are aligned.
  std::string take();

private:
  struct Line {
    std::string code;
    size_t width = 0; // of the code
    std::string_view comment;
  };
  void endLine();
  void align(size_t begin, size_t end);

  std::vector<Line> lines_;
  Line line_;
  size_t column_ = 0;
  size_t indent_ = 0;
};

} // namespace pdg
