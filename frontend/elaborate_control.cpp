// if: decided, or left to the run; which vars statements assign.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ast_walk.h"
#include "frontend/elaborator.h"
#include "ir/ops/control.h"
#include "ir/ops/elementwise_unary.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

//===- Assigned variables --------------------------------------------------===//

namespace {

/// Collects the `var`s that statements assign and do not declare, in order of the first assignment.
struct AssignedVars {
  std::vector<const Decl *> vars;
  std::set<const Decl *> declared;

  void stmts(ArrayRef<StmtPtr> list) {
    for (const StmtPtr &each : list)
      stmt(*each);
  }

  void stmt(const Stmt &each) {
    if (auto *assign = dynAs<AssignStmt>(&each)) {
      auto *name = dynAs<NameExpr>(assign->target.get());
      if (name && name->decl && name->decl->kind == DeclKind::Var &&
          !declared.contains(name->decl) && !llvm::is_contained(vars, name->decl))
        vars.push_back(name->decl);
    }
    forEachExpr(each, [&](const Expr *part) { expr(part); });
    if (auto *loop = dynAs<ForStmt>(&each))
      stmts(loop->body.stmts);
    else if (auto *loop = dynAs<WhileStmt>(&each))
      stmts(loop->body.stmts);
    else
      declare(each);
  }

  void declare(const Stmt &each) {
    if (auto *binding = dynAs<DeclStmt>(&each))
      declare(*binding->pattern);
  }

  void declare(const Pattern &pattern) {
    if (pattern.isName())
      declared.insert(&pattern.decl);
    for (const PatternPtr &element : pattern.elements)
      declare(*element);
  }

  void expr(const Expr *each) {
    if (!each)
      return;
    forEachOperand(*each, [&](const Expr *operand) { expr(operand); });
    auto *choice = dynAs<IfExpr>(each);
    if (!choice)
      return;
    for (const IfArm &arm : choice->arms) {
      expr(arm.condition.get());
      stmts(arm.body.stmts);
    }
    if (choice->elseBody)
      stmts(choice->elseBody->stmts);
  }
};

} // namespace

/// Those that exist before the statements from the `from`-th on, but for those of the same list,
/// which end with it: their values leave the statements.
std::vector<const Decl *> Elaborator::assignedVars(ArrayRef<StmtPtr> stmts, size_t from) {
  AssignedVars assigned;
  for (const StmtPtr &each : stmts.take_front(from))
    assigned.declare(*each);
  assigned.stmts(stmts.drop_front(from));
  std::erase_if(assigned.vars, [&](const Decl *decl) { return !frame_->names.contains(decl); });
  return assigned.vars;
}

/// Those that exist before `stmt` and that it assigns.
std::vector<const Decl *> Elaborator::assignedVars(const Stmt &stmt) {
  AssignedVars assigned;
  assigned.stmt(stmt);
  std::erase_if(assigned.vars, [&](const Decl *decl) { return !frame_->names.contains(decl); });
  return assigned.vars;
}

/// Finds a `return` in statements, not in the blocks among them.
static bool returns(const std::vector<StmtPtr> &stmts) {
  return llvm::any_of(stmts, [](const StmtPtr &each) {
    if (each->kind == StmtKind::Return)
      return true;
    auto *plain = dynAs<ExprStmt>(each.get());
    auto *choice = plain ? dynAs<IfExpr>(plain->expr.get()) : nullptr;
    if (!choice)
      return false;
    return llvm::any_of(choice->arms, [](const IfArm &arm) { return returns(arm.body.stmts); }) ||
           (choice->elseBody && returns(choice->elseBody->stmts));
  });
}

/// What an `if` changes is not known when its condition is not: later errors would be about values
/// that never were.
void Elaborator::skip(const IfExpr &expr) {
  AssignedVars assigned;
  assigned.expr(&expr);
  for (const Decl *decl : assigned.vars)
    if (frame_->names.contains(decl))
      frame_->names[decl] = Poison();
  bool mayReturn = expr.elseBody && returns(expr.elseBody->stmts);
  for (const IfArm &arm : expr.arms)
    mayReturn |= returns(arm.body.stmts);
  if (mayReturn && frame_->block) {
    frame_->hasReturned = true;
    frame_->result = Poison();
  }
}

/// The same for a loop whose rounds are not known.
void Elaborator::skip(const Stmt &loop) {
  for (const Decl *decl : assignedVars(loop))
    frame_->names[decl] = Poison();
}

//===- if ------------------------------------------------------------------===//

Datum Elaborator::evalBody(const Body &body, bool wantsValue) {
  if (!wantsValue) {
    exec(body.stmts);
    return {};
  }
  exec(ArrayRef(body.stmts).drop_back(body.stmts.empty() ? 0 : 1));
  if (!constantBool(round_.runs).value_or(false)) {
    emit.error(DiagCode::PD0112, body.span,
               "expected a value from this body, found one that may leave the loop before")
        .withHint("leave the loop in an 'if' statement before this expression");
    round_ = Round();
    return Poison();
  }
  auto *last = body.stmts.empty() ? nullptr : dynAs<ExprStmt>(body.stmts.back().get());
  if (last)
    return readAll(eval(*last->expr), last->expr->span);
  emit.error(DiagCode::PD0112, body.span, "expected a value at the end of this body");
  return Poison();
}

