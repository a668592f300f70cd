// Walking over the syntax tree.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/ast.h"

namespace pdg {

/// Calls `fn` for the direct operands of an expression; it may get null. The bodies of an `if` are
/// statements and not visited.
template <class Fn> void forEachOperand(const Expr &each, Fn fn) {
  if (auto *member = dynAs<MemberExpr>(&each))
    fn(member->base.get());
  if (auto *unary = dynAs<UnaryExpr>(&each))
    fn(unary->operand.get());
  if (auto *binary = dynAs<BinaryExpr>(&each))
    fn(binary->lhs.get()), fn(binary->rhs.get());
  if (auto *range = dynAs<RangeExpr>(&each))
    fn(range->lo.get()), fn(range->hi.get());
  if (auto *list = dynAs<ListExpr>(&each))
    for (const ExprPtr &element : list->elements)
      fn(element.get());
  if (auto *tuple = dynAs<TupleExpr>(&each))
    for (const ExprPtr &element : tuple->elements)
      fn(element.get());
  if (auto *comprehension = dynAs<ComprehensionExpr>(&each))
    fn(comprehension->element.get()), fn(comprehension->iterable.get());
  if (auto *index = dynAs<IndexExpr>(&each)) {
    fn(index->base.get());
    for (const ExprPtr &at : index->indices)
      fn(at.get());
  }
  if (auto *call = dynAs<CallExpr>(&each)) {
    fn(call->callee.get());
    for (const CallArg &arg : call->args)
      fn(arg.value.get());
  }
}

/// Whether the value of an expression may come with effects: there is a call or an `if` in it.
inline bool mayAct(const Expr &expr) {
  bool result = expr.kind == ExprKind::Call || expr.kind == ExprKind::If;
  if (!result)
    forEachOperand(expr, [&](const Expr *each) { result = result || (each && mayAct(*each)); });
  return result;
}

/// Calls `fn` for the expressions that a statement itself has, not for those of its bodies.
template <class Fn> void forEachExpr(const Stmt &each, Fn fn) {
  auto text = [&](const Template &text) {
    for (const TemplatePart &part : text.parts)
      fn(part.expr.get());
  };
  auto all = [&](const std::vector<ExprPtr> &list) {
    for (const ExprPtr &expr : list)
      fn(expr.get());
  };
  switch (each.kind) {
  case StmtKind::Import:
  case StmtKind::Block:
  case StmtKind::Break:
  case StmtKind::Continue:
    return;
  case StmtKind::Use:
    return fn(as<UseStmt>(each).value.get());
  case StmtKind::Decl:
    return fn(as<DeclStmt>(each).init.get());
  case StmtKind::Assign:
    return fn(as<AssignStmt>(each).target.get()), fn(as<AssignStmt>(each).value.get());
  case StmtKind::Expr:
    return fn(as<ExprStmt>(each).expr.get());
  case StmtKind::For:
    return fn(as<ForStmt>(each).iterable.get());
  case StmtKind::While:
    return fn(as<WhileStmt>(each).condition.get()), fn(as<WhileStmt>(each).limit.get());
  case StmtKind::Return:
    return fn(as<ReturnStmt>(each).value.get());
  case StmtKind::Minimize: {
    auto &minimize = as<MinimizeStmt>(each);
    fn(minimize.loss.get()), all(minimize.over);
    return fn(minimize.via.get()), fn(minimize.optimizer.get());
  }
  case StmtKind::Update: {
    auto &update = as<UpdateStmt>(each);
    return fn(update.target.get()), fn(update.gradient.get()), fn(update.optimizer.get());
  }
  case StmtKind::Print:
    return text(as<PrintStmt>(each).text);
  case StmtKind::Eval:
    for (const EvalTarget &target : as<EvalStmt>(each).targets)
      fn(target.expr.get());
    return;
  case StmtKind::Assert:
    fn(as<AssertStmt>(each).condition.get());
    if (as<AssertStmt>(each).message)
      text(*as<AssertStmt>(each).message);
    return;
  }
}

} // namespace pdg
