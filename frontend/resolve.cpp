// Resolution of statements: what is declared where, and which statement may stand where.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/resolve.h"

#include "absl/strings/str_cat.h"
#include "frontend/names.h"
#include "frontend/resolver.h"
#include "runtime/base/text.h"

namespace pdg {

void resolveFile(FileAst &file, bool isScript, const LoadOptions &options,
                 DiagnosticEngine &diagnostics) {
  Resolver(file, isScript, options, diagnostics).run();
}

const Decl *findExport(const FileAst &file, std::string_view name) {
  for (const StmtPtr &stmt : file.stmts) {
    if (auto *block = dynAs<BlockStmt>(stmt.get()); block && block->decl.name == name)
      return &block->decl;
    auto *constant = dynAs<DeclStmt>(stmt.get());
    if (constant && constant->declKind == DeclKind::Const && constant->pattern->isName() &&
        constant->decl().name == name)
      return &constant->decl();
  }
  return nullptr;
}

void Resolver::run() {
  scopes_.push({});
  stmts(file_.stmts);
  if (isScript_ && options_.warnsUnused && !diagnostics_.hasErrors())
    warnUnused();
}

void Resolver::stmts(std::vector<StmtPtr> &list) {
  announce(list);
  for (StmtPtr &each : list)
    stmt(*each);
}

/// Declares what is visible before its declaration, and remembers the names that are not.
void Resolver::announce(std::vector<StmtPtr> &list) {
  for (StmtPtr &each : list) {
    if (auto *block = dynAs<BlockStmt>(each.get()))
      declare(block->decl);
    else if (auto *import = dynAs<ImportStmt>(each.get()); import && scopes_.isFileLevel())
      for (std::unique_ptr<ImportItem> &item : import->items)
        declare(item->decl);
    else if (auto *use = dynAs<UseStmt>(each.get()))
      scopes_.top().upcoming.insert({use->decl.name, use->decl.span});
    else if (auto *declaration = dynAs<DeclStmt>(each.get()))
      announce(*declaration->pattern);
  }
}

void Resolver::announce(const Pattern &pattern) {
  if (pattern.isName())
    scopes_.top().upcoming.insert({pattern.decl.name, pattern.decl.span});
  for (const PatternPtr &element : pattern.elements)
    announce(*element);
}

void Resolver::declare(Decl &decl) {
  decl.owner = scopes_.block();
  if (decl.name == "_")
    return;
  scopes_.top().upcoming.erase(decl.name);
  auto [entry, isNew] = scopes_.top().names.insert({decl.name, &decl});
  declared_.push_back(&decl);
  if (isNew)
    return;
  diagnostics_
      .report(DiagCode::PD0041, decl.span, absl::StrCat("'", decl.name, "' is defined twice"))
      .withLabel("defined again")
      .withSecondary(entry->second->span, "first defined here")
      .withHint(decl.kind == DeclKind::Let && entry->second->kind != DeclKind::Import
                    ? "a name that changes is declared with 'var' and assigned with '='"
                    : "choose another name");
}

void Resolver::declare(Pattern &pattern) {
  if (pattern.isName())
    return declare(pattern.decl);
  for (PatternPtr &element : pattern.elements)
    declare(*element);
}

void Resolver::body(Body &node, bool isLoop) {
  Scope scope;
  scope.isLoop = isLoop;
  scopes_.push(std::move(scope));
  stmts(node.stmts);
  scopes_.pop();
}

void Resolver::block(BlockStmt &node) {
  Scope scope;
  scope.block = &node;
  scopes_.push(std::move(scope));
  for (std::unique_ptr<Arg> &arg : node.args)
    declare(arg->decl);
  for (std::unique_ptr<Arg> &arg : node.args)
    if (arg->type)
      type(*arg->type, /*isArg=*/true, /*isConst=*/false);
  for (std::unique_ptr<Arg> &arg : node.args)
    optional(arg->defaultValue);
  for (TypeSyntax &result : node.results)
    type(result, /*isArg=*/false, /*isConst=*/false);
  stmts(node.body.stmts);
  scopes_.pop();
}

void Resolver::declaration(DeclStmt &node) {
  if (node.type)
    type(*node.type, /*isArg=*/false, node.declKind == DeclKind::Const);
  optional(node.init);
  declare(*node.pattern);
}

/// Why a name cannot be assigned, and what to do; null if it can.
static const char *assignmentHint(const Decl &decl) {
  switch (decl.kind) {
  case DeclKind::Var:
  case DeclKind::State:
    return nullptr;
  case DeclKind::Arg:
    if (decl.arg->type && decl.arg->type->name == "param")
      return nullptr;
    return "copy it first: var name = argument; an optimizer declares it as p: param";
  case DeclKind::Let:
    return "a name that changes is declared with 'var'";
  case DeclKind::Param:
    return "a param is changed by 'minimize' and 'update'; a variable that the script itself "
           "assigns is a 'state'";
  case DeclKind::Use:
    return "an instance stays what it is; its states are assigned one by one";
  case DeclKind::Const:
    return "a run sets a constant with --set; a name that changes is declared with 'var'";
  default:
    return "a name that changes is declared with 'var'";
  }
}

void Resolver::assign(AssignStmt &node) {
  expr(*node.value);
  auto *target = dynAs<NameExpr>(node.target.get());
  if (!target) {
    expr(*node.target);
    return;
  }
  ScopeStack::Found found = scopes_.find(target->name);
  if (!found.decl || found.hiddenBy) {
    if (found.hiddenBy)
      return reportHidden(target->name, target->span, found);
    if (!options_.builtins.functions.contains(target->name))
      return reportUnknown(target->name, target->span, /*isAssigned=*/true);
    diagnostics_
        .report(DiagCode::PD0043, target->span,
                absl::StrCat("'", target->name, "' is built in and cannot be assigned"))
        .withHint(absl::StrCat("a new name is declared with 'let' or 'var': let ", target->name,
                               " = ..."));
    return;
  }
  target->decl = found.decl;
  ++found.decl->writes;
  if (const char *hint = assignmentHint(*found.decl))
    diagnostics_
        .report(DiagCode::PD0043, target->span,
                absl::StrCat("cannot assign to '", target->name,
                             "', expected a var or a state, "
                             "found ",
                             aDeclKind(found.decl->kind)))
        .withSecondary(found.decl->span, absl::StrCat("'", target->name, "' is declared here"))
        .withHint(hint);
}

void Resolver::loop(ForStmt &node) {
  expr(*node.iterable);
  Scope scope;
  scope.isLoop = true;
  scopes_.push(std::move(scope));
  if (node.counter)
    declare(*node.counter);
  declare(*node.pattern);
  stmts(node.body.stmts);
  scopes_.pop();
}

void Resolver::reportPlace(const Stmt &node, const char *what, const char *where) {
  diagnostics_.report(DiagCode::PD0048, node.span, absl::StrCat("expected ", what, " only ", where))
      .withLabel("not here");
}

/// Some statements make sense only in some places.
void Resolver::checkPlace(const Stmt &node) {
  bool isDeclaration = node.kind == StmtKind::Import || node.kind == StmtKind::Block;
  auto *declaration = dynAs<DeclStmt>(&node);
  if (declaration && declaration->declKind == DeclKind::Const)
    isDeclaration = true;
  if (!isScript_ && scopes_.isFileLevel() && !isDeclaration) {
    diagnostics_
        .report(DiagCode::PD0048, node.span,
                "expected only imports, blocks and constants in an imported file")
        .withLabel("not here")
        .withHint("what is to run belongs into the script");
    return;
  }
  if (node.kind == StmtKind::Import && !scopes_.isFileLevel())
    reportPlace(node, "'import'", "at the top level of a file");
  if (declaration && declaration->declKind == DeclKind::Input && !scopes_.isFileLevel())
    reportPlace(node, "'input'", "at the top level of the script");
  if (node.kind == StmtKind::Eval && scopes_.block())
    reportPlace(node, "'eval'", "in the script itself, not in a block");
  bool isJump = node.kind == StmtKind::Break || node.kind == StmtKind::Continue;
  if (isJump && !scopes_.isInLoop())
    diagnostics_.report(DiagCode::PD0044, node.span,
                        absl::StrCat("expected '",
                                     node.kind == StmtKind::Break ? "break" : "continue",
                                     "' only inside a loop"));
  if (node.kind == StmtKind::Return && !scopes_.block())
    diagnostics_.report(DiagCode::PD0045, node.span, "expected 'return' only inside a block")
        .withHint("a script gives its results with 'eval' or 'print'");
}

void Resolver::text(Template &node) {
  for (TemplatePart &part : node.parts)
    optional(part.expr);
}

void Resolver::stmt(Stmt &node) {
  checkPlace(node);
  hints(node);
  switch (node.kind) {
  case StmtKind::Import:
  case StmtKind::Break:
  case StmtKind::Continue:
    return;
  case StmtKind::Block:
    return block(as<BlockStmt>(node));
  case StmtKind::Use:
    expr(*as<UseStmt>(node).value);
    return declare(as<UseStmt>(node).decl);
  case StmtKind::Decl:
    return declaration(as<DeclStmt>(node));
  case StmtKind::Assign:
    return assign(as<AssignStmt>(node));
  case StmtKind::Expr:
    return expr(*as<ExprStmt>(node).expr);
  case StmtKind::For:
    return loop(as<ForStmt>(node));
  case StmtKind::While:
    expr(*as<WhileStmt>(node).condition);
    optional(as<WhileStmt>(node).limit);
    return body(as<WhileStmt>(node).body, /*isLoop=*/true);
  case StmtKind::Return:
    return optional(as<ReturnStmt>(node).value);
  case StmtKind::Minimize: {
    auto &minimize = as<MinimizeStmt>(node);
    expr(*minimize.loss);
    exprs(minimize.over);
    optional(minimize.via);
    return expr(*minimize.optimizer);
  }
  case StmtKind::Update: {
    auto &update = as<UpdateStmt>(node);
    expr(*update.target);
    expr(*update.gradient);
    return expr(*update.optimizer);
  }
  case StmtKind::Print:
    return text(as<PrintStmt>(node).text);
  case StmtKind::Eval:
    for (EvalTarget &target : as<EvalStmt>(node).targets)
      expr(*target.expr);
    return;
  case StmtKind::Assert:
    expr(*as<AssertStmt>(node).condition);
    if (as<AssertStmt>(node).message)
      text(*as<AssertStmt>(node).message);
    return;
  }
}

/// Whether a name that is never read is worth a warning: those that exist only to be read.
static bool shouldBeUsed(const Decl &decl) {
  switch (decl.kind) {
  case DeclKind::Import:
  case DeclKind::Use:
  case DeclKind::Param:
  case DeclKind::State:
  case DeclKind::Let:
  case DeclKind::Var:
  case DeclKind::Const:
  case DeclKind::Data:
    return decl.reads == 0 && decl.name[0] != '_';
  default:
    return false;
  }
}

/// True if the name came from `let (a, b) = ...`, where one part may be needed and another not.
static bool isTakenApart(const Decl &decl) {
  auto *declaration = dynAs<DeclStmt>(decl.stmt);
  return declaration && !declaration->pattern->isName();
}

void Resolver::warnUnused() {
  for (const Decl *decl : declared_) {
    if (!shouldBeUsed(*decl) || isTakenApart(*decl))
      continue;
    if (decl->kind == DeclKind::Import) {
      diagnostics_.report(DiagCode::PD0091, decl->span,
                          absl::StrCat("the module '", decl->name, "' is imported but not used"));
      continue;
    }
    diagnostics_
        .report(DiagCode::PD0090, decl->span,
                absl::StrCat("the ", declKindName(decl->kind), " '", decl->name, "' is ",
                             decl->writes ? "assigned but never read" : "never used"))
        .withHint(absl::StrCat("a name that starts with '_' may be unused: _", decl->name));
  }
}

} // namespace pdg
