// Between lexer and parser: line ends, comments, brackets, and slips that need no parser to be
// seen. SPDX-License-Identifier: Apache-2.0
#include "frontend/parse_internal.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace pdg {

using antlr4::CommonToken;
using antlr4::Token;
using P = PdgParser;

bool isSynthetic(const Token &token) {
  return token.getType() != Token::EOF && token.getStopIndex() + 1 == token.getStartIndex();
}

namespace {

bool isOpener(size_t type) { return type == P::LPAREN || type == P::LBRACKET || type == P::LBRACE; }
bool isCloser(size_t type) { return type == P::RPAREN || type == P::RBRACKET || type == P::RBRACE; }
size_t closerOf(size_t opener) {
  return opener == P::LPAREN ? P::RPAREN : opener == P::LBRACKET ? P::RBRACKET : P::RBRACE;
}
const char *textOf(size_t bracket) {
  return bracket == P::LPAREN     ? "("
         : bracket == P::RPAREN   ? ")"
         : bracket == P::LBRACKET ? "["
         : bracket == P::RBRACKET ? "]"
         : bracket == P::LBRACE   ? "{"
                                  : "}";
}

/// Words that start a statement and can never stand inside parentheses.
bool startsOnlyStatements(size_t type) {
  return (type >= P::IMPORT && type <= P::DATA) || (type >= P::WHILE && type <= P::ASSERT);
}

/// True if an operator after a token of this type is binary.
bool endsOperand(size_t type) {
  return isCloser(type) || type == P::ID || type == P::INT || type == P::FLOAT ||
         type == P::STRING || type == P::TRUE || type == P::FALSE ||
         (type >= P::AS && type <= P::WITH);
}

bool isBinary(size_t type) { return type >= P::EQ && type <= P::MINUS && type != P::POWER; }

/// An open bracket and what nests directly in it.
struct Level {
  Token *opener = nullptr; // null for the top level
  size_t indent = 0;       // of the line of the opener
  size_t tight = 0;        // signs and powers that may nest in each other
  size_t loose = 0;        // `not` and `if`, which take in everything to their right
  size_t depth() const { return 1 + tight + loose; }
};

class TokenPreparer {
public:
  TokenPreparer(const TextMap &map, DiagnosticEngine &diagnostics)
      : map_(map), diagnostics_(diagnostics) {
    levels_.emplace_back();
  }

  PreparedTokens run(TokenList tokens) {
    for (auto &token : tokens) {
      if (out_.isTooDeep)
        break;
      take(std::move(token));
    }
    finish();
    return std::move(out_);
  }

private:
  void take(std::unique_ptr<Token> token);
  void takeNewline(std::unique_ptr<Token> token);
  void takeCloser(std::unique_ptr<Token> token);
  void takeForeign(std::unique_ptr<Token> token);
  void takeStray(const Token &token);
  void takeElif(std::unique_ptr<Token> token);
  void countNesting(const Token &token);
  void watchCondition(CommonToken &token);
  void watchHeader(size_t type);
  void pullBrace(const Token &brace);
  void closeDownTo(size_t size, const Token *where);
  void closeTop();
  void closeAll();
  void putDocs(const Token &token);
  void finish();

  void put(std::unique_ptr<Token> token) {
    if (hasDropped_)
      out_.afterDropped.insert(token->getStartIndex());
    hasDropped_ = false;
    out_.tokens.push_back(std::move(token));
  }
  size_t lastType() const {
    return out_.tokens.empty() ? size_t{P::NEWLINE} : out_.tokens.back()->getType();
  }
  Level &top() { return levels_.back(); }
  bool isInBrackets() const {
    return levels_.back().opener && levels_.back().opener->getType() != P::LBRACE;
  }
  /// The number of levels up to and including the innermost `{`, or the top level.
  size_t levelsToBrace() const {
    size_t size = levels_.size();
    while (size > 1 && levels_[size - 1].opener->getType() != P::LBRACE)
      --size;
    return size;
  }