Datum Elaborator::evalIf(const IfExpr &expr, size_t arm, bool wantsValue) {
  if (arm == expr.arms.size()) {
    if (expr.elseBody)
      return evalBody(*expr.elseBody, wantsValue);
    if (!wantsValue)
      return {};
    emit.error(DiagCode::PD0112, expr.span, "an 'if' that gives a value needs an 'else'");
    return Poison();
  }
  Operand condition = evalOperand(*expr.arms[arm].condition);
  if (condition.value.isPoison()) {
    skip(expr);
    return Poison();
  }
  if (auto known = constantBool(condition.value))
    return *known ? evalBody(expr.arms[arm].body, wantsValue) : evalIf(expr, arm + 1, wantsValue);
  Value value = condition.value.isNumber() ? Value() : tensor(condition);
  if (value && isConditionTensor(value.getType()))
    return runIf(expr, arm, value, wantsValue);
  bool isBool = value && Emitter::dtypeOf(value) == DType::Bool;
  if (value || condition.value.isNumber())
    typeError(condition.span, "a scalar bool as a condition", condition.value)
        .withHint(isBool ? "ask one question: count(c) > 0; where(c, a, b) chooses each element"
                         : "compare it: x > 0");
  return Poison();
}

/// Makes the values of two branches tensors of one type, each in its own region.
namespace {
struct Branches {
  Elaborator &elaborator;
  Block *blocks[2];
  Span span;
  SmallVector<Value> yields[2];
  bool isBroken = false;

  /// Merges a value; gives its form with the number of each tensor in `yields`.
  Datum merge(const Datum &first, const Datum &second, const std::string &what);
  Datum mergeLeaf(const Datum &first, const Datum &second, const std::string &what);
  /// Merges bools, of which most say what `condition` says.
  Datum mergeFlag(const Datum &first, const Datum &second, Value condition);
};
} // namespace

Datum Branches::merge(const Datum &first, const Datum &second, const std::string &what) {
  if (first.isPoison() || second.isPoison())
    return Poison();
  auto *a = first.get<SequencePtr>(), *b = second.get<SequencePtr>();
  if (!a || !b || (*a)->elements.size() != (*b)->elements.size())
    return mergeLeaf(first, second, what);
  auto result = std::make_shared<Sequence>();
  result->isTuple = (*a)->isTuple;
  for (size_t i = 0; i < (*a)->elements.size(); ++i)
    result->elements.push_back(merge((*a)->elements[i], (*b)->elements[i], what));
  return SequencePtr(result);
}

Datum Branches::mergeLeaf(const Datum &first, const Datum &second, const std::string &what) {
  Emitter &emit = elaborator.emit;
  Operand operands[] = {{first, span}, {second, span}};
  for (Operand &operand : operands)
    if (!operand.value.is<Value>() && !operand.value.isNumber() && !operand.value.is<bool>()) {
      emit.error(DiagCode::PD0112, span,
                 absl::StrCat("expected tensors for ", what, " in both branches, found ",
                              elaborator.describe(first), " and ", elaborator.describe(second)))
          .withNote("only the run knows the condition");
      isBroken = true;
      return Poison();
    }
  auto type = elaborator.commonType(operands, /*isDivision=*/false, span);
  if (!type) {
    isBroken = true;
    return Poison();
  }
  Value values[2];
  for (int i : {0, 1}) {
    emit.b.setInsertionPointToEnd(blocks[i]);
    values[i] = elaborator.tensorOf(operands[i], *type);
  }
  if (!values[0] || !values[1]) {
    isBroken = true;
    return Poison();
  }
  // A number takes the shape of the other branch where that is known outside of the branch.
  for (int i : {0, 1})
    if (operands[i].value.isConstant() && Emitter::typeOf(values[1 - i]).hasStaticShape()) {
      emit.b.setInsertionPointToEnd(blocks[i]);
      values[i] = emit.broadcast(values[i], emit.shapeOf(values[1 - i], span), span);
    }
  if (values[0].getType() != values[1].getType() ||
      emit.shapes.dimsOf(values[0]) != emit.shapes.dimsOf(values[1])) {
    emit.error(DiagCode::PD0112, span,
               absl::StrCat("expected equal types for ", what, " in both branches, found ",
                            emit.typeText(values[0]), " and ", emit.typeText(values[1])))
        .withNote("only the run knows the condition");
    isBroken = true;
    return Poison();
  }
  yields[0].push_back(values[0]);
  yields[1].push_back(values[1]);
  return static_cast<int64_t>(yields[0].size() - 1);
}

