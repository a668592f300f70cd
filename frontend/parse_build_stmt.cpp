// Builds statements from parse trees.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/parse_internal.h"

#include "absl/strings/str_cat.h"
#include "frontend/format.h"

namespace pdg {

using antlr4::ParserRuleContext;
using P = PdgParser;

/// True if a part of the statement could not be parsed. Statements in bodies answer for themselves.
bool Builder::hasError(ParserRuleContext *context) {
  std::vector<antlr4::tree::ParseTree *> todo{context};
  while (!todo.empty()) {
    antlr4::tree::ParseTree *tree = todo.back();
    todo.pop_back();
    if (dynamic_cast<antlr4::tree::ErrorNode *>(tree))
      return true;
    auto *rule = dynamic_cast<ParserRuleContext *>(tree);
    if (!rule)
      continue;
    if (rule->exception)
      return true;
    if (rule->getRuleIndex() == P::RuleStatements)
      continue;
    todo.insert(todo.end(), rule->children.begin(), rule->children.end());
  }
  return false;
}

void Builder::keepNames(ParserRuleContext *context) {
  std::vector<antlr4::tree::ParseTree *> todo{context};
  while (!todo.empty()) {
    antlr4::tree::ParseTree *tree = todo.back();
    todo.pop_back();
    if (auto *leaf = dynamic_cast<antlr4::tree::TerminalNode *>(tree))
      if (leaf->getSymbol()->getType() == P::ID)
        brokenNames_.push_back(leaf->getText());
    todo.insert(todo.end(), tree->children.begin(), tree->children.end());
  }
}

std::vector<StmtPtr> Builder::statements(P::StatementsContext *context) {
  std::vector<StmtPtr> result;
  if (!context)
    return result;
  for (P::StatementContext *each : context->statement()) {
    if (hasErrors_ && hasError(each))
      keepNames(each);
    else if (StmtPtr stmt = statement(each))
      result.push_back(std::move(stmt));
  }
  return result;
}

StmtPtr Builder::statement(P::StatementContext *context) {
  height_ = 0;
  auto *inner = static_cast<ParserRuleContext *>(context->children.back());
  StmtPtr stmt = bareStatement(inner);
  stmt->span = span(inner);
  for (P::HintContext *each : context->hint())
    stmt->hints.push_back(hint(each));
  auto doc = prepared_.docs.find(context->start->getStartIndex());
  if (doc != prepared_.docs.end())
    stmt->doc = doc->second;
  return stmt;
}

StmtPtr Builder::bareStatement(ParserRuleContext *context) {
  switch (context->getRuleIndex()) {
  case P::RuleImportStatement:
    return importStatement(static_cast<P::ImportStatementContext *>(context));
  case P::RuleBlockStatement:
    return blockStatement(static_cast<P::BlockStatementContext *>(context));
  case P::RuleUseStatement:
    return useStatement(static_cast<P::UseStatementContext *>(context));
  case P::RuleVariable:
    return variable(static_cast<P::VariableContext *>(context));
  case P::RuleBinding:
    return binding(static_cast<P::BindingContext *>(context));
  case P::RuleInput:
    return input(static_cast<P::InputContext *>(context));
  case P::RuleData:
    return data(static_cast<P::DataContext *>(context));
  case P::RuleForStatement:
    return forStatement(static_cast<P::ForStatementContext *>(context));
  case P::RuleWhileStatement:
    return whileStatement(static_cast<P::WhileStatementContext *>(context));
  case P::RuleBreakStatement:
    return std::make_unique<BreakStmt>();
  case P::RuleContinueStatement:
    return std::make_unique<ContinueStmt>();
  case P::RuleReturnStatement:
    return returnStatement(static_cast<P::ReturnStatementContext *>(context));
  case P::RuleMinimize:
    return minimize(static_cast<P::MinimizeContext *>(context));
  case P::RuleUpdate:
    return update(static_cast<P::UpdateContext *>(context));
  case P::RulePrint:
    return print(static_cast<P::PrintContext *>(context));
  case P::RuleEval:
    return eval(static_cast<P::EvalContext *>(context));
  case P::RuleAssertStatement:
    return assertStatement(static_cast<P::AssertStatementContext *>(context));
  default:
    return assignment(static_cast<P::AssignmentContext *>(context));
  }
}

Decl Builder::declare(P::NameContext *context, DeclKind kind, const Stmt *stmt) {
  Decl decl;
  decl.kind = kind;
  decl.name = context->getText();
  decl.span = span(context);
  decl.stmt = stmt;
  return decl;
}

StmtPtr Builder::importStatement(P::ImportStatementContext *context) {
  auto stmt = std::make_unique<ImportStmt>();
  for (P::ImportItemContext *each : context->importItem()) {
    auto item = std::make_unique<ImportItem>();
    item->span = span(each);
    P::NameContext *local = each->name().empty() ? nullptr : each->name().back();
    item->isFile = each->STRING() != nullptr;
    if (item->isFile)
      item->path = decodeString(insideQuotes(span(each->STRING()->getSymbol())));
    else
      item->path = each->name().front()->getText();
    if (local) {
      item->decl = declare(local, DeclKind::Import, stmt.get());
    } else {
      // `import "lib/layers.pdg"` is known as `layers`.
      std::string_view stem = item->path;
      stem = stem.substr(stem.rfind('/') == std::string_view::npos ? 0 : stem.rfind('/') + 1);
      item->decl.name = std::string(stem.substr(0, stem.find('.')));
      item->decl.kind = DeclKind::Import;
      item->decl.span = item->span;
      item->decl.stmt = stmt.get();
    }
    stmt->items.push_back(std::move(item));
  }
  return stmt;
}

StmtPtr Builder::blockStatement(P::BlockStatementContext *context) {
  auto stmt = std::make_unique<BlockStmt>();
  stmt->decl = declare(context->name(), DeclKind::Block, stmt.get());
  stmt->decl.block = stmt.get();
  parameters(context, *stmt);
  if (P::ResultContext *result = context->result()) {
    stmt->hasResults = true;
    stmt->isTupleResult = result->LPAREN() != nullptr;
    for (P::TypeContext *each : result->type())
      stmt->results.push_back(type(each));
  }
  stmt->isLazy = context->LAZY() != nullptr;
  stmt->body = body(context->body());
  return stmt;
}

void Builder::parameters(P::BlockStatementContext *context, BlockStmt &stmt) {
  P::ParameterContext *star = nullptr;
  for (P::ParameterContext *each : context->parameter()) {
    if (each->name()) {
      stmt.args.push_back(parameter(each));
      stmt.args.back()->isNamed = star != nullptr;
    } else if (std::exchange(star, each)) {
      diagnostics_.report(DiagCode::PD0020, span(each),
                          "expected one '*' among the arguments of a block, found a second one");
    }
  }
  if (star && (stmt.args.empty() || !stmt.args.back()->isNamed))
    diagnostics_.report(DiagCode::PD0020, span(star), "expected arguments behind '*'")
        .withHint("the arguments behind '*' are given by their names: block f(x, *, n: int)");
}

std::unique_ptr<Arg> Builder::parameter(P::ParameterContext *context) {
  auto arg = std::make_unique<Arg>();
  arg->span = span(context);
  arg->decl = declare(context->name(), DeclKind::Arg, nullptr);
  arg->decl.arg = arg.get();
  if (context->type())
    arg->type = type(context->type());
  if (context->expr())
    arg->defaultValue = expr(context->expr());
  return arg;
}

TypeSyntax Builder::type(P::TypeContext *context) {
  TypeSyntax result;
  result.span = span(context);
  antlr4::Token *name = context->start;
  result.name = name->getText();
  result.nameSpan = span(name);
  result.hasBrackets = context->LBRACKET() != nullptr;
  for (P::ExprContext *each : context->expr())
    result.dims.push_back(expr(each));
  return result;
}

StmtPtr Builder::useStatement(P::UseStatementContext *context) {
  auto stmt = std::make_unique<UseStmt>();
  stmt->decl = declare(context->name(), DeclKind::Use, stmt.get());
  stmt->value = expr(context->expr());
  return stmt;
}

PatternPtr Builder::namePattern(P::NameContext *context, DeclKind kind, const Stmt *stmt) {
  auto result = std::make_unique<Pattern>();
  result->decl = declare(context, kind, stmt);
  result->span = result->decl.span;
  return result;
}

PatternPtr Builder::pattern(P::PatternContext *context, DeclKind kind, const Stmt *stmt) {
  if (context->name())
    return namePattern(context->name(), kind, stmt);
  auto result = std::make_unique<Pattern>();
  result->span = span(context);
  result->isTuple = context->LPAREN() != nullptr;
  for (P::PatternContext *each : context->pattern())
    result->elements.push_back(pattern(each, kind, stmt));
  return result;
}

StmtPtr Builder::variable(P::VariableContext *context) {
  auto stmt = std::make_unique<DeclStmt>();
  stmt->declKind = context->kind->getType() == P::PARAM ? DeclKind::Param : DeclKind::State;
  stmt->pattern = namePattern(context->name(), stmt->declKind, stmt.get());
  if (context->type())
    stmt->type = type(context->type());
  if (context->expr())
    stmt->init = expr(context->expr());
  return stmt;
}

StmtPtr Builder::binding(P::BindingContext *context) {
  auto stmt = std::make_unique<DeclStmt>();
  size_t kind = context->kind->getType();
  stmt->declKind = kind == P::LET   ? DeclKind::Let
                   : kind == P::VAR ? DeclKind::Var
                                    : DeclKind::Const;
  stmt->pattern = pattern(context->pattern(), stmt->declKind, stmt.get());
  if (context->type())
    stmt->type = type(context->type());
  stmt->init = expr(context->expr());
  return stmt;
}

StmtPtr Builder::input(P::InputContext *context) {
  auto stmt = std::make_unique<DeclStmt>();
  stmt->declKind = DeclKind::Input;
  stmt->pattern = namePattern(context->name(), DeclKind::Input, stmt.get());
  stmt->type = type(context->type());
  return stmt;
}

StmtPtr Builder::data(P::DataContext *context) {
  auto stmt = std::make_unique<DeclStmt>();
  stmt->declKind = DeclKind::Data;
  stmt->pattern = namePattern(context->name(), DeclKind::Data, stmt.get());
  stmt->init = expr(context->expr());
  return stmt;
}

StmtPtr Builder::forStatement(P::ForStatementContext *context) {
  auto stmt = std::make_unique<ForStmt>();
  auto patterns = context->pattern();
  if (patterns.size() == 2)
    stmt->counter = pattern(patterns.front(), DeclKind::Loop, stmt.get());
  stmt->pattern = pattern(patterns.back(), DeclKind::Loop, stmt.get());
  stmt->iterable = iterable(context->iterable());
  stmt->body = body(context->body());
  return stmt;
}

StmtPtr Builder::whileStatement(P::WhileStatementContext *context) {
  auto stmt = std::make_unique<WhileStmt>();
  stmt->condition = expr(context->expr(0));
  if (context->MAX())
    stmt->limit = expr(context->expr(1));
  stmt->body = body(context->body());
  return stmt;
}

StmtPtr Builder::returnStatement(P::ReturnStatementContext *context) {
  auto stmt = std::make_unique<ReturnStmt>();
  if (context->expr())
    stmt->value = expr(context->expr());
  return stmt;
}

StmtPtr Builder::minimize(P::MinimizeContext *context) {
  auto stmt = std::make_unique<MinimizeStmt>();
  auto exprs = context->expr();
  size_t end = exprs.size() - 1;
  stmt->optimizer = expr(exprs[end]);
  if (context->VIA())
    stmt->via = expr(exprs[--end]);
  stmt->loss = expr(exprs[0]);
  for (size_t i = 1; i < end; ++i)
    stmt->over.push_back(expr(exprs[i]));
  return stmt;
}

StmtPtr Builder::update(P::UpdateContext *context) {
  auto stmt = std::make_unique<UpdateStmt>();
  stmt->target = expr(context->expr(0));
  stmt->gradient = expr(context->expr(1));
  stmt->optimizer = expr(context->expr(2));
  return stmt;
}

StmtPtr Builder::print(P::PrintContext *context) {
  auto stmt = std::make_unique<PrintStmt>();
  stmt->text = textOrValue(context->expr());
  return stmt;
}

EvalTarget Builder::evalTarget(P::EvalTargetContext *context) {
  EvalTarget target;
  target.span = span(context);
  target.expr = expr(context->expr());
  if (context->name())
    target.name = context->name()->getText();
  return target;
}

/// `eval [a, b]` means `eval a, b`; without `as` a target is known by its text.
void Builder::addEvalTarget(EvalTarget target, EvalStmt &stmt) {
  auto *list = dynAs<ListExpr>(target.expr.get());
  if (list && target.name.empty()) {
    for (ExprPtr &each : list->elements) {
      EvalTarget element;
      element.span = each->span;
      element.name = formatExpression(sources_.text(each->span));
      element.expr = std::move(each);
      stmt.targets.push_back(std::move(element));
    }
    return;
  }
  if (target.name.empty())
    target.name = formatExpression(sources_.text(target.expr->span));
  stmt.targets.push_back(std::move(target));
}

StmtPtr Builder::eval(P::EvalContext *context) {
  auto stmt = std::make_unique<EvalStmt>();
  for (P::EvalTargetContext *each : context->evalTarget())
    addEvalTarget(evalTarget(each), *stmt);
  return stmt;
}

StmtPtr Builder::assertStatement(P::AssertStatementContext *context) {
  auto stmt = std::make_unique<AssertStmt>();
  stmt->condition = expr(context->expr(0));
  if (context->expr().size() == 2)
    stmt->message = textOrValue(context->expr(1));
  return stmt;
}

StmtPtr Builder::assignment(P::AssignmentContext *context) {
  if (!context->ASSIGN()) {
    auto stmt = std::make_unique<ExprStmt>();
    stmt->expr = expr(context->expr(0));
    return stmt;
  }
  auto stmt = std::make_unique<AssignStmt>();
  stmt->target = expr(context->expr(0));
  stmt->value = expr(context->expr(1));
  if (stmt->target->kind != ExprKind::Name && stmt->target->kind != ExprKind::Member) {
    Diagnostic &error =
        diagnostics_.report(DiagCode::PD0029, stmt->target->span,
                            "expected a name on the left of '=', found an expression");
    if (stmt->target->kind == ExprKind::Index)
      error.withHint("elements of a tensor cannot be assigned; make a new tensor of it");
    else
      error.withHint("values are compared with '=='");
  }
  return stmt;
}

Body Builder::body(P::BodyContext *context) {
  size_t outer = height_;
  Body result;
  result.span = span(context);
  result.stmts = statements(context->statements());
  height_ = outer;
  return result;
}

Hint Builder::hint(P::HintContext *context) {
  Hint result;
  result.span = span(context);
  result.name = context->name()->getText();
  if (context->arguments())
    result.args = arguments(context->arguments());
  return result;
}

} // namespace pdg
