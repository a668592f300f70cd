// Lines of a layout and the comments behind them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/format_writer.h"

#include "frontend/format.h"

#include <algorithm>

namespace pdg {

void LayoutWriter::endLine() {
  if (line_.code.find_first_not_of(' ') == std::string::npos)
    line_.code.clear();
  line_.width = line_.code.empty() ? 0 : column_;
  if (!line_.code.empty() || !line_.comment.empty())
    lines_.push_back(std::move(line_));
  line_ = {};
  column_ = 0;
}

void LayoutWriter::startLine(size_t indent) {
  endLine();
  line_.code.assign(indent, ' ');
  column_ = indent_ = indent;
}

void LayoutWriter::blankLine() {
  endLine();
  lines_.emplace_back();
}

void LayoutWriter::write(std::string_view text, bool hasSpace) {
  if (!line_.comment.empty() && text != ",") {
    size_t indent = indent_;
    startLine(indent + 4);
    indent_ = indent;
  }
  // The first word of a line stands where the line starts.
  hasSpace &= line_.code.find_first_not_of(' ') != std::string::npos;
  if (hasSpace)
    line_.code += ' ';
  line_.code += text;
  column_ += countCodePoints(text) + hasSpace;
}

void LayoutWriter::comment(std::string_view text) {
  if (text.empty())
    return;
  if (!line_.comment.empty())
    commentLine(text, indent_);
  else
    line_.comment = text;
}

void LayoutWriter::commentLine(std::string_view text, size_t indent) {
  startLine(indent);
  line_.code += text;
  column_ += countCodePoints(text);
}

/// Puts the comments of [begin, end) into one column if they stay within the width.
void LayoutWriter::align(size_t begin, size_t end) {
  size_t column = 0, widest = 0;
  for (size_t i = begin; i != end; ++i) {
    column = std::max(column, lines_[i].width);
    widest = std::max(widest, countCodePoints(lines_[i].comment));
  }
  bool isAligned = column + 2 + widest <= LayoutWidth;
  for (size_t i = begin; i != end; ++i) {
    size_t spaces = 2 + (isAligned ? column - lines_[i].width : 0);
    lines_[i].code.append(spaces, ' ').append(lines_[i].comment);
  }
}

std::string LayoutWriter::take() {
  endLine();
  for (size_t i = 0; i != lines_.size();) {
    size_t end = i;
    while (end != lines_.size() && !lines_[end].comment.empty())
      ++end;
    align(i, end);
    i = std::max(end, i + 1);
  }
  std::string text;
  for (const Line &line : lines_)
    text.append(line.code).push_back('\n');
  return text;
}

} // namespace pdg
