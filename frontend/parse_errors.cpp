// Words syntax errors by what was expected and found, and skips what cannot be understood.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/foreign.h"
#include "frontend/names.h"
#include "frontend/parse_internal.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace pdg {

using antlr4::Token;
using antlr4::misc::IntervalSet;
using P = PdgParser;

namespace {

bool isKeyword(size_t type) { return type >= P::IMPORT && type <= P::FALSE; }

bool startsExpr(size_t type) {
  switch (type) {
  case P::INT:
  case P::FLOAT:
  case P::TRUE:
  case P::FALSE:
  case P::STRING:
  case P::ID:
  case P::LPAREN:
  case P::LBRACKET:
  case P::IF:
  case P::MINUS:
  case P::PLUS:
  case P::NOT:
    return true;
  default:
    return type >= P::AS && type <= P::WITH;
  }
}

std::string quoteType(antlr4::Parser &parser, size_t type) {
  return parser.getVocabulary().getLiteralName(type); // already in quotes
}

std::string describe(const Token &token) {
  std::string text = token.getText();
  switch (token.getType()) {
  case Token::EOF:
    return "the end of the text";
  case P::NEWLINE:
    return "the end of the line";
  case P::STRING:
    return "a string";
  case P::INT:
  case P::FLOAT:
    return absl::StrCat("the number ", text);
  case P::ID:
    return absl::StrCat("the name '", text, "'");
  default:
    return absl::StrCat(isKeyword(token.getType()) ? "the keyword '" : "'", text, "'");
  }
}

/// What the parser could have gone on with, in words.
struct Expectation {
  bool isStatement = false;
  bool isExpr = false;
  bool isName = false;
  bool isType = false;
  bool isEnd = false;
  std::vector<std::string> words;
  std::string text() const {
    if (words.empty())
      return "something else";
    if (words.size() == 1)
      return words.front();
    std::vector<std::string> front(words.begin(), words.end() - 1);
    return absl::StrCat(absl::StrJoin(front, ", "), " or ", words.back());
  }
};

Expectation expectationOf(const IntervalSet &set, antlr4::Parser &parser) {
  auto has = [&](size_t type) { return set.contains(type); };
  Expectation result;
  result.isStatement = has(P::WHILE) && has(P::LET);
  result.isExpr = has(P::INT) && has(P::LPAREN);
  result.isEnd = has(P::NEWLINE) && !result.isStatement;
  result.isType = !result.isExpr && has(P::ID) && has(P::PARAM);
  result.isName = !result.isExpr && !result.isType && has(P::ID);
  if (result.isStatement)
    result.words.push_back("a statement");
  else if (result.isExpr)
    result.words.push_back("an expression");
  else if (result.isType)
    result.words.push_back("a type");
  else if (result.isName)
    result.words.push_back("a name");
  if (result.isEnd)
    result.words.push_back("the end of the statement");
  if (result.isStatement)
    return result;
  bool isNameLike = result.isExpr || result.isType || result.isName;
  for (size_t type = P::IMPORT; type <= P::MINUS; ++type) {
    bool isCovered = (result.isExpr && startsExpr(type)) ||
                     (isNameLike && type >= P::AS && type <= P::WITH) ||
                     (result.isType && (type == P::BLOCK || type == P::PARAM)) ||
                     (result.isEnd && (type == P::SEMICOLON || type == P::RBRACE));
    if (has(type) && !isCovered)
      result.words.push_back(quoteType(parser, type));
  }
  if (has(P::STRING) && !result.isExpr)
    result.words.push_back("a string");
  if (result.words.empty() && has(Token::EOF))
    result.words.push_back("the end of the text");
  return result;
}

/// The rule that stands around the error.
bool isInside(const antlr4::ParserRuleContext *context, size_t rule) {
  for (const antlr4::tree::ParseTree *at = context; at; at = at->parent) {
    auto *each = static_cast<const antlr4::ParserRuleContext *>(at);
    if (each->getRuleIndex() == rule)
      return true;
    if (each->getRuleIndex() == P::RuleStatement)
      return false;
  }
  return false;
}

DiagCode chooseCode(const Expectation &expected, const Token &found, const Token *previous) {
  size_t type = found.getType();
  if ((expected.isName || expected.isType || expected.isExpr) && isKeyword(type))
    return DiagCode::PD0025;
  // `data = 3`: the keyword before was meant as a name, unless it declares any kind of name.
  bool isUsedAsName = previous && isKeyword(previous->getType()) && expected.isName &&
                      previous->getType() != P::LET && previous->getType() != P::VAR &&
                      previous->getType() != P::CONST;
  if (isUsedAsName && (type == P::ASSIGN || type == P::DOT || type == P::COLON))
    return DiagCode::PD0025;
  if (type == P::RANGE || type == P::RANGE_INCLUSIVE)
    return DiagCode::PD0032;
  if (expected.isStatement)
    return DiagCode::PD0020;
  if (expected.isExpr)
    return DiagCode::PD0021;
  return expected.isEnd ? DiagCode::PD0022 : DiagCode::PD0020;
}

/// True for a token behind which an operator is binary.
bool endsOperand(const Token *token) {
  if (!token)
    return false;
  size_t type = token->getType();
  return type == P::RPAREN || type == P::RBRACKET || type == P::RBRACE || type == P::INT ||
         type == P::FLOAT || type == P::STRING || type == P::ID || type == P::TRUE ||
         type == P::FALSE;
}

bool contains(const std::vector<std::string> &words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// True for a string that ends inside of `{ }`.
bool opensBrace(std::string_view text) {
  size_t open = text.rfind('{'), close = text.rfind('}');
  return open != text.npos && (close == text.npos || close < open);
}

/// The place of a syntax error.
struct Mistake {
  DiagCode code;
  const Expectation &expected;
  const Token &found;
  const Token *previous;
  const Token *beforePrevious;
  const antlr4::ParserRuleContext *context;
};

/// What to write instead, if this is how another language writes it.
std::string hintForForeignSyntax(const Mistake &at) {
  size_t type = at.found.getType();
  size_t previous = at.previous ? at.previous->getType() : size_t{P::NEWLINE};
  std::string word = previous == P::ID ? at.previous->getText() : "";
  if (const char *ours = hintForForeignKeyword(word); ours && at.code != DiagCode::PD0021)
    return absl::StrCat("'", word, "' is no word of the language; write ", ours);
  if (type == P::AT && endsOperand(at.previous))
    return "the product of matrices is written matmul(a, b)";
  if (type == P::IF && endsOperand(at.previous))
    return "a choice is written if c { a } else { b }";
  if (type == P::ARROW && endsOperand(at.previous))
    return "a function is a block with a name: block f(x) { return x * 2 }";
  if (type == P::ASSIGN && previous == P::COLON)
    return "a value is declared with let: let x = 3";
  if (previous == P::DOT && at.beforePrevious && at.beforePrevious->getType() == P::INT)
    return "a number has digits on both sides of its point: 1.0, 0.5";
  if (previous == P::PLUS && at.beforePrevious && at.beforePrevious->getType() == P::PLUS)
    return "write x = x + 1";
  if (previous == P::STRING && opensBrace(at.previous->getText()))
    return "what stands in braces contains no quote signs; give the text a name before: let t = "
           "...";
  if (type == P::DOT && at.beforePrevious && at.beforePrevious->getType() == P::IMPORT)
    return "a module of the library has a plain name: import nn, optim";
  if (type == P::STRING && previous == P::ID && word.size() == 1)
    return "a text needs no letter before it; print(\"{x}\") shows values";
  if (at.code == DiagCode::PD0021 && type == P::LBRACE)
    return "a value cannot start with '{'; a list is written [a, b]";
  if (at.expected.isStatement && (type == P::FLOOR_DIV || type == P::SLASH))
    return "a comment starts with #";
  if (previous == P::RANGE && type == P::DOT)
    return "there is no '...'; an axis that stays whole is written ':'";
  // x[0:2], x[:2], x[:-1]: the colon itself is an index, so the error is at it or behind it.
  if (dynamic_cast<const P::IndexExprContext *>(at.context) &&
      (type == P::COLON || previous == P::COLON))
    return "a part of an axis is written a..b, ..b or a.., as in x[0..2]";
  if (isInside(at.context, P::RuleMinimize) && contains(at.expected.words, "'with'"))
    return "a step needs an optimizer: minimize loss with optim.sgd(lr: 0.1)";
  if (isInside(at.context, P::RuleUpdate) && contains(at.expected.words, "'by'"))
    return "an update needs its direction: update p by gradient with optim.sgd(lr: 0.1)";
  if (type == P::OVER || type == P::VIA || type == P::WITH)
    return "the order is: minimize loss over parameters via transform with optimizer(...)";
  if (type == P::COLON && at.beforePrevious && at.beforePrevious->getType() == P::IN)
    return "a range is written 0..n";
  if (type == P::COLON && contains(at.expected.words, "'{'"))
    return "the statements that belong to it stand between '{' and '}'";
  return "";
}

/// Words that start statements.
const std::vector<std::string> &statementWords() {
  static const std::vector<std::string> Words = {
      "import", "block",    "use",   "param",    "state",  "let",   "var",
      "const",  "input",    "data",  "for",      "while",  "break", "else",
      "return", "continue", "print", "minimize", "update", "eval",  "assert"};
  return Words;
}

/// What to do about it, if a likely reason is known.
std::string chooseHint(const Mistake &at) {
  const auto &[code, expected, found, previous, beforePrevious, context] = at;
  size_t type = found.getType();
  if (type == P::EVAL && previous && previous->getType() == P::DOT)
    return "whether a model is trained is an argument of it: net(x, training: false)";
  if (code == DiagCode::PD0025)
    return absl::StrCat("'", isKeyword(type) ? found.getText() : previous->getText(),
                        "' is a word of the language and cannot be a name; choose another one");
  if (code == DiagCode::PD0032)
    return "a range stands after 'in' or inside an index, as in x[0..3]";
  if (type == P::ASSIGN && isInside(context, P::RuleArguments))
    return "a named argument is written name: value";
  if (previous && previous->getType() == P::DOT && type == P::INT)
    return "an element of a list is written list[0]";
  if (std::string hint = hintForForeignSyntax(at); !hint.empty())
    return hint;
  bool isBrace = expected.words.size() == 1 && expected.words.front() == "'{'";
  if (isBrace && type == P::NEWLINE)
    return "the statements that belong to it stand between '{' and '}'";
  if (code == DiagCode::PD0021 && type == P::NEWLINE)
    return "an expression goes on in the next line only inside ( ) or [ ]";
  if (type == P::COMMA && isInside(context, P::RulePrint))
    return "print takes one text or value; several go into one text: print(\"{a} {b}\")";
  if (contains(expected.words, "','") && startsExpr(type))
    return "a comma may be missing";
  if (expected.isEnd && type == P::COMMA && isInside(context, P::RuleStatements))
    return "several values are written in parentheses: (a, b)";
  if (code == DiagCode::PD0022 && previous && previous->getType() == P::ID)
    if (std::string nearest = findNearest(previous->getText(), statementWords()); !nearest.empty())
      return absl::StrCat("did you mean '", nearest, "'?");
  return "";
}

} // namespace

void ErrorStrategy::report(antlr4::Parser *parser, Token *found, const IntervalSet &expectedSet) {
  // What was put in, repaired or dropped has been reported already.
  if (isSynthetic(*found) || diagnostics_.hasMessageAt(map_.span(*found)) ||
      prepared_.afterDropped.contains(found->getStartIndex()))
    return;
  antlr4::TokenStream *tokens = parser->getTokenStream();
  const Token *previous =
      found->getTokenIndex() > 0 ? tokens->get(found->getTokenIndex() - 1) : nullptr;
  const Token *beforePrevious =
      found->getTokenIndex() > 1 ? tokens->get(found->getTokenIndex() - 2) : nullptr;
  Expectation expected = expectationOf(expectedSet, *parser);
  DiagCode code = chooseCode(expected, *found, previous);
  if (code == DiagCode::PD0022 && previous && previous->getType() == P::ID)
    brokenNames_.push_back(previous->getText());
  // What is missing at the end of a line is missing behind its last word, not behind a comment.
  Span span = map_.span(*found);
  bool isEnd = found->getType() == P::NEWLINE || found->getType() == Token::EOF;
  if (isEnd && previous) {
    uint32_t end = map_.span(*previous).end;
    span = {span.file, end, end};
  }
  std::string hint =
      chooseHint({code, expected, *found, previous, beforePrevious, parser->getContext()});
  if (code == DiagCode::PD0020 && !hint.empty() && hint.starts_with("a named"))
    code = DiagCode::PD0031;
  diagnostics_
      .report(code, span, absl::StrCat("expected ", expected.text(), ", found ", describe(*found)))
      .withLabel(absl::StrCat("expected ", expected.text()))
      .withHint(std::move(hint));
}

void ErrorStrategy::reportError(antlr4::Parser *parser, const antlr4::RecognitionException &error) {
  if (inErrorRecoveryMode(parser))
    return;
  beginErrorCondition(parser);
  Token *found = error.getOffendingToken();
  if (auto *choice = dynamic_cast<const antlr4::NoViableAltException *>(&error)) {
    // Without an alternative, the parser looked ahead up to the offending token, while the
    // expectation is known only for where it started.
    if (choice->getStartToken() != found) {
      report(parser, found, IntervalSet());
      return;
    }
  }
  report(parser, found, error.getExpectedTokens());
}

Token *ErrorStrategy::recoverInline(antlr4::Parser *parser) {
  throw antlr4::InputMismatchException(parser);
}

void ErrorStrategy::recover(antlr4::Parser *parser, std::exception_ptr) { skipStatement(parser); }

/// Goes to the end of the statement: behind whole bodies, before the bracket that closes the body
/// around it.
void ErrorStrategy::skipStatement(antlr4::Parser *parser) {
  size_t depth = 0;
  for (;; parser->consume()) {
    Token *token = parser->getCurrentToken();
    size_t type = token->getType();
    bool isEnd = type == P::NEWLINE || type == P::SEMICOLON;
    if (type == Token::EOF || (depth == 0 && (isEnd || type == P::RBRACE)))
      return;
    if (type == P::LBRACE)
      ++depth;
    if (type == P::RBRACE)
      --depth;
    if (type == P::ID)
      brokenNames_.push_back(token->getText());
  }
}

/// Between statements: whatever neither starts nor ends one is reported and skipped.
void ErrorStrategy::syncStatements(antlr4::Parser *parser) {
  const antlr4::atn::ATN &atn = parser->getATN();
  for (;;) {
    size_t type = parser->getTokenStream()->LA(1);
    IntervalSet next = atn.nextTokens(atn.states[parser->getState()]);
    if (next.contains(size_t{type}) || type == P::NEWLINE || type == P::SEMICOLON ||
        type == P::RBRACE || type == Token::EOF)
      return;
    if (!inErrorRecoveryMode(parser)) {
      beginErrorCondition(parser);
      IntervalSet expected = IntervalSet::of(P::NEWLINE);
      if (next.contains(size_t{P::LET})) {
        expected.add(P::LET);
        expected.add(P::WHILE);
      }
      report(parser, parser->getCurrentToken(), expected);
    }
    skipStatement(parser);
  }
}

void ErrorStrategy::sync(antlr4::Parser *parser) {
  if (parser->getContext()->getRuleIndex() == P::RuleStatements)
    return syncStatements(parser);
  if (inErrorRecoveryMode(parser))
    return;
  const antlr4::atn::ATN &atn = parser->getATN();
  IntervalSet next = atn.nextTokens(atn.states[parser->getState()]);
  size_t type = parser->getTokenStream()->LA(1);
  // Between arguments the rule may end, but only before the bracket that closes the call.
  bool mayEnd = next.contains(static_cast<ssize_t>(Token::EPSILON)) &&
                (parser->getContext()->getRuleIndex() != P::RuleArguments || type == P::RPAREN);
  if (!next.contains(type) && !mayEnd)
    throw antlr4::InputMismatchException(parser);
}

} // namespace pdg
