// From words to lines, brackets and elements.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/format_tree.h"

#include "frontend/source.h"

#include <algorithm>

namespace pdg {

LayoutPiece::LayoutPiece() = default;
LayoutPiece::LayoutPiece(LayoutPiece &&) noexcept = default;
LayoutPiece &LayoutPiece::operator=(LayoutPiece &&) noexcept = default;
LayoutPiece::~LayoutPiece() = default;

bool LayoutPiece::canBreak() const { return group && group->canBreak; }

size_t addWidths(size_t a, size_t b) { return std::min(a + b, NeverFits); }

namespace {

/// Shorter brackets stay together: breaking them gains nothing.
constexpr size_t MinBreakWidth = 20;

class TreeBuilder {
public:
  explicit TreeBuilder(std::string_view text) : lexemes_(splitLexemes(text)) {}

  LayoutBody body(bool isFile);

private:
  bool isAtEnd() const { return at_ == lexemes_.size(); }
  const Lexeme &peek() const { return lexemes_[at_]; }
  bool isNext(LexemeKind kind) const { return !isAtEnd() && peek().kind == kind; }
  bool isNext(std::string_view text) const { return !isAtEnd() && peek().is(text); }
  std::string_view takeComment();
  void takeLineBreaks();

  LayoutPieces statement();
  void hints(LayoutPieces &pieces);
  void takeElse(LayoutPieces &pieces);
  void piece(LayoutPieces &pieces);
  void group(LayoutPiece &opener, const LayoutPiece *before);
  void commentInGroup(LayoutGroup &group, bool isOwnLine);
  bool endElement(LayoutGroup &group);

