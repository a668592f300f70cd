// A text as the words it is made of, comments and line ends included: for what shows or lays out
// source text. The parser has tokens of its own, without what only people read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace pdg {

enum class LexemeKind : uint8_t {
  Name,
  SoftKeyword, // a keyword where a statement expects it, else a name: over, with, max, ...
  Keyword,
  Number,
  String,
  Open,      // ( [ {
  Close,     // ) ] }
  Comma,     // ,
  Semicolon, // ;
  Symbol,    // operators, : . .. -> @ =
  Newline,
  Comment,
  DocComment,
  Bad, // what no correct text contains
};

/// A word of a text, which must outlive it.
struct Lexeme {
  LexemeKind kind = LexemeKind::Bad;
  std::string_view text;

  bool is(std::string_view spelling) const { return text == spelling && isSpelled(); }
  bool isComment() const { return kind == LexemeKind::Comment || kind == LexemeKind::DocComment; }

private:
  bool isSpelled() const { return kind != LexemeKind::String && !isComment(); }
};

/// Takes a text apart; what is between two words is white space. Requires: `text` is UTF-8.
std::vector<Lexeme> splitLexemes(std::string_view text);

} // namespace pdg
