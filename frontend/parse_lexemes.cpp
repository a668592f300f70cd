// Splits texts with the lexer that the parser uses.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/lexemes.h"

#include "frontend/parse_internal.h"

namespace pdg {

static LexemeKind kindOf(size_t type) {
  using P = PdgParser;
  switch (type) {
  case P::ID:
    return LexemeKind::Name;
  case P::INT:
  case P::FLOAT:
    return LexemeKind::Number;
  case P::STRING:
    return LexemeKind::String;
  case P::LPAREN:
  case P::LBRACKET:
  case P::LBRACE:
    return LexemeKind::Open;
  case P::RPAREN:
  case P::RBRACKET:
  case P::RBRACE:
    return LexemeKind::Close;
  case P::COMMA:
    return LexemeKind::Comma;
  case P::SEMICOLON:
    return LexemeKind::Semicolon;
  case P::NEWLINE:
    return LexemeKind::Newline;
  case P::COMMENT:
    return LexemeKind::Comment;
  case P::DOC_COMMENT:
    return LexemeKind::DocComment;
  default:
    // The groups of tokens in the order of the grammar.
    if (type >= P::IMPORT && type <= P::FALSE)
      return LexemeKind::Keyword;
    if (type >= P::AS && type <= P::WITH)
      return LexemeKind::SoftKeyword;
    return type >= P::COLON && type <= P::MINUS ? LexemeKind::Symbol : LexemeKind::Bad;
  }
}

std::vector<Lexeme> splitLexemes(std::string_view text) {
  std::string copy(text);
  antlr4::ANTLRInputStream input(copy);
  PdgLexer lexer(&input);
  lexer.removeErrorListeners();
  TextMap map(0, text, 0);
  std::vector<Lexeme> lexemes;
  for (const std::unique_ptr<antlr4::Token> &token : lexer.getAllTokens()) {
    Span span = map.span(*token);
    lexemes.push_back({kindOf(token->getType()), text.substr(span.begin, span.end - span.begin)});
  }
  return lexemes;
}

} // namespace pdg
