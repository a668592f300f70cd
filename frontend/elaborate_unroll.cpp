// Which loops over a range are unrolled: those whose variable must be known when compiling.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ast_walk.h"
#include "frontend/elaborator.h"

using namespace mlir;

namespace pdg {

namespace {

/// Looks for places where a loop variable, or what is computed from it, must be known when
/// compiling: an index of a list, a bound of a slice, a constant argument of a block.
class NeedsConstant {
public:
  NeedsConstant(const Pattern &pattern, std::function<bool(const Expr &)> isList)
      : isList_(std::move(isList)) {
    add(pattern);
  }

  bool stmts(const std::vector<StmtPtr> &list) {
    return llvm::any_of(list, [&](const StmtPtr &each) { return stmt(*each); });
  }

private:
  void add(const Pattern &pattern) {
    if (pattern.isName())
      tainted_.insert(&pattern.decl);
    for (const PatternPtr &element : pattern.elements)
      add(*element);
  }

  bool stmt(const Stmt &each);
  bool expr(const Expr *each);
  bool call(const CallExpr &each);
  bool uses(const Expr *each);

  std::set<const Decl *> tainted_;
  std::function<bool(const Expr &)> isList_;
};

bool NeedsConstant::uses(const Expr *each) {
  if (!each)
    return false;
  if (auto *name = dynAs<NameExpr>(each))
    return tainted_.contains(name->decl);
  bool result = false;
  forEachOperand(*each, [&](const Expr *operand) { result = result || uses(operand); });
  return result;
}

bool NeedsConstant::call(const CallExpr &each) {
  const Decl *callee = nullptr;
  if (auto *name = dynAs<NameExpr>(each.callee.get()))
    callee = name->decl;
  else if (auto *member = dynAs<MemberExpr>(each.callee.get()))
    callee = member->decl;
  bool isBuiltin = dynAs<NameExpr>(each.callee.get()) && as<NameExpr>(*each.callee).isBuiltin;
  const BlockStmt *block = callee ? callee->block : nullptr;
  for (const CallArg &arg : each.args) {
    if (!uses(arg.value.get()))
      continue;
    if (isBuiltin && (arg.name == "axis" || arg.name == "type"))
      return true;
    if (block)
      for (const auto &declared : block->args)
        if (declared->decl.name == arg.name && declared->type && declared->type->isCompileTime() &&
            declared->type->name != "float")
          return true;
  }
  return false;
}

bool NeedsConstant::expr(const Expr *each) {
  if (!each)
    return false;
  if (auto *index = dynAs<IndexExpr>(each)) {
    bool isList = isList_(*index->base);
    for (const ExprPtr &at : index->indices)
      if ((isList || at->kind == ExprKind::Range) && uses(at.get()))
        return true;
  }
  if (auto *calls = dynAs<CallExpr>(each); calls && call(*calls))
    return true;
  if (auto *choice = dynAs<IfExpr>(each)) {
    for (const IfArm &arm : choice->arms)
      if (expr(arm.condition.get()) || stmts(arm.body.stmts))
        return true;
    return choice->elseBody && stmts(choice->elseBody->stmts);
  }
  bool result = false;
  forEachOperand(*each, [&](const Expr *operand) { result = result || expr(operand); });
  return result;
}

bool NeedsConstant::stmt(const Stmt &each) {
  if (auto *binding = dynAs<DeclStmt>(&each)) {
    if (uses(binding->init.get()) && binding->declKind != DeclKind::Var)
      add(*binding->pattern);
    bool isConst = binding->declKind == DeclKind::Const && uses(binding->init.get());
    return isConst || expr(binding->init.get());
  }
  if (auto *use = dynAs<UseStmt>(&each))
    return uses(use->value.get());
  if (auto *assign = dynAs<AssignStmt>(&each))
    return expr(assign->value.get());
  if (auto *plain = dynAs<ExprStmt>(&each))
    return expr(plain->expr.get());
  if (auto *result = dynAs<ReturnStmt>(&each))
    return result->value && expr(result->value.get());
  if (auto *loop = dynAs<ForStmt>(&each))
    return (!dynAs<RangeExpr>(loop->iterable.get()) && uses(loop->iterable.get())) ||
           stmts(loop->body.stmts);
  if (auto *loop = dynAs<WhileStmt>(&each))
    return expr(loop->condition.get()) || uses(loop->limit.get()) || stmts(loop->body.stmts);
  if (auto *minimize = dynAs<MinimizeStmt>(&each))
    return expr(minimize->loss.get());
  if (auto *print = dynAs<PrintStmt>(&each))
    return llvm::any_of(print->text.parts,
                        [&](const TemplatePart &part) { return expr(part.expr.get()); });
  return false;
}

} // namespace

bool Elaborator::mustUnroll(const ForStmt &stmt) {
  auto isList = [&](const Expr &base) {
    if (base.kind == ExprKind::List || base.kind == ExprKind::Tuple)
      return true;
    if (auto *call = dynAs<CallExpr>(&base)) {
      auto *name = dynAs<NameExpr>(call->callee.get());
      return name && name->isBuiltin && name->name == "shape";
    }
    auto *name = dynAs<NameExpr>(&base);
    if (name && name->decl) {
      for (FramePtr frame = frame_; frame; frame = frame->scope)
        if (auto found = frame->names.find(name->decl); found != frame->names.end())
          return found->second.is<SequencePtr>();
      // Declared inside the loop.
      auto *binding = dynAs<DeclStmt>(name->decl->stmt);
      return binding && binding->init &&
             (binding->init->kind == ExprKind::List || binding->init->kind == ExprKind::Tuple ||
              binding->init->kind == ExprKind::Comprehension);
    }
    if (auto *member = dynAs<MemberExpr>(&base); member && !member->decl) {
      auto *owner = dynAs<NameExpr>(member->base.get());
      if (!owner || !owner->decl || !frame_->names.contains(owner->decl))
        return false;
      auto *instance = frame_->names[owner->decl].get<InstancePtr>();
      if (!instance)
        return false;
      for (const auto &[decl, part] : (*instance)->parts)
        if (decl->name == member->member)
          return part.is<SequencePtr>();
    }
    return false;
  };
  return NeedsConstant(*stmt.pattern, isList).stmts(stmt.body.stmts);
}

} // namespace pdg
