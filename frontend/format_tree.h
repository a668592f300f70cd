// A text as layout sees it: statements, brackets and the elements in them, with their comments.
// Names, types and kinds of statements do not matter here, so new syntax needs no change as long as
// it is made of words, brackets and commas.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/lexemes.h"

#include <memory>
#include <string_view>
#include <vector>

namespace pdg {

struct LayoutGroup;
struct LayoutBody;

/// The width of what cannot stand on one line.
inline constexpr size_t NeverFits = size_t{1} << 20;

/// A word, or a whole bracket.
struct LayoutPiece {
  Lexeme lexeme;
  std::unique_ptr<LayoutGroup> group; // the lexeme is ( or [
  std::unique_ptr<LayoutBody> body;   // the lexeme is {
  bool hasSpace = false;              // before it
  bool hasLineBreak = false; // before it: the statement of a hint, an `else` after comments
  bool isOperand = false;    // an operator behind it is binary
  bool isPrefix = false;     // a sign
  int rank = 0;              // where to break a long expression: before the lowest; 0: never
  size_t width = 0;          // on one line, with the space before it
  std::vector<std::string_view> commentsBefore; // on lines of their own
  std::string_view commentAfter;                // on its line

  LayoutPiece();
  LayoutPiece(LayoutPiece &&) noexcept;
  LayoutPiece &operator=(LayoutPiece &&) noexcept;
  ~LayoutPiece();

  bool canBreak() const;
};

using LayoutPieces = std::vector<LayoutPiece>;

/// What stands between two commas of a bracket.
struct LayoutElement {
  LayoutPieces pieces;
  bool hasLineBreak = false; // before it, as it was written
  size_t width = 0;
  std::vector<std::string_view> commentsBefore;
  std::string_view commentAfter;
};

/// ( ) or [ ] with elements.
struct LayoutGroup {
  std::vector<LayoutElement> elements;
  std::string_view closer;
  bool isOpen = false;      // a comma and a line break stand before the closing bracket
  bool hasComments = false; // between its elements or inside one, but not inside another bracket
  bool takesComma = false;  // after the last element
  bool needsComma = false;  // (a,) is a tuple, (a) is not
  bool canBreak = false;    // into lines
  std::string_view commentAfterOpener;
  std::vector<std::string_view> commentsAtEnd;

  bool mustBreak() const { return isOpen || hasComments; }
};

/// A statement, or a comment on a line of its own.
struct LayoutLine {
  LayoutPieces pieces;
  std::string_view comment; // the whole line if there are no pieces, else behind them
  bool hasBlankBefore = false;
};

/// The lines of a file, or those between { and }.
struct LayoutBody {
  std::vector<LayoutLine> lines;
  std::string_view commentAfterOpener;
  bool isOneLine = false; // it was written on one line, and may stay there
};

/// Makes the tree of a text without syntax errors, with all widths. The tree points into the text.
LayoutBody buildLayout(std::string_view text);

/// The sum of widths; at most NeverFits.
size_t addWidths(size_t a, size_t b);

} // namespace pdg
