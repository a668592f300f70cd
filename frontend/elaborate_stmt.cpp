// Statements, except those with a file of their own.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborator.h"
#include "ir/ops/variable.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

void Elaborator::exec(ArrayRef<StmtPtr> stmts) {
  for (auto [i, stmt] : llvm::enumerate(stmts)) {
    if (isAborted_ || frame_->hasReturned)
      return;
    if (auto *runs = round_.runs.get<Value>())
      return execRest(*runs, stmts, i);
    if (!constantBool(round_.runs).value_or(false))
      return;
    exec(*stmt);
  }
}

void Elaborator::exec(const Stmt &stmt) {
  if (stmt.hints.empty())
    execPlain(stmt);
  else
    execHinted(stmt);
}

void Elaborator::execPlain(const Stmt &stmt) {
  switch (stmt.kind) {
  case StmtKind::Import:
  case StmtKind::Block:
    return;
  case StmtKind::Use:
    return execUse(as<UseStmt>(stmt));
  case StmtKind::Decl:
    return execDecl(as<DeclStmt>(stmt));
  case StmtKind::Assign:
    return execAssign(as<AssignStmt>(stmt));
  case StmtKind::Expr: {
    const Expr &expr = *as<ExprStmt>(stmt).expr;
    if (auto *choice = dynAs<IfExpr>(&expr))
      evalIf(*choice, 0, /*wantsValue=*/false);
    else
      eval(expr);
    return;
  }
  case StmtKind::For:
    return execFor(as<ForStmt>(stmt));
  case StmtKind::While:
    return execWhile(as<WhileStmt>(stmt));
  case StmtKind::Break:
  case StmtKind::Continue:
    return execJump(stmt);
  case StmtKind::Return:
    return execReturn(as<ReturnStmt>(stmt));
  case StmtKind::Minimize:
    return execMinimize(as<MinimizeStmt>(stmt));
  case StmtKind::Update:
    return execUpdate(as<UpdateStmt>(stmt));
  case StmtKind::Print:
    return execPrint(as<PrintStmt>(stmt));
  case StmtKind::Eval:
    return execEval(as<EvalStmt>(stmt));
  case StmtKind::Assert:
    return execAssert(as<AssertStmt>(stmt));
  }
}

void Elaborator::execDecl(const DeclStmt &stmt) {
  switch (stmt.declKind) {
  case DeclKind::Param:
  case DeclKind::State:
    return execVariable(stmt);
  case DeclKind::Const:
    return execConst(stmt);
  case DeclKind::Input:
    return execInput(stmt);
  case DeclKind::Data:
    return execData(stmt);
  default:
    return execBinding(stmt);
  }
}

/// `let` and `var`: numbers of a `let` stay known when compiling, those of a `var` become tensors.
void Elaborator::execBinding(const DeclStmt &stmt) {
  Operand value = evalOperand(*stmt.init);
  value.value = readAll(value.value, value.span);
  if (value.value.isPoison())
    return definePoison(*stmt.pattern);
  if (value.value.is<Nothing>()) {
    typeError(value.span, "a value", value.value);
    return definePoison(*stmt.pattern);
  }
  if (stmt.type) {
    auto dtype = elementType(*stmt.type, std::nullopt);
    Value tensor = dtype ? tensorOf(value, *dtype) : this->tensor(value);
    if (tensor && !value.value.is<Value>() && !stmt.type->dims.empty()) {
      auto sizes = std::make_shared<Sequence>();
      for (const ExprPtr &dim : stmt.type->dims)
        sizes->elements.push_back(eval(*dim));
      auto shape = this->shape({SequencePtr(sizes), stmt.type->span});
      tensor = shape ? emit.broadcast(tensor, *shape, value.span) : Value();
    }
    if (tensor && bindType(*stmt.type, tensor, value.span))
      tensor = checkType(*stmt.type, tensor, value.span,
                         stmt.pattern->isName() ? absl::StrCat("'", stmt.decl().name, "'")
                                                : "this value");
    value.value = tensor ? Datum(tensor) : Datum(Poison());
  }
  bool isScalar = value.value.isNumber() || value.value.is<bool>();
  if (stmt.declKind == DeclKind::Var && isScalar)
    value.value = tensor(value);
  define(*stmt.pattern, value);
}

