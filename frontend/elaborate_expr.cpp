// Expressions: names, members, sequences, and `if` as a value.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ast_walk.h"
#include "frontend/builtins.h"
#include "frontend/elaborator.h"
#include "frontend/foreign.h"
#include "frontend/names.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

using namespace mlir;

namespace pdg {

Datum Elaborator::eval(const Expr &expr) {
  if (isAborted_)
    return Poison();
  switch (expr.kind) {
  case ExprKind::Int:
    return as<IntExpr>(expr).value;
  case ExprKind::Float:
    return as<FloatExpr>(expr).value;
  case ExprKind::Bool:
    return as<BoolExpr>(expr).value;
  case ExprKind::String:
    return as<StringExpr>(expr).value;
  case ExprKind::Name:
    return evalName(as<NameExpr>(expr));
  case ExprKind::Member:
    return evalMember(as<MemberExpr>(expr));
  case ExprKind::Call:
    return call(as<CallExpr>(expr));
  case ExprKind::Index:
    return index(as<IndexExpr>(expr));
  case ExprKind::Unary:
    return unary(as<UnaryExpr>(expr).op, evalOperand(*as<UnaryExpr>(expr).operand), expr.span);
  case ExprKind::Binary: {
    auto &node = as<BinaryExpr>(expr);
    if (node.op == BinaryOp::And || node.op == BinaryOp::Or)
      return logical(node.op, node);
    Operand x = evalOperand(*node.lhs);
    if (mayAct(*node.rhs)) // variables are read from left to right
      x.value = readAll(x.value, x.span);
    return binary(node.op, x, evalOperand(*node.rhs), expr.span);
  }
  case ExprKind::List:
    return evalSequence(as<ListExpr>(expr).elements, /*isTuple=*/false);
  case ExprKind::Tuple:
    return evalSequence(as<TupleExpr>(expr).elements, /*isTuple=*/true);
  case ExprKind::Comprehension:
    return evalComprehension(as<ComprehensionExpr>(expr));
  case ExprKind::Range:
    return evalRange(as<RangeExpr>(expr));
  case ExprKind::If:
    return evalIf(as<IfExpr>(expr), 0, /*wantsValue=*/true);
  }
  llvm_unreachable("all kinds are handled");
}

Datum Elaborator::evalName(const NameExpr &expr) {
  if (expr.decl)
    return lookup(*expr.decl, expr.span);
  if (auto type = parseDType(expr.name))
    return *type;
  if (const Builtin *builtin = findBuiltin(expr.name))
    return builtin;
  if (expr.isBuiltin)
    emit.error(DiagCode::PD0106, expr.span,
               absl::StrCat("'", expr.name, "' can only stand after 'shuffle:' of a data source"));
  return Poison(); // else resolution reported it
}

Datum Elaborator::evalMember(const MemberExpr &expr) {
  if (expr.decl) {
    Datum value = lookup(*expr.decl, expr.span);
    if (auto *block = value.get<BlockPtr>()) {
      auto named = std::make_shared<BlockValue>(**block);
      if (auto *module = dynAs<NameExpr>(expr.base.get()))
        named->name = absl::StrCat(module->name, ".", expr.member);
      return BlockPtr(named);
    }
    return value;
  }
  if (!expr.builtin.empty()) {
    if (const Builtin *builtin = findBuiltin(expr.builtin))
      return builtin;
    emit.error(DiagCode::PD0106, expr.span,
               absl::StrCat("'", expr.builtin, "' can only stand after 'data name ='"));
    return Poison();
  }
  if (auto *base = dynAs<NameExpr>(expr.base.get());
      base && base->decl && base->decl->kind == DeclKind::Import)
    return Poison(); // resolution reported it
  Datum base = eval(*expr.base);
  if (base.isPoison())
    return Poison();
  if (auto *instance = base.get<InstancePtr>())
    return member(*instance, expr);
  if (auto *source = base.get<const Source *>(); source && expr.member == "size")
    return sourceSize(**source, expr.span);
  if (auto *source = base.get<const Source *>(); source && expr.member == "batches")
    return sourceBatches(**source, expr.span);
  Diagnostic &diagnostic =
      emit.error(DiagCode::PD0110, expr.memberSpan,
                 absl::StrCat(describe(base), " has no member '", expr.member, "'"));
  if (base.is<const Source *>())
    diagnostic.withHint("a data source has 'size', the number of its examples, and "
                        "'batches', that of its batches");
  else if (findBuiltin(expr.member))
    diagnostic.withHint(absl::StrCat("it is a function: write ", expr.member, "(x)"));
  else if (base.is<BlockPtr>())
    diagnostic.withHint("an instance has members; make one: use name = block(...)");
  else
    diagnostic.withHint(hintForForeignMember(expr.member));
  return Poison();
}

Datum Elaborator::member(const InstancePtr &instance, const MemberExpr &expr) {
  std::vector<std::string> names;
  for (const auto &[decl, variable] : instance->variables) {
    if (decl->name == expr.member)
      return variable;
    names.push_back(decl->name);
  }
  for (const auto &[decl, part] : instance->parts) {
    if (decl->name == expr.member)
      return part;
    names.push_back(decl->name);
  }
  // What would have applied it may have been left out for an error.
  if (!instance->isApplied && diagnostics_.errorCount() > 0)
    return Poison();
  Diagnostic &diagnostic =
      emit.error(DiagCode::PD0110, expr.memberSpan,
                 absl::StrCat("the instance '", instance->path, "' has no '", expr.member, "'"));
  if (!instance->isApplied)
    diagnostic.withNote("it has not been applied yet; its variables exist from then on");
  else if (!names.empty())
    diagnostic.withNote(absl::StrCat("it has ", absl::StrJoin(names, ", ")));
  if (std::string nearest = findNearest(expr.member, names); !nearest.empty())
    diagnostic.withHint(absl::StrCat("did you mean '", nearest, "'?"));
  else
    diagnostic.withHint(hintForForeignMember(expr.member));
  return Poison();
}

//===- Sequences -----------------------------------------------------------===//

Datum Elaborator::evalSequence(const std::vector<ExprPtr> &elements, bool isTuple) {
  auto sequence = std::make_shared<Sequence>();
  sequence->isTuple = isTuple;
  for (const ExprPtr &element : elements) {
    sequence->elements.push_back(eval(*element));
    if (sequence->elements.back().isPoison())
      return Poison();
  }
  constexpr size_t MaxCount = 100'000; // of sequences that contain each other
  if (sequence->count() > MaxCount) {
    emit.error(DiagCode::PD0109, elements.front()->span, "the list has too many elements");
    return Poison();
  }
  return SequencePtr(sequence);
}

/// The values that a list, or a range with known ends, goes through; nothing after an error.
std::optional<std::vector<Datum>> Elaborator::iterate(const Expr &expr) {
  if (auto *range = dynAs<RangeExpr>(&expr)) {
    Datum list = evalRange(*range);
    auto *sequence = list.get<SequencePtr>();
    return sequence ? std::optional((*sequence)->elements) : std::nullopt;
  }
  Datum value = eval(expr);
  if (auto *sequence = value.get<SequencePtr>())
    return (*sequence)->elements;
  if (!value.isPoison())
    typeError(expr.span, "a range, a list or a data source", value);
  return std::nullopt;
}

Datum Elaborator::evalRange(const RangeExpr &range) {
  auto lower = constantInt(evalOperand(*range.lo), "the begin of this range");
  auto upper = constantInt(evalOperand(*range.hi), "the end of this range");
  if (!lower || !upper)
    return Poison();
  auto sequence = std::make_shared<Sequence>();
  for (int64_t i = *lower; range.isInclusive ? i <= *upper : i < *upper; ++i) {
    if (isTooLarge(range.span))
      return Poison();
    sequence->elements.push_back(i);
    if (i == INT64_MAX)
      break;
  }
  return SequencePtr(sequence);
}

Datum Elaborator::evalComprehension(const ComprehensionExpr &expr) {
  auto items = iterate(*expr.iterable);
  if (!items)
    return Poison();
  auto result = std::make_shared<Sequence>();
  for (const Datum &item : *items) {
    if (isTooLarge(expr.span))
      return Poison();
    define(*expr.pattern, {item, expr.iterable->span});
    result->elements.push_back(readAll(eval(*expr.element), expr.element->span));
    if (result->elements.back().isPoison())
      return Poison();
  }
  return SequencePtr(result);
}

} // namespace pdg
