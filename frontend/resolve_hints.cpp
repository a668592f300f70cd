// Placement hints: which there are, where each may stand, and what it takes.
// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "frontend/names.h"
#include "frontend/resolver.h"

#include <algorithm>
#include <iterator>

namespace pdg {

namespace {

/// A hint: its argument, as messages show it, and whether only variables, instances and values can
/// have it.
struct HintRule {
  const char *name;
  const char *argument; // null if it takes none
  const char *argumentName;
  bool isForValues;
};
constexpr HintRule Rules[] = {
    {"on", "\"ps0\"", "", false},
    {"shard", "axis: 0", "axis", true},
    {"replicate", nullptr, "", true},
    {"stage", "1", "", false},
};

std::string formOf(const HintRule &rule) {
  return rule.argument ? absl::StrCat("@", rule.name, "(", rule.argument, ")")
                       : absl::StrCat("@", rule.name);
}

/// True for statements that declare or make a value with a place.
bool makesValues(const Stmt &stmt) {
  auto *decl = dynAs<DeclStmt>(&stmt);
  bool isValue = decl && (decl->declKind == DeclKind::Param || decl->declKind == DeclKind::State ||
                          decl->declKind == DeclKind::Let || decl->declKind == DeclKind::Var);
  return isValue || stmt.kind == StmtKind::Use;
}

/// True for statements that compute when the program runs.
bool computes(const Stmt &stmt) {
  switch (stmt.kind) {
  case StmtKind::Import:
  case StmtKind::Block:
  case StmtKind::Break:
  case StmtKind::Continue:
  case StmtKind::Return:
    return false;
  case StmtKind::Decl:
    return makesValues(stmt);
  default:
    return true;
  }
}

} // namespace

void Resolver::hints(Stmt &node) {
  for (size_t i = 0; i < node.hints.size(); ++i) {
    Hint &hint = node.hints[i];
    for (CallArg &arg : hint.args)
      expr(*arg.value);
    auto rule = std::find_if(std::begin(Rules), std::end(Rules),
                             [&](const HintRule &each) { return hint.name == each.name; });
    if (rule == std::end(Rules)) {
      Diagnostic &error = diagnostics_.report(
          DiagCode::PD0052, hint.span,
          absl::StrCat("expected @on, @shard, @replicate or @stage, found @", hint.name));
      if (std::string nearest = findNearest(hint.name, {"on", "shard", "replicate", "stage"});
          !nearest.empty())
        error.withHint(absl::StrCat("did you mean @", nearest, "?"));
      continue;
    }
    auto wrong = [&](Span span, const std::string &message) -> Diagnostic & {
      return diagnostics_.report(DiagCode::PD0054, span, message);
    };
    bool isRepeated = std::any_of(node.hints.begin(), node.hints.begin() + i,
                                  [&](const Hint &other) { return other.name == hint.name; });
    if (isRepeated) {
      wrong(hint.span, absl::StrCat("the hint @", hint.name, " is given twice"));
    } else if (hint.args.size() != (rule->argument ? 1u : 0u)) {
      wrong(hint.span, absl::StrCat("expected ", formOf(*rule), ", found ", hint.args.size(),
                                    hint.args.size() == 1 ? " argument" : " arguments"));
    } else if (rule->argument && !hint.args[0].name.empty() &&
               hint.args[0].name != rule->argumentName) {
      wrong(hint.args[0].nameSpan, absl::StrCat("expected ", formOf(*rule),
                                                ", found the argument '", hint.args[0].name, "'"));
    } else if (!(rule->isForValues ? makesValues(node) : computes(node))) {
      wrong(hint.span, absl::StrCat("expected @", hint.name, " before ",
                                    rule->isForValues
                                        ? "a variable, an instance or a value"
                                        : "a variable, an instance or a statement that computes"))
          .withLabel("not here");
    }
  }
}

} // namespace pdg
