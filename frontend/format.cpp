// Lays out the tree of a text: what fits stays on one line, else brackets are broken, the widest
// first. Line breaks that the author made between elements are kept where a bracket is broken.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/format.h"

#include "frontend/ast_print.h"
#include "frontend/format_tree.h"
#include "frontend/format_writer.h"
#include "frontend/parse.h"

#include <absl/strings/str_cat.h>
#include <algorithm>
#include <span>
#include <utility>

namespace pdg {

namespace {

using Pieces = std::span<const LayoutPiece>;
using Elements = std::span<const LayoutElement>;

/// Further indentation would only make lines longer than the width.
constexpr size_t MaxIndent = 80;

size_t deeper(size_t indent) { return std::min(indent + 4, std::max(indent, MaxIndent)); }

class Layout {
public:
  std::string run(const LayoutBody &file) {
    lines(file, 0);
    return writer_.take();
  }
  std::string runFlat(const LayoutBody &expression) {
    flat(expression.lines.front().pieces);
    return writer_.take();
  }

private:
  void lines(const LayoutBody &body, size_t indent);
  void statement(const LayoutPieces &pieces, size_t indent);
  void pieces(Pieces list, size_t tail);
  size_t breakNext(Pieces list, size_t from, size_t tail) const;
  void commentsBefore(const LayoutPiece &piece);
  void piece(const LayoutPiece &piece);
  void group(const LayoutPiece &piece, size_t tail);
  void hug(const LayoutGroup &group, size_t tail);
  void align(const LayoutGroup &group, size_t tail);
  void hang(const LayoutGroup &group);
  void hangLine(const LayoutGroup &group, Elements line, size_t indent);
  void element(const LayoutElement &element, size_t tail, size_t extraIndent);
  bool operators(Pieces list, int rank, size_t tail, size_t indent);
  void body(const LayoutPiece &piece);
  void flat(Pieces list);
  void flatGroup(const LayoutGroup &group);
  void flatBody(const LayoutBody &body);
  bool canAlign(const LayoutGroup &group, size_t tail) const;
  bool canHugLast(const LayoutGroup &group) const;
  bool fits(size_t width) const { return writer_.column() + width <= LayoutWidth; }