  const TextMap &map_;
  DiagnosticEngine &diagnostics_;
  PreparedTokens out_;
  std::vector<Level> levels_;
  Token *suspect_ = nullptr; // a `{` whose `}` seems to be missing, judged by the indentation
  std::string doc_;
  size_t lineIndent_ = 0;
  size_t conditionLevel_ = 0; // number of levels around a condition; 0 outside conditions
  size_t headerLevel_ = 0;    // number of levels around a header that waits for its `{`
  size_t missingBraces_ = 0;  // headers that never got one
  size_t strayEnd_ = 0;
  bool hasDropped_ = false; // since the last token that was put
  bool isFirstInLine_ = true;
  bool isBlankLine_ = true;
  bool lacksBrace_ = false; // the last statement is a header that ended without `{`
};

void TokenPreparer::take(std::unique_ptr<Token> token) {
  size_t type = token->getType();
  if (type == P::NEWLINE)
    return takeNewline(std::move(token));
  isBlankLine_ = false;
  if (type == P::DOC_COMMENT) {
    std::string text = token->getText().substr(2);
    absl::StripTrailingAsciiWhitespace(&text);
    absl::StrAppend(&doc_, text.starts_with(' ') ? text.substr(1) : text, "\n");
  }
  if (token->getChannel() != Token::DEFAULT_CHANNEL)
    return;
  if (isFirstInLine_) {
    lineIndent_ = token->getCharPositionInLine();
    bool isFor = type == P::FOR && isInBrackets() && top().opener->getType() == P::LPAREN;
    if (isInBrackets() && (startsOnlyStatements(type) || isFor)) {
      closeDownTo(levelsToBrace(), token.get());
      auto end = std::make_unique<CommonToken>(P::NEWLINE);
      end->setStartIndex(token->getStartIndex());
      end->setStopIndex(token->getStartIndex() - 1);
      end->setText("\n");
      put(std::move(end));
    }
  }
  putDocs(*token);
  if (type == P::STRAY)
    return takeStray(*token);
  if (type == P::FOREIGN_OPERATOR || type == P::BAD_NUMBER || type == P::BAD_STRING ||
      type == P::SINGLE_QUOTED)
    return takeForeign(std::move(token));
  if (type == P::ID && lastType() == P::RBRACE &&
      (token->getText() == "elif" || token->getText() == "elseif"))
    return takeElif(std::move(token));
  watchCondition(static_cast<CommonToken &>(*token));
  if (type == P::LBRACE && lacksBrace_)
    pullBrace(*token);
  lacksBrace_ = false;
  watchHeader(type);
  if (type == P::ELSE)
    while (lastType() == P::NEWLINE && !out_.tokens.empty())
      out_.tokens.pop_back();
  countNesting(*token);
  if (isCloser(type)) {
    takeCloser(std::move(token));
  } else {
    if (isOpener(type))
      levels_.push_back({.opener = token.get(), .indent = lineIndent_});
    put(std::move(token));
  }
  isFirstInLine_ = false;
}

void TokenPreparer::takeNewline(std::unique_ptr<Token> token) {
  if (isBlankLine_)
    doc_.clear();
  isBlankLine_ = isFirstInLine_ = true;
  if (isInBrackets())
    return;
  conditionLevel_ = 0;
  watchHeader(P::NEWLINE);
  top().tight = top().loose = 0;
  put(std::move(token));
}

void TokenPreparer::putDocs(const Token &token) {
  if (doc_.empty())
    return;
  out_.docs[token.getStartIndex()] = std::move(doc_);
  doc_.clear();
}

void TokenPreparer::takeCloser(std::unique_ptr<Token> token) {
  size_t type = token->getType();
  // The innermost open bracket of this kind; a parenthesis does not reach out of a body.
  size_t size = levels_.size();
  while (size > 1 && closerOf(levels_[size - 1].opener->getType()) != type &&
         (type == P::RBRACE || levels_[size - 1].opener->getType() != P::LBRACE))
    --size;
  if (size == 1 || closerOf(levels_[size - 1].opener->getType()) != type) {
    if (type == P::RBRACE && missingBraces_ > 0) {
      --missingBraces_; // the parser reports the `{` that is missing
      return;
    }
    diagnostics_
        .report(DiagCode::PD0024, map_.span(*token),
                absl::StrCat("found '", textOf(type), "', but no bracket is open that it closes"))
        .withLabel("closes nothing");
    hasDropped_ = true;
    return;
  }
  closeDownTo(size, token.get());
  if (type == P::RBRACE && isFirstInLine_ && lineIndent_ < top().indent && !suspect_)
    suspect_ = top().opener;
  levels_.pop_back();
  put(std::move(token));
}

void TokenPreparer::closeTop() {
  size_t type = closerOf(top().opener->getType());
  size_t at = out_.tokens.back()->getStopIndex() + 1;
  auto closer = std::make_unique<CommonToken>(type);
  closer->setStartIndex(at);
  closer->setStopIndex(at - 1);
  closer->setText(textOf(type));
  levels_.pop_back();
  put(std::move(closer));
}

/// Closes what is open until `size` levels are left, and reports it, seen from the token `where`.
void TokenPreparer::closeDownTo(size_t size, const Token *where) {
  while (levels_.size() > size) {
    size_t type = top().opener->getType();
    Diagnostic &error = diagnostics_.report(
        DiagCode::PD0023, map_.span(*top().opener),
        absl::StrCat("expected '", textOf(closerOf(type)), "' to close this '", textOf(type), "'"));
    error.withLabel("never closed");
    if (where)
      error.withSecondary(map_.span(*where), isCloser(where->getType())
                                                 ? "this closes a bracket further out"
                                                 : "a new statement starts here");
    closeTop();
  }
}

void TokenPreparer::takeForeign(std::unique_ptr<Token> token) {
  auto &common = static_cast<CommonToken &>(*token);
  std::string text = token->getText();
  Span span = map_.span(*token);
  switch (token->getType()) {
  case P::BAD_NUMBER:
    diagnostics_.report(DiagCode::PD0007, span, absl::StrCat("'", text, "' is not a number"))
        .withLabel("expected digits, as in 12, 0.5 or 1e-3")
        .withHint("a name cannot start with a digit");
    common.setType(P::INT);
    common.setText("0");
    break;
  case P::BAD_STRING:
    diagnostics_.report(DiagCode::PD0005, span, "expected '\"' before the end of the line")
        .withLabel("this string is not closed")
        .withHint("a line end inside a string is written \\n");
    common.setType(P::STRING);
    break;
  case P::SINGLE_QUOTED:
    diagnostics_.report(DiagCode::PD0004, span, "expected '\"' around a string, found '''")
        .withHint("strings are written between double quotes");
    common.setType(P::STRING);
    break;
  default: {
    struct Repair {
      const char *found;
      size_t type;
      const char *expected;
    };
    static constexpr Repair Repairs[] = {
        {"&&", P::AND, "and"}, {"||", P::OR, "or"}, {"!", P::NOT, "not"}, {"^", P::POWER, "**"}};
    const char *expected = nullptr;
    std::string target = lastType() == P::ID ? out_.tokens.back()->getText() : "x";
    common.setType(P::ASSIGN);
    for (const Repair &repair : Repairs)
      if (text == repair.found) {
        common.setType(repair.type);
        expected = repair.expected;
      }
    Diagnostic &error = diagnostics_.report(
        DiagCode::PD0027, span,
        absl::StrCat("expected '", expected ? expected : "=", "', found '", text, "'"));
    if (expected)
      error.withHint(absl::StrCat("this operator is written '", expected, "'"));
    else
      error.withHint(absl::StrCat("write ", target, " = ", target, " ", text.substr(0, 1), " ..."));
  }
  }
  countNesting(common);
  isFirstInLine_ = false;
  put(std::move(token));
}

void TokenPreparer::takeElif(std::unique_ptr<Token> token) {
  diagnostics_
      .report(DiagCode::PD0027, map_.span(*token),
              absl::StrCat("expected 'else if', found '", token->getText(), "'"))
      .withHint("a further condition is written 'else if'");
  auto second = std::make_unique<CommonToken>(token.get());
  static_cast<CommonToken &>(*token).setType(P::ELSE);
  second->setType(P::IF);
  isFirstInLine_ = false;
  put(std::move(token));
  conditionLevel_ = levels_.size();
  put(std::move(second));
}

void TokenPreparer::takeStray(const Token &token) {
  hasDropped_ = true;
  bool continues = strayEnd_ != 0 && token.getStartIndex() == strayEnd_;
  strayEnd_ = token.getStopIndex() + 1;
  if (continues)
    return;
  std::string text = token.getText();
  auto first = static_cast<unsigned char>(text[0]);
  bool isShown = first >= 0x20 && first != 0x7F;
  Diagnostic &error =
      diagnostics_.report(DiagCode::PD0004, map_.span(token),
                          isShown ? absl::StrCat("the character '", text, "' means nothing here")
                                  : absl::StrCat("a control character (code ", unsigned{first},
                                                 ") means nothing here"));
  if (text == "“" || text == "”" || text == "„")
    error.withHint("strings are written between plain double quotes, \"...\"");
  else if (text == "?")
    error.withHint("a choice is written if c { a } else { b }");
  else if (first >= 0x80)
    error.withHint("names consist of the letters a to z, A to Z, digits and '_'");
}

/// Reports `=` in a condition and goes on as if it were `==`.
void TokenPreparer::watchCondition(CommonToken &token) {
  switch (token.getType()) {
  case P::IF:
  case P::WHILE:
  case P::ASSERT:
    conditionLevel_ = levels_.size();
    break;
  case P::LBRACE:
  case P::COMMA:
  case P::SEMICOLON:
    if (conditionLevel_ == levels_.size())
      conditionLevel_ = 0;
    break;
  case P::ASSIGN:
    if (conditionLevel_ != levels_.size())
      break;
    diagnostics_
        .report(DiagCode::PD0026, map_.span(token), "expected '==' in a condition, found '='")
        .withLabel("assigns")
        .withHint("two values are compared with '=='");
    token.setType(P::EQ);
    break;
  default:
    break;
  }
}

/// Counts headers without a body, so that the `}` of such a body is not a second error.
void TokenPreparer::watchHeader(size_t type) {
  if (isInBrackets())
    return;
  if (type == P::FOR || type == P::WHILE || type == P::IF || type == P::ELSE || type == P::BLOCK) {
    headerLevel_ = levels_.size();
  } else if (headerLevel_ == levels_.size()) {
    bool isMissing = type == P::NEWLINE || type == P::SEMICOLON;
    if (isMissing || type == P::LBRACE)
      headerLevel_ = 0;
    missingBraces_ += isMissing;
    lacksBrace_ = type == P::NEWLINE;
  }
}

/// Takes the `{` of a body from a line of its own to the line of its header.
void TokenPreparer::pullBrace(const Token &brace) {
  diagnostics_
      .report(DiagCode::PD0020, map_.span(brace),
              "expected '{' on the line before, found it on a line of its own")
      .withHint("a line end would end the statement; write for i in 0..3 {");
  while (lastType() == P::NEWLINE && !out_.tokens.empty())
    out_.tokens.pop_back();
  --missingBraces_;
}

/// Bounds how deep the parser, which is recursive, can go.
void TokenPreparer::countNesting(const Token &token) {
  size_t type = token.getType();
  bool isPrefix = !endsOperand(lastType());
  Level &level = top();
  if (type == P::COMMA || type == P::SEMICOLON || type == P::AND || type == P::OR)
    level.tight = level.loose = 0;
  else if (type == P::NOT || (type == P::IF && lastType() != P::ELSE))
    ++level.loose;
  else if (type == P::POWER || ((type == P::MINUS || type == P::PLUS) && isPrefix))
    ++level.tight;
  else if (isBinary(type) && level.loose == 0)
    level.tight = 0;
  else if (!isOpener(type))
    return;
  size_t depth = 0;
  for (const Level &each : levels_)
    depth += each.depth();
  if (depth <= MaxNesting)
    return;
  out_.isTooDeep = true;
  diagnostics_
      .report(DiagCode::PD0009, map_.span(token),
              absl::StrCat("expected at most ", MaxNesting, " levels of nesting"))
      .withLabel("nested too deeply")
      .withHint("give names to parts of the expression with 'let', or move a part into a block");
}

void TokenPreparer::finish() {
  if (out_.isTooDeep)
    return;
  closeAll();
  size_t end = out_.tokens.empty() ? 0 : out_.tokens.back()->getStopIndex() + 1;
  auto eof = std::make_unique<CommonToken>(Token::EOF);
  eof->setStartIndex(end);
  eof->setStopIndex(end - 1);
  put(std::move(eof));
}

void TokenPreparer::closeAll() {
  out_.isIncomplete = levels_.size() > 1;
  // Unclosed bodies are one mistake, at the place that the indentation tells, if it does.
  while (levels_.size() > 1) {
    if (isInBrackets()) {
      closeDownTo(levels_.size() - 1, nullptr);
      continue;
    }
    Token *opener = suspect_ ? suspect_ : top().opener;
    diagnostics_.report(DiagCode::PD0023, map_.span(*opener), "expected '}' to close this '{'")
        .withLabel("never closed");
    while (levels_.size() > 1)
      closeTop();
  }
}

} // namespace

PreparedTokens prepareTokens(TokenList tokens, const TextMap &map, DiagnosticEngine &diagnostics) {
  return TokenPreparer(map, diagnostics).run(std::move(tokens));
}

} // namespace pdg