//===- Assignment ----------------------------------------------------------===//

void Elaborator::execAssign(const AssignStmt &stmt) {
  Operand value = evalOperand(*stmt.value);
  value.value = readAll(value.value, value.span);
  auto *name = dynAs<NameExpr>(stmt.target.get());
  if (name && name->decl && name->decl->kind == DeclKind::Var)
    return assignVar(*name->decl, value, stmt.span);
  Datum target = eval(*stmt.target);
  if (target.isPoison() || value.value.isPoison())
    return;
  auto *variable = target.get<Variable *>();
  if (!variable) {
    typeError(stmt.target->span, "a var or a state to assign to", target);
    return;
  }
  if (!name && (*variable)->isParam) {
    emit.error(DiagCode::PD0043, stmt.target->span,
               absl::StrCat("cannot assign to the param '", (*variable)->name.str(), "' here"))
        .withHint("a param is changed by 'minimize' and 'update': update p by value with set(), "
                  "where block set(p: param, value) { p = value }");
    return;
  }
  assignVariable(*variable, value, stmt.span);
}

void Elaborator::assignVar(const Decl &decl, const Operand &value, Span span) {
  Datum &old = frame_->names[&decl];
  auto *before = old.get<Value>();
  if (value.value.isPoison() || !before) {
    old = value.value;
    return;
  }
  DType dtype = Emitter::dtypeOf(*before);
  Value tensor = tensorOf(value, dtype);
  // A number fills the shape that the var has.
  if (tensor && !value.value.is<Value>() && Emitter::rankOf(*before) > 0)
    tensor = emit.broadcast(tensor, emit.shapeOf(*before, span), span);
  old = tensor ? Datum(tensor) : Datum(Poison());
}

void Elaborator::assignVariable(Variable *variable, const Operand &value, Span span) {
  Value tensor =
      tensorOf(value, variable->type, absl::StrCat("'", std::string(variable->name.str()), "'"));
  if (tensor)
    AssignOp::create(emit.b, emit.loc(span), variable->name, tensor);
}

//===- Return --------------------------------------------------------------===//

void Elaborator::execReturn(const ReturnStmt &stmt) {
  if (regionDepth_ != frame_->regionDepth) {
    emit.error(DiagCode::PD0125, stmt.span,
               "expected 'return' outside of loops and of conditions that only the run knows")
        .withHint("choose the value instead: return if c { a } else { b }");
    frame_->result = Poison();
    frame_->hasReturned = true;
    return;
  }
  Datum value = stmt.value ? readAll(eval(*stmt.value), stmt.value->span) : Datum();
  if (frame_->block && !value.isPoison())
    value = checkResults(*frame_->block, value, stmt.value ? stmt.value->span : stmt.span);
  frame_->result = value;
  frame_->hasReturned = true;
}

Datum Elaborator::checkResults(const BlockStmt &block, Datum result, Span span) {
  if (!block.hasResults)
    return result;
  std::vector<Datum> values{result};
  auto *sequence = result.get<SequencePtr>();
  if (sequence && block.isTupleResult)
    values = (*sequence)->elements;
  if (values.size() != block.results.size() || result.is<Nothing>()) {
    emit.error(DiagCode::PD0122, span,
               absl::StrCat("expected ", block.results.size(), " results, found ",
                            result.is<Nothing>() ? "none" : absl::StrCat(values.size())))
        .withSecondary(block.results.front().span, "declared here");
    return Poison();
  }
  auto checked = std::make_shared<Sequence>();
  checked->isTuple = true;
  for (size_t i = 0; i < values.size(); ++i) {
    const TypeSyntax &type = block.results[i];
    auto dtype = elementType(type, std::nullopt);
    Operand operand{values[i], span};
    Value tensor = dtype ? tensorOf(operand, *dtype) : this->tensor(operand);
    if (tensor && bindType(type, tensor, span))
      tensor = checkType(type, tensor, span, "the result");
    if (!tensor)
      return Poison();
    checked->elements.push_back(tensor);
  }
  return block.isTupleResult ? Datum(SequencePtr(checked)) : checked->elements.front();
}

} // namespace pdg