  std::vector<Lexeme> lexemes_;
  size_t at_ = 0;
  // Of the innermost bracket: comments that wait for the next word.
  std::vector<std::string_view> waiting_;
  bool sawLineBreak_ = false;
  enum class AfterHint { No, Space, LineBreak } afterHint_ = AfterHint::No;
};

std::string_view trimEnd(std::string_view text) {
  size_t end = text.find_last_not_of(" \t\r");
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

std::string_view TreeBuilder::takeComment() { return trimEnd(lexemes_[at_++].text); }

void TreeBuilder::takeLineBreaks() {
  while (isNext(LexemeKind::Newline)) {
    sawLineBreak_ = true;
    ++at_;
  }
}

//===- Spaces --------------------------------------------------------------===//

int rankOf(const Lexeme &lexeme, bool isBinary) {
  struct Rank {
    std::string_view text;
    int rank;
  };
  static constexpr Rank Ranks[] = {{"for", 1}, {"or", 2}, {"and", 3}, {"==", 4}, {"!=", 4},
                                   {"<", 4},   {"<=", 4}, {">", 4},   {">=", 4}, {"+", 5},
                                   {"-", 5},   {"*", 6},  {"/", 6},   {"//", 6}, {"%", 6}};
  if (isBinary)
    for (const Rank &each : Ranks)
      if (lexeme.is(each.text))
        return each.rank;
  return 0;
}

/// Whether a space stands between a piece and the one before it.
bool needsSpace(const LayoutPiece &before, const LayoutPiece &piece) {
  auto isTight = [](const Lexeme &lexeme) {
    return lexeme.is(".") || lexeme.is("..") || lexeme.is("..=");
  };
  if (before.isPrefix || before.lexeme.is("@") || isTight(before.lexeme) || isTight(piece.lexeme))
    return false;
  if (piece.lexeme.is(":") || piece.lexeme.is(",") || piece.lexeme.is(";"))
    return false;
  if (piece.lexeme.is("("))
    return !before.isOperand && !before.lexeme.is("print");
  return !piece.lexeme.is("[") || !before.isOperand;
}

/// Finds what a word is from the one before it, and the space between.
void classify(LayoutPiece &piece, const LayoutPiece *before) {
  bool afterOperand = before && before->isOperand;
  switch (piece.lexeme.kind) {
  case LexemeKind::SoftKeyword:
    piece.isOperand = !afterOperand; // else it is a keyword: two operands never touch
    break;
  case LexemeKind::Keyword:
    piece.isOperand = piece.lexeme.is("true") || piece.lexeme.is("false");
    break;
  case LexemeKind::Symbol:
    piece.isPrefix = !afterOperand && (piece.lexeme.is("-") || piece.lexeme.is("+"));
    break;
  default:
    piece.isOperand =
        piece.lexeme.kind == LexemeKind::Name || piece.lexeme.kind == LexemeKind::Number ||
        piece.lexeme.kind == LexemeKind::String || piece.lexeme.kind == LexemeKind::Open;
  }
  piece.rank = rankOf(piece.lexeme, afterOperand);
  piece.hasSpace = before && needsSpace(*before, piece);
}

//===- Widths --------------------------------------------------------------===//

size_t widthOf(const LayoutPieces &pieces) {
  size_t width = 0;
  for (const LayoutPiece &piece : pieces)
    width = addWidths(width, piece.width);
  return width;
}

bool hasComments(const LayoutPieces &pieces) {
  return std::any_of(pieces.begin(), pieces.end(), [](const LayoutPiece &piece) {
    return !piece.commentAfter.empty() || !piece.commentsBefore.empty();
  });
}

size_t widthOf(const LayoutBody &body) {
  if (body.lines.empty() && body.commentAfterOpener.empty())
    return 3; // { }
  if (!body.isOneLine || !body.commentAfterOpener.empty())
    return NeverFits;
  size_t width = 2; // braces; a space or "; " before each statement, a space behind the last
  for (const LayoutLine &line : body.lines)
    width = addWidths(width, line.comment.empty() ? widthOf(line.pieces) + 2 : NeverFits);
  return width;
}

size_t widthOf(const LayoutGroup &group) {
  if (group.mustBreak())
    return NeverFits;
  size_t width = 2 + group.needsComma;
  for (const LayoutElement &element : group.elements)
    width = addWidths(width, element.width + (&element == &group.elements.front() ? 0 : 2));
  return width;
}

void measure(LayoutPiece &piece) {
  size_t inner = piece.group  ? widthOf(*piece.group)
                 : piece.body ? widthOf(*piece.body)
                              : countCodePoints(piece.lexeme.text);
  piece.width = addWidths(inner, piece.hasSpace);
}

bool canBreak(const LayoutGroup &group) {
  if (group.mustBreak())
    return true;
  if (group.elements.empty() || widthOf(group) < MinBreakWidth)
    return false;
  const LayoutPieces &first = group.elements[0].pieces;
  return group.elements.size() > 1 || std::any_of(first.begin(), first.end(), [](auto &piece) {
           return piece.canBreak() || piece.rank != 0 || piece.width == NeverFits;
         });
}

//===- Brackets ------------------------------------------------------------===//

/// A comment between the brackets of `group`. Behind an element or its comma it belongs to that
/// line, else to the word that follows.
void TreeBuilder::commentInGroup(LayoutGroup &group, bool isOwnLine) {
  group.hasComments = true;
  LayoutElement &current = group.elements.back();
  if (isOwnLine)
    (current.pieces.empty() ? current.commentsBefore : waiting_).push_back(takeComment());
  else if (!current.pieces.empty())
    current.pieces.back().commentAfter = takeComment();
  else if (group.elements.size() == 1)
    group.commentAfterOpener = takeComment();
  else if (auto &before = group.elements.rbegin()[1];
           before.commentAfter.empty() && current.commentsBefore.empty())
    before.commentAfter = takeComment();
  else
    current.commentsBefore.push_back(takeComment()); // they keep their order
}

/// At a comma or the closing bracket. Returns false if the element is empty: there was a comma
/// before the closing bracket.
bool TreeBuilder::endElement(LayoutGroup &group) {
  LayoutElement &element = group.elements.back();
  // It goes behind the comma.
  if (!element.pieces.empty())
    std::swap(element.commentAfter, element.pieces.back().commentAfter);
  element.width = hasComments(element.pieces) ? NeverFits : widthOf(element.pieces);
  return !element.pieces.empty();
}

void TreeBuilder::group(LayoutPiece &opener, const LayoutPiece *before) {
  opener.group = std::make_unique<LayoutGroup>();
  LayoutGroup &group = *opener.group;
  std::vector<std::string_view> outerWaiting;
  std::swap(waiting_, outerWaiting);
  group.elements.emplace_back();
  sawLineBreak_ = false;
  size_t commas = 0;
  while (!isAtEnd() && peek().kind != LexemeKind::Close) {
    if (isNext(LexemeKind::Newline)) {
      takeLineBreaks();
    } else if (peek().isComment()) {
      commentInGroup(group, sawLineBreak_);
    } else if (isNext(LexemeKind::Comma)) {
      ++at_;
      ++commas;
      endElement(group);
      group.elements.emplace_back().commentsBefore = std::move(waiting_);
      waiting_.clear();
      sawLineBreak_ = false;
    } else {
      LayoutElement &element = group.elements.back();
      if (element.pieces.empty())
        element.hasLineBreak = sawLineBreak_;
      piece(element.pieces);
      sawLineBreak_ = false;
    }
  }
  if (!endElement(group)) {
    group.commentsAtEnd = std::move(group.elements.back().commentsBefore);
    group.isOpen = commas > 0 && sawLineBreak_;
    group.elements.pop_back();
  }
  group.commentsAtEnd.insert(group.commentsAtEnd.end(), waiting_.begin(), waiting_.end());
  waiting_ = std::move(outerWaiting);
  group.closer = opener.lexeme.is("(") ? ")" : "]";
  if (!isAtEnd())
    ++at_;
  bool isCall = before && before->isOperand;
  bool isTuple = opener.lexeme.is("(") && !isCall && group.elements.size() == 1;
  group.needsComma = isTuple && commas > 0;
  bool isLoop = group.elements.size() == 1 &&
                std::any_of(group.elements[0].pieces.begin(), group.elements[0].pieces.end(),
                            [](const LayoutPiece &piece) { return piece.lexeme.is("for"); });
  group.takesComma = !group.elements.empty() && !isLoop && (!isTuple || group.needsComma);
  group.canBreak = canBreak(group);
}

//===- Statements ----------------------------------------------------------===//

/// Takes the next word, with what is between its brackets.
void TreeBuilder::piece(LayoutPieces &pieces) {
  LayoutPiece piece;
  piece.lexeme = lexemes_[at_++];
  bool isFirst = pieces.empty() || afterHint_ != AfterHint::No;
  const LayoutPiece *before = isFirst ? nullptr : &pieces.back();
  classify(piece, before);
  piece.hasSpace |= afterHint_ == AfterHint::Space;
  piece.hasLineBreak = afterHint_ == AfterHint::LineBreak;
  afterHint_ = AfterHint::No;
  piece.commentsBefore = std::move(waiting_);
  waiting_.clear();
  if (piece.lexeme.is("{"))
    piece.body = std::make_unique<LayoutBody>(body(/*isFile=*/false));
  else if (piece.lexeme.kind == LexemeKind::Open)
    group(piece, before);
  measure(piece);
  pieces.push_back(std::move(piece));
}

/// Hints before a statement. What follows stands on the same line or the next, as it was written.
void TreeBuilder::hints(LayoutPieces &pieces) {
  while (isNext("@")) {
    piece(pieces);
    piece(pieces);
    if (isNext("("))
      piece(pieces);
    if (!isAtEnd() && peek().isComment())
      pieces.back().commentAfter = takeComment();
    sawLineBreak_ = false;
    takeLineBreaks();
    afterHint_ = sawLineBreak_ ? AfterHint::LineBreak : AfterHint::Space;
  }
}

/// After a body: an `else` continues the statement, whatever lines are between.
void TreeBuilder::takeElse(LayoutPieces &pieces) {
  size_t ahead = at_;
  while (ahead < lexemes_.size() &&
         (lexemes_[ahead].kind == LexemeKind::Newline || lexemes_[ahead].isComment()))
    ++ahead;
  if (ahead == lexemes_.size() || !lexemes_[ahead].is("else"))
    return;
  bool hasComments = false;
  for (bool isOwnLine = false; at_ != ahead;) {
    if (!peek().isComment()) {
      isOwnLine = true;
      ++at_;
      continue;
    }
    hasComments = true;
    if (isOwnLine)
      waiting_.push_back(takeComment());
    else
      pieces.back().commentAfter = takeComment();
  }
  piece(pieces);
  pieces.back().hasLineBreak = hasComments;
}

LayoutPieces TreeBuilder::statement() {
  LayoutPieces pieces;
  hints(pieces);
  while (!isAtEnd() && peek().kind != LexemeKind::Newline && peek().kind != LexemeKind::Semicolon &&
         peek().kind != LexemeKind::Close && !peek().isComment()) {
    piece(pieces);
    if (pieces.back().body)
      takeElse(pieces);
  }
  return pieces;
}

LayoutBody TreeBuilder::body(bool isFile) {
  LayoutBody body;
  std::vector<std::string_view> outerWaiting;
  std::swap(waiting_, outerWaiting);
  size_t lineBreaks = 0;
  body.isOneLine = !isFile;
  while (!isAtEnd() && peek().kind != LexemeKind::Close) {
    bool hasBlank = lineBreaks > 1 && !body.lines.empty();
    if (isNext(LexemeKind::Newline)) {
      ++lineBreaks;
      ++at_;
      body.isOneLine = false;
    } else if (isNext(LexemeKind::Semicolon)) {
      ++at_;
    } else if (!peek().isComment()) {
      body.lines.push_back({.pieces = statement(), .comment = {}, .hasBlankBefore = hasBlank});
      lineBreaks = 0;
    } else if (lineBreaks == 0 && !body.lines.empty()) {
      body.lines.back().comment = takeComment();
    } else if (lineBreaks == 0 && !isFile) {
      body.commentAfterOpener = takeComment();
    } else {
      body.lines.push_back({.pieces = {}, .comment = takeComment(), .hasBlankBefore = hasBlank});
      lineBreaks = 0;
    }
  }
  if (!isAtEnd())
    ++at_;
  waiting_ = std::move(outerWaiting);
  return body;
}

} // namespace

LayoutBody buildLayout(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF"))
    text.remove_prefix(3);
  return TreeBuilder(text).body(/*isFile=*/true);
}

} // namespace pdg