  LayoutWriter writer_;
};

size_t widthOf(Pieces list) {
  size_t width = 0;
  for (const LayoutPiece &piece : list)
    width = addWidths(width, piece.width);
  return width;
}

bool isForced(const LayoutPiece &piece) { return piece.width == NeverFits; }

/// The width of the bracket that opens a piece which is broken.
size_t openerWidth(const LayoutPiece &piece) { return piece.hasSpace + size_t{1}; }

//===- Lines ---------------------------------------------------------------===//

void Layout::lines(const LayoutBody &body, size_t indent) {
  for (const LayoutLine &line : body.lines) {
    if (line.hasBlankBefore)
      writer_.blankLine();
    if (line.pieces.empty()) {
      writer_.commentLine(line.comment, indent);
      continue;
    }
    statement(line.pieces, indent);
    writer_.comment(line.comment);
  }
}

/// Pieces that start a line by themselves cut a statement into parts, laid out one by one.
void Layout::statement(const LayoutPieces &list, size_t indent) {
  bool isCut = std::any_of(list.begin(), list.end(), [](const LayoutPiece &each) {
    return each.hasLineBreak && each.lexeme.is("else");
  });
  for (size_t begin = 0; begin != list.size();) {
    size_t end = begin + 1;
    while (end != list.size() && !list[end].hasLineBreak)
      ++end;
    for (std::string_view comment : list[begin].commentsBefore)
      writer_.commentLine(comment, indent);
    writer_.startLine(indent);
    Pieces part(&list[begin], end - begin);
    if (isCut || !fits(widthOf(part))) {
      pieces(part, 0);
    } else {
      flat(part);
      writer_.comment(part.back().commentAfter);
    }
    begin = end;
  }
}

void Layout::body(const LayoutPiece &piece) {
  const LayoutBody &body = *piece.body;
  if (body.lines.empty() && body.commentAfterOpener.empty())
    return writer_.write("{ }", piece.hasSpace);
  size_t indent = writer_.indent();
  writer_.write("{", piece.hasSpace);
  writer_.comment(body.commentAfterOpener);
  lines(body, deeper(indent));
  writer_.startLine(indent);
  writer_.write("}");
}

//===- Statements and elements that are too long ---------------------------===//

/// Comments on lines of their own inside a statement. Those of a piece that starts a part of a
/// statement are written already.
void Layout::commentsBefore(const LayoutPiece &piece) {
  if (piece.hasLineBreak || piece.commentsBefore.empty())
    return;
  size_t indent = writer_.indent();
  for (std::string_view comment : piece.commentsBefore)
    writer_.commentLine(comment, indent + 4);
  writer_.startLine(indent + 4);
  writer_.setIndent(indent);
}

void Layout::piece(const LayoutPiece &piece) {
  commentsBefore(piece);
  flat(Pieces(&piece, 1));
  writer_.comment(piece.commentAfter);
}

/// The piece from `from` on that is broken: the first that must be, if what is before it fits; else
/// the widest bracket that opens on this line, or the next one after it. The end of the list if
/// nothing has to be broken or can be.
size_t Layout::breakNext(Pieces list, size_t from, size_t tail) const {
  size_t at = from, widest = list.size(), width = 0;
  auto mustBreak = [&] { return isForced(list[at]) || list[at].body; };
  while (at != list.size() && !mustBreak() && fits(width)) {
    const LayoutPiece &each = list[at];
    if (each.canBreak() && fits(width + openerWidth(each)) &&
        (widest == list.size() || each.width > list[widest].width))
      widest = at;
    width += each.width;
    ++at;
  }
  bool isEnd = at == list.size();
  if (fits(width + (isEnd ? tail : openerWidth(list[at]))) && (isEnd || mustBreak()))
    return at;
  if (widest != list.size())
    return widest;
  while (at != list.size() && !mustBreak() && !list[at].canBreak())
    ++at;
  return at;
}

/// Lays out what does not fit on a line; `tail` is the width of what must stand behind it.
void Layout::pieces(Pieces list, size_t tail) {
  for (size_t at = 0; at != list.size(); ++at) {
    size_t broken = breakNext(list, at, tail);
    for (; at != broken; ++at)
      piece(list[at]);
    if (at == list.size())
      return;
    commentsBefore(list[at]);
    if (list[at].body) {
      body(list[at]);
    } else {
      // What must stand on the line of the closing bracket, up to the next one that can be broken.
      size_t behind = 0, next = at + 1;
      while (next != list.size() && !list[next].canBreak() && !isForced(list[next]) &&
             !list[next].body)
        behind += list[next++].width;
      behind += next == list.size() ? tail : openerWidth(list[next]);
      group(list[at], behind);
    }
    writer_.comment(list[at].commentAfter);
  }
}

void Layout::element(const LayoutElement &element, size_t tail, size_t extraIndent) {
  Pieces list(element.pieces);
  if (element.width != NeverFits && fits(element.width + tail))
    return flat(list);
  int rank = 0;
  bool hasBody = false;
  for (const LayoutPiece &each : list) {
    hasBody |= each.body != nullptr;
    if (each.rank != 0 && (rank == 0 || each.rank < rank))
      rank = each.rank;
  }
  if (rank != 0 && !hasBody && element.width != NeverFits &&
      operators(list, rank, tail, writer_.column() + extraIndent))
    return;
  pieces(list, tail);
}

/// Breaks before the operators that bind loosest, where the line is full. Does nothing and returns
/// false if that is not enough.
bool Layout::operators(Pieces list, int rank, size_t tail, size_t indent) {
  size_t outer = writer_.indent(), width = indent;
  for (const LayoutPiece &each : list) {
    width = each.rank == rank ? indent + each.width : width + each.width;
    if (width + tail > LayoutWidth)
      return false;
  }
  for (size_t begin = 0; begin != list.size();) {
    size_t end = begin + 1;
    while (end != list.size() && list[end].rank != rank)
      ++end;
    Pieces part(&list[begin], end - begin);
    size_t width = widthOf(part) + (end == list.size() ? tail : 0);
    if (begin != 0 && !fits(width))
      writer_.startLine(indent);
    flat(part);
    begin = end;
  }
  writer_.setIndent(outer);
  return true;
}

//===- Brackets ------------------------------------------------------------===//

/// Whether all elements fit behind the opening bracket, on lines that start there.
bool Layout::canAlign(const LayoutGroup &group, size_t tail) const {
  if (group.elements.front().hasLineBreak)
    return false;
  size_t column = writer_.column();
  for (const LayoutElement &element : group.elements) {
    bool isLast = &element == &group.elements.back();
    if (addWidths(column + element.width, isLast ? tail + 1 : 1) > LayoutWidth)
      return false;
  }
  return true;
}

/// Whether only the last element needs lines of its own, and the others fit before it.
bool Layout::canHugLast(const LayoutGroup &group) const {
  const LayoutElement &last = group.elements.back();
  if (last.width != NeverFits || !last.commentsBefore.empty() || !last.commentAfter.empty())
    return false;
  size_t width = 1;
  for (const LayoutElement &element : group.elements)
    if (&element != &last)
      width = addWidths(width, element.width + 2);
  for (const LayoutPiece &piece : last.pieces) {
    if (!piece.commentAfter.empty() || !piece.commentsBefore.empty())
      return false;
    if (isForced(piece))
      return fits(width + openerWidth(piece));
    width += piece.width;
  }
  return false;
}

void Layout::group(const LayoutPiece &piece, size_t tail) {
  const LayoutGroup &group = *piece.group;
  bool canHug = group.elements.size() <= 1 || canHugLast(group);
  writer_.write(piece.lexeme.text, piece.hasSpace);
  if (group.mustBreak())
    hang(group);
  else if (canHug)
    hug(group, tail);
  else if (canAlign(group, tail))
    align(group, tail);
  else
    hang(group);
  writer_.write(group.closer);
}

/// The last element is broken, the bracket is not.
void Layout::hug(const LayoutGroup &group, size_t tail) {
  for (const LayoutElement &each : group.elements) {
    if (&each == &group.elements.back()) {
      element(each, tail + 1 + group.needsComma, 0);
    } else {
      flat(each.pieces);
      writer_.write(", ");
    }
  }
  if (group.needsComma)
    writer_.write(",");
}

/// Fills lines that start behind the opening bracket.
void Layout::align(const LayoutGroup &group, size_t tail) {
  size_t outer = writer_.indent(), column = writer_.column();
  for (const LayoutElement &each : group.elements) {
    bool isFirst = &each == &group.elements.front(), isLast = &each == &group.elements.back();
    if (!isFirst) {
      writer_.write(",");
      if (each.hasLineBreak || !fits(1 + each.width + (isLast ? tail + 1 : 1)))
        writer_.startLine(column);
      else
        writer_.write(" ");
    }
    flat(each.pieces);
  }
  writer_.setIndent(outer);
}

/// Lines of their own for the elements, one for each unless the author has put some together.
void Layout::hang(const LayoutGroup &group) {
  size_t indent = writer_.indent(), inner = deeper(indent);
  writer_.comment(group.commentAfterOpener);
  const std::vector<LayoutElement> &list = group.elements;
  auto startsLine = [&list](size_t i) {
    return list[i].hasLineBreak || !list[i].commentsBefore.empty() ||
           !list[i - 1].commentAfter.empty();
  };
  size_t width = inner + list.size() * 2;
  bool areTogether = true;
  for (size_t i = 0; i != list.size(); ++i) {
    width = addWidths(width, list[i].width);
    areTogether &= i == 0 || !startsLine(i);
  }
  bool isOneEach = areTogether && width > LayoutWidth + 1;
  for (size_t begin = 0; begin != list.size();) {
    size_t end = begin + 1;
    while (!isOneEach && end != list.size() && !startsLine(end))
      ++end;
    hangLine(group, Elements(&list[begin], end - begin), inner);
    begin = end;
  }
  for (std::string_view comment : group.commentsAtEnd)
    writer_.commentLine(comment, inner);
  writer_.startLine(indent);
}

/// The elements of one line, on several lines if they do not fit.
void Layout::hangLine(const LayoutGroup &group, Elements line, size_t indent) {
  for (std::string_view comment : line.front().commentsBefore)
    writer_.commentLine(comment, indent);
  writer_.startLine(indent);
  for (const LayoutElement &each : line) {
    bool isLast = &each == &group.elements.back();
    if (&each != &line.front()) {
      if (fits(each.width + 2))
        writer_.write(" ");
      else
        writer_.startLine(indent);
    }
    element(each, 1, group.elements.size() > 1 ? 4 : 0);
    writer_.setIndent(indent);
    if (!isLast || group.takesComma)
      writer_.write(",");
    writer_.comment(each.commentAfter);
  }
}

//===- One line ------------------------------------------------------------===//

void Layout::flat(Pieces list) {
  for (const LayoutPiece &each : list) {
    writer_.write(each.lexeme.text, each.hasSpace);
    if (each.group)
      flatGroup(*each.group);
    else if (each.body)
      flatBody(*each.body);
  }
}

void Layout::flatGroup(const LayoutGroup &group) {
  for (const LayoutElement &element : group.elements) {
    if (&element != &group.elements.front())
      writer_.write(", ");
    flat(element.pieces);
  }
  if (group.needsComma)
    writer_.write(",");
  writer_.write(group.closer);
}

void Layout::flatBody(const LayoutBody &body) {
  const char *separator = " ";
  for (const LayoutLine &line : body.lines) {
    if (line.pieces.empty())
      continue;
    writer_.write(separator);
    flat(line.pieces);
    separator = "; ";
  }
  writer_.write(" }");
}

std::vector<std::string_view> commentsOf(std::string_view text) {
  std::vector<std::string_view> comments;
  for (const Lexeme &lexeme : splitLexemes(text))
    if (lexeme.isComment())
      comments.push_back(lexeme.text.substr(0, lexeme.text.find_last_not_of(" \t\r") + 1));
  return comments;
}

} // namespace

absl::StatusOr<std::string> formatFile(SourceManager &sources, FileId file,
                                       DiagnosticEngine &diagnostics) {
  std::unique_ptr<FileAst> before = parseFile(sources, file, diagnostics);
  if (!before || diagnostics.hasErrors())
    return absl::InvalidArgumentError("the file has syntax errors");
  std::string text(sources.file(file).text());
  // A layout keeps line breaks, those too that the one before it made; so it may settle only at the
  // second time.
  constexpr int MaxTimes = 8;
  for (int i = 0; i != MaxTimes; ++i)
    if (std::string before = std::exchange(text, Layout().run(buildLayout(text))); before == text)
      break;
  DiagnosticEngine found(sources);
  FileId result = sources.add(sources.file(file).path(), text);
  std::unique_ptr<FileAst> after = parseFile(sources, result, found);
  if (!after || found.hasErrors() || printAst(*before) != printAst(*after) ||
      commentsOf(sources.file(file).text()) != commentsOf(text))
    return absl::InternalError(
        absl::StrCat(sources.file(file).path(), ": the layout would change the program"));
  return text;
}

std::string formatExpression(std::string_view text) {
  // Inside brackets its line ends mean nothing.
  std::string wrapped = absl::StrCat("(", std::string(text), "\n)");
  std::string line = Layout().runFlat(buildLayout(wrapped));
  return line.substr(1, line.size() - 3);
}

} // namespace pdg
