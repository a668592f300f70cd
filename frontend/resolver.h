// The walk over a file that binds names; private to resolve*.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/resolve.h"
#include "frontend/scope.h"
#include <vector>

namespace pdg {

/// The name of a kind with its article: "a let", "an argument".
inline std::string aDeclKind(DeclKind kind) {
  std::string name = declKindName(kind);
  return (std::string_view("aeiou").find(name[0]) != std::string_view::npos ? "an " : "a ") + name;
}

/// Resolves one file. Expressions and types are in resolve_names.cpp, statements in resolve.cpp,
/// hints in resolve_hints.cpp.
class Resolver {
public:
  Resolver(FileAst &file, bool isScript, const LoadOptions &options, DiagnosticEngine &diagnostics)
      : file_(file), isScript_(isScript), options_(options), diagnostics_(diagnostics),
        brokenNames_(file.brokenNames.begin(), file.brokenNames.end()),
        scopes_(isScript ? options.outer : nullptr) {}

  void run();

private:
  // Statements.
  void stmts(std::vector<StmtPtr> &list);
  void stmt(Stmt &node);
  void announce(std::vector<StmtPtr> &list);
  void announce(const Pattern &pattern);
  void block(BlockStmt &node);
  void declaration(DeclStmt &node);
  void assign(AssignStmt &node);
  void loop(ForStmt &node);
  void checkPlace(const Stmt &node);
  void reportPlace(const Stmt &node, const char *what, const char *where);
  void body(Body &node, bool isLoop);
  void hints(Stmt &node);
  void text(Template &node);
  void declare(Decl &decl);
  void declare(Pattern &pattern);
  void warnUnused();

  // Expressions and types.
  void expr(Expr &node);
  void exprs(std::vector<ExprPtr> &list);
  void optional(ExprPtr &node);
  void name(NameExpr &node);
  void member(MemberExpr &node);
  void moduleMember(MemberExpr &node, const Decl &module);
  void comprehension(ComprehensionExpr &node);
  void type(TypeSyntax &node, bool isArg, bool isConst);
  void elementType(TypeSyntax &node);
  Decl &declareTypeVariable(const std::string &name, Span span, DeclKind kind);
  void reportHidden(const std::string &name, Span span, const ScopeStack::Found &found);
  void reportUnknown(const std::string &name, Span span, bool isAssigned = false);
  std::string suggest(const std::string &name) const;
  std::string suggestMember(const std::string &name, const std::string &moduleName,
                            const Decl &module) const;

  FileAst &file_;
  bool isScript_;
  const LoadOptions &options_;
  DiagnosticEngine &diagnostics_;
  absl::flat_hash_set<std::string> brokenNames_;
  ScopeStack scopes_;
  std::vector<const Decl *> declared_;
  bool isInDims_ = false; // inside the brackets of a type, where capital names may be new
  size_t unknownCount_ = 0;
};

} // namespace pdg
