// What the parts of the parser share: parse.cpp drives ANTLR, parse_tokens.cpp prepares its tokens,
// parse_errors.cpp words its errors, parse_build*.cpp turn its trees into ours. Nothing else in the
// project includes this header, so nothing else sees ANTLR.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "PdgLexer.h"
#include "PdgParser.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "frontend/ast.h"
#include "frontend/diagnostics.h"
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pdg {

/// How deep brackets, bodies and prefix operators may nest in each other.
inline constexpr size_t MaxNesting = 200;

/// How high the tree of one expression may become. A sum of more terms is refused, so that whoever
/// walks the tree may do so recursively.
inline constexpr size_t MaxExprHeight = 1000;

/// ANTLR counts code points from the start of its input; spans count bytes from the start of a
/// file.
class TextMap {
public:
  /// Maps a piece of `file` that starts at byte `base`.
  TextMap(FileId file, std::string_view text, uint32_t base);

  /// The span of the code points [begin, end).
  Span span(size_t begin, size_t end) const { return {file_, byte(begin), byte(end)}; }
  Span span(const antlr4::Token &token) const;
  Span span(const antlr4::ParserRuleContext &context) const;

private:
  uint32_t byte(size_t codePoint) const;
  FileId file_;
  uint32_t base_;
  size_t size_;                   // in bytes
  std::vector<uint32_t> offsets_; // byte offset of each code point; empty if all are ASCII
};

using TokenList = std::vector<std::unique_ptr<antlr4::Token>>;

/// The tokens that the parser gets.
struct PreparedTokens {
  TokenList tokens;
  absl::flat_hash_map<size_t, std::string> docs; // by the start of the token that follows
  absl::flat_hash_set<size_t> afterDropped; // starts of tokens before which something was dropped
  bool isTooDeep = false;
  bool isIncomplete = false; // a bracket was open at the end
};

/// Prepares the tokens of the lexer: drops comments and the line ends that separate nothing,
/// repairs brackets, reports and repairs what can only be a slip. Afterwards all brackets are
/// balanced.
PreparedTokens prepareTokens(TokenList tokens, const TextMap &map, DiagnosticEngine &diagnostics);

/// True for a bracket that was put in where one was missing; its absence has been reported.
bool isSynthetic(const antlr4::Token &token);

/// Words syntax errors and skips to the end of the statement they are in.
class ErrorStrategy : public antlr4::DefaultErrorStrategy {
public:
  ErrorStrategy(const TextMap &map, const PreparedTokens &prepared, DiagnosticEngine &diagnostics,
                std::vector<std::string> &brokenNames)
      : map_(map), prepared_(prepared), diagnostics_(diagnostics), brokenNames_(brokenNames) {}

  void reportError(antlr4::Parser *parser, const antlr4::RecognitionException &error) override;
  void recover(antlr4::Parser *parser, std::exception_ptr error) override;
  antlr4::Token *recoverInline(antlr4::Parser *parser) override;
  void sync(antlr4::Parser *parser) override;

private:
  void report(antlr4::Parser *parser, antlr4::Token *found,
              const antlr4::misc::IntervalSet &expected);
  void skipStatement(antlr4::Parser *parser);
  void syncStatements(antlr4::Parser *parser);

  const TextMap &map_;
  const PreparedTokens &prepared_;
  DiagnosticEngine &diagnostics_;
  std::vector<std::string> &brokenNames_;
};

/// Turns parse trees into syntax trees. Trees with errors are left out.
class Builder {
public:
  Builder(const SourceManager &sources, const TextMap &map, const PreparedTokens &prepared,
          DiagnosticEngine &diagnostics, std::vector<std::string> &brokenNames, bool hasErrors)
      : sources_(sources), map_(map), prepared_(prepared), diagnostics_(diagnostics),
        brokenNames_(brokenNames), hasErrors_(hasErrors) {}

  std::vector<StmtPtr> statements(PdgParser::StatementsContext *context);
  ExprPtr expr(PdgParser::ExprContext *context);

private:
  // Statements (parse_build_stmt.cpp).
  StmtPtr statement(PdgParser::StatementContext *context);
  StmtPtr bareStatement(antlr4::ParserRuleContext *context);
  StmtPtr importStatement(PdgParser::ImportStatementContext *context);
  StmtPtr blockStatement(PdgParser::BlockStatementContext *context);
  StmtPtr useStatement(PdgParser::UseStatementContext *context);
  StmtPtr variable(PdgParser::VariableContext *context);
  StmtPtr binding(PdgParser::BindingContext *context);
  StmtPtr input(PdgParser::InputContext *context);
  StmtPtr data(PdgParser::DataContext *context);
  StmtPtr forStatement(PdgParser::ForStatementContext *context);
  StmtPtr whileStatement(PdgParser::WhileStatementContext *context);
  StmtPtr returnStatement(PdgParser::ReturnStatementContext *context);
  StmtPtr minimize(PdgParser::MinimizeContext *context);
  StmtPtr update(PdgParser::UpdateContext *context);
  StmtPtr print(PdgParser::PrintContext *context);
  StmtPtr eval(PdgParser::EvalContext *context);
  StmtPtr assertStatement(PdgParser::AssertStatementContext *context);
  StmtPtr assignment(PdgParser::AssignmentContext *context);
  EvalTarget evalTarget(PdgParser::EvalTargetContext *context);
  void addEvalTarget(EvalTarget target, EvalStmt &stmt);
  void parameters(PdgParser::BlockStatementContext *context, BlockStmt &stmt);
  std::unique_ptr<Arg> parameter(PdgParser::ParameterContext *context);
  TypeSyntax type(PdgParser::TypeContext *context);
  PatternPtr pattern(PdgParser::PatternContext *context, DeclKind kind, const Stmt *stmt);
  PatternPtr namePattern(PdgParser::NameContext *context, DeclKind kind, const Stmt *stmt);
  Decl declare(PdgParser::NameContext *context, DeclKind kind, const Stmt *stmt);
  Body body(PdgParser::BodyContext *context);
  Hint hint(PdgParser::HintContext *context);
  bool hasError(antlr4::ParserRuleContext *context);
  void keepNames(antlr4::ParserRuleContext *context);

  // Expressions (parse_build_expr.cpp).
  ExprPtr atom(PdgParser::AtomContext *context);
  ExprPtr extend(PdgParser::ExprContext *context, ExprPtr left);
  ExprPtr unary(PdgParser::UnaryExprContext *context);
  ExprPtr binary(PdgParser::BinaryExprContext *context, ExprPtr left);
  ExprPtr index(PdgParser::IndexContext *context);
  ExprPtr iterable(PdgParser::IterableContext *context);
  ExprPtr list(PdgParser::ListContext *context);
  ExprPtr tuple(PdgParser::TupleContext *context);
  ExprPtr ifExpr(PdgParser::IfExprContext *context);
  IfArm ifArm(PdgParser::IfArmContext *context);
  std::vector<CallArg> arguments(PdgParser::ArgumentsContext *context);
  ExprPtr number(antlr4::Token *token, bool isNegative, Span span);
  ExprPtr range(ExprPtr lo, ExprPtr hi, bool isInclusive, Span span);

  // Strings (parse_text.cpp).
  Span insideQuotes(Span literal) const;
  std::string decodeString(Span place);
  Template textOrValue(PdgParser::ExprContext *context);
  void parseTemplate(Span place, Template &out);
  size_t interpolation(Span place, size_t open, Template &out);
  FormatSpec format(Span place);
  void reportText(Span place, std::string message, std::string hint);

  Span span(const antlr4::Token *token) const { return map_.span(*token); }
  Span span(const antlr4::ParserRuleContext *context) const { return map_.span(*context); }

  const SourceManager &sources_;
  const TextMap &map_;
  const PreparedTokens &prepared_;
  DiagnosticEngine &diagnostics_;
  std::vector<std::string> &brokenNames_;
  bool hasErrors_;
  size_t height_ = 0; // of the expression around the current one
};

/// Parses the expression in the braces of a printed text. Null after an error.
ExprPtr parseInterpolation(const SourceManager &sources, Span span, DiagnosticEngine &diagnostics,
                           std::vector<std::string> &brokenNames);

} // namespace pdg