/// Replaces the numbers of merged tensors by the results of the op.
static Datum resultsOf(const Datum &merged, Operation *op) {
  if (auto *index = merged.get<int64_t>())
    return Value(op->getResult(*index));
  auto *sequence = merged.get<SequencePtr>();
  if (!sequence)
    return merged;
  auto copy = std::make_shared<Sequence>(**sequence);
  for (Datum &element : copy->elements)
    element = resultsOf(element, op);
  return SequencePtr(copy);
}

Datum Branches::mergeFlag(const Datum &first, const Datum &second, Value condition) {
  auto *a = first.get<bool>(), *b = second.get<bool>();
  if (!a || !b)
    return mergeLeaf(first, second, "the end of a loop");
  if (*a == *b)
    return first;
  if (*a)
    return condition;
  OpBuilder::InsertionGuard guard(elaborator.emit.b);
  elaborator.emit.b.setInsertionPoint(blocks[0]->getParentOp());
  return elaborator.emit.make<NotOp>(span, condition);
}

/// True for equal bools.
static bool isSame(const Datum &x, const Datum &y) {
  auto *a = x.get<bool>(), *b = y.get<bool>();
  auto *v = x.get<Value>(), *w = y.get<Value>();
  return (a && b && *a == *b) || (v && w && *v == *w);
}

Datum Elaborator::runIf(const IfExpr &expr, size_t arm, Value condition, bool wantsValue) {
  AssignedVars assigned;
  assigned.expr(&expr);
  std::erase_if(assigned.vars, [&](const Decl *decl) { return !frame_->names.contains(decl); });
  return branch(
      condition, expr.arms[arm].span, assigned.vars, wantsValue,
      [&] { return evalBody(expr.arms[arm].body, wantsValue); },
      [&] { return evalIf(expr, arm + 1, wantsValue); });
}

bool Elaborator::isTooDeep(Span span) {
  constexpr int MaxDepth = 250; // what comes after is recursive
  if (regionDepth_ < MaxDepth)
    return isAborted_;
  if (!isAborted_)
    emit.error(DiagCode::PD0009, span,
               absl::StrCat("expected at most ", MaxDepth,
                            " loops and conditions of the run inside each other"))
        .withNote("what follows a 'break' or 'continue' of the run is inside of a condition");
  isAborted_ = true;
  return true;
}

Datum Elaborator::branch(Value condition, Span span, const std::vector<const Decl *> &vars,
                         bool wantsValue, Way then, Way otherwise) {
  if (isTooDeep(span))
    return Poison();
  std::vector<Datum> before;
  for (const Decl *decl : vars)
    before.push_back(frame_->names[decl]);
  Location location = emit.loc(span);
  // First without results: which they are is known when both branches are built.
  auto draft = IfOp::create(emit.b, location, TypeRange(), condition);
  OpBuilder::InsertionGuard guard(emit.b);
  Branches branches{*this,
                    {&draft.getThenRegion().emplaceBlock(), &draft.getElseRegion().emplaceBlock()},
                    span,
                    {},
                    false};
  Datum values[2];
  std::vector<Datum> after[2];
  Round rounds[2];
  ++regionDepth_;
  auto dims = frame_->dims; // those that a branch binds are not known behind it
  for (int way : {0, 1}) {
    emit.b.setInsertionPointToStart(branches.blocks[way]);
    round_ = Round();
    values[way] = way == 0 ? then() : otherwise();
    rounds[way] = round_;
    for (size_t i = 0; i < vars.size(); ++i) {
      after[way].push_back(frame_->names[vars[i]]);
      frame_->names[vars[i]] = before[i];
    }
    frame_->dims = dims;
  }
  --regionDepth_;
  Datum value = wantsValue ? branches.merge(values[0], values[1], "the value") : Datum();
  std::vector<Datum> merged;
  for (size_t i = 0; i < vars.size(); ++i)
    merged.push_back(branches.merge(after[0][i], after[1][i], "'" + vars[i]->name + "'"));
  Datum runs = branches.mergeFlag(rounds[0].runs, rounds[1].runs, condition);
  // Without `continue` both say the same.
  bool isOne =
      llvm::all_of(rounds, [](const Round &each) { return isSame(each.runs, each.goesOn); });
  Datum goesOn = isOne ? runs : branches.mergeFlag(rounds[0].goesOn, rounds[1].goesOn, condition);
  for (int way : {0, 1}) {
    emit.b.setInsertionPointToEnd(branches.blocks[way]);
    YieldOp::create(emit.b, location, branches.yields[way]);
  }
  emit.b.setInsertionPoint(draft);
  auto op = IfOp::create(emit.b, location, TypeRange(ValueRange(branches.yields[0])), condition);
  op.getThenRegion().takeBody(draft.getThenRegion());
  op.getElseRegion().takeBody(draft.getElseRegion());
  draft.erase();
  for (size_t i = 0; i < vars.size(); ++i)
    frame_->names[vars[i]] = resultsOf(merged[i], op);
  round_ = {resultsOf(runs, op), resultsOf(goesOn, op)};
  return branches.isBroken && wantsValue ? Datum(Poison()) : resultsOf(value, op);
}

} // namespace pdg
