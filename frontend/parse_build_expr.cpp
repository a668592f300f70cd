// Builds expressions from parse trees.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/parse_internal.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include <cmath>

namespace pdg {

using P = PdgParser;

/// The operand with which an operator, call, member or index starts; null if it starts otherwise.
static P::ExprContext *leftOperand(P::ExprContext *context) {
  return dynamic_cast<P::ExprContext *>(context->children.front());
}

/// What a part of an expression becomes that is not worth building: its error was reported.
static ExprPtr placeholder(Span span) {
  auto result = std::make_unique<IntExpr>();
  result->span = span;
  return result;
}

static bool isComparison(const Expr &expr) {
  auto *binary = dynAs<BinaryExpr>(&expr);
  return binary && binary->op >= BinaryOp::Eq && binary->op <= BinaryOp::Ge;
}

/// Long sums nest to the left: this walks down their left side with a loop, not recursively.
ExprPtr Builder::expr(P::ExprContext *context) {
  std::vector<P::ExprContext *> spine;
  while (P::ExprContext *left = leftOperand(context)) {
    spine.push_back(context);
    context = left;
  }
  size_t outer = height_;
  height_ += spine.size() + 1;
  if (height_ > MaxExprHeight) {
    Span all = spine.empty() ? span(context) : span(spine.front());
    diagnostics_
        .report(DiagCode::PD0009, {all.file, all.begin, all.begin + 1},
                absl::StrCat("expected at most ", MaxExprHeight,
                             " operators on top of each other in one expression"))
        .withHint("give names to parts of the expression with 'let'");
    height_ = outer;
    return placeholder(all);
  }
  ExprPtr result;
  if (auto *sign = dynamic_cast<P::UnaryExprContext *>(context))
    result = unary(sign);
  else
    result = atom(static_cast<P::AtomExprContext *>(context)->atom());
  for (size_t i = spine.size(); i-- > 0;) {
    --height_;
    result = extend(spine[i], std::move(result));
  }
  height_ = outer;
  return result;
}

/// Puts a binary operator, call, member or index around its left operand.
ExprPtr Builder::extend(P::ExprContext *context, ExprPtr left) {
  ExprPtr result;
  if (auto *operation = dynamic_cast<P::BinaryExprContext *>(context)) {
    result = binary(operation, std::move(left));
  } else if (auto *call = dynamic_cast<P::CallExprContext *>(context)) {
    auto node = std::make_unique<CallExpr>();
    node->callee = std::move(left);
    if (call->arguments())
      node->args = arguments(call->arguments());
    result = std::move(node);
  } else if (auto *member = dynamic_cast<P::MemberExprContext *>(context)) {
    auto node = std::make_unique<MemberExpr>();
    node->base = std::move(left);
    node->member = member->name()->getText();
    node->memberSpan = span(member->name());
    result = std::move(node);
  } else {
    auto node = std::make_unique<IndexExpr>();
    node->base = std::move(left);
    for (P::IndexContext *each : static_cast<P::IndexExprContext *>(context)->index())
      node->indices.push_back(index(each));
    result = std::move(node);
  }
  result->span = span(context);
  return result;
}

static BinaryOp binaryOp(size_t type) {
  switch (type) {
  case P::PLUS:
    return BinaryOp::Add;
  case P::MINUS:
    return BinaryOp::Sub;
  case P::STAR:
    return BinaryOp::Mul;
  case P::SLASH:
    return BinaryOp::Div;
  case P::FLOOR_DIV:
    return BinaryOp::FloorDiv;
  case P::PERCENT:
    return BinaryOp::Mod;
  case P::POWER:
    return BinaryOp::Pow;
  case P::EQ:
    return BinaryOp::Eq;
  case P::NE:
    return BinaryOp::Ne;
  case P::LT:
    return BinaryOp::Lt;
  case P::LE:
    return BinaryOp::Le;
  case P::GT:
    return BinaryOp::Gt;
  case P::GE:
    return BinaryOp::Ge;
  case P::AND:
    return BinaryOp::And;
  default:
    return BinaryOp::Or;
  }
}

ExprPtr Builder::binary(P::BinaryExprContext *context, ExprPtr left) {
  auto node = std::make_unique<BinaryExpr>();
  node->op = binaryOp(context->op->getType());
  node->opSpan = span(context->op);
  node->rhs = expr(context->expr(1));
  node->lhs = std::move(left);
  // A comparison in parentheses is a value like any other; its span leaves out the parenthesis.
  bool isBare = leftOperand(context) && !dynamic_cast<P::AtomExprContext *>(leftOperand(context));
  if (isComparison(*node) && isBare && isComparison(*node->lhs))
    diagnostics_
        .report(
            DiagCode::PD0028, node->opSpan,
            absl::StrCat("expected one comparison, found a second one, '", spelling(node->op), "'"))
        .withSecondary(as<BinaryExpr>(*node->lhs).opSpan, "the first comparison")
        .withHint("write a < b and b < c");
  return node;
}

ExprPtr Builder::unary(P::UnaryExprContext *context) {
  Span all = span(context);
  size_t type = context->op->getType();
  // The sign belongs to the number, so that the least integer can be written.
  if (auto *operand = dynamic_cast<P::AtomExprContext *>(context->expr());
      operand && type == P::MINUS)
    if (operand->atom()->INT() || operand->atom()->FLOAT())
      return number(operand->start, true, all);
  auto node = std::make_unique<UnaryExpr>();
  node->span = all;
  node->op = type == P::MINUS ? UnaryOp::Neg : type == P::PLUS ? UnaryOp::Pos : UnaryOp::Not;
  node->operand = expr(context->expr());
  return node;
}

ExprPtr Builder::number(antlr4::Token *token, bool isNegative, Span all) {
  std::string digits = absl::StrReplaceAll(token->getText(), {{"_", ""}});
  if (isNegative)
    digits.insert(0, "-");
  if (token->getType() == P::INT) {
    auto node = std::make_unique<IntExpr>();
    node->span = all;
    if (!absl::SimpleAtoi(digits, &node->value)) {
      node->value = 0;
      diagnostics_.report(DiagCode::PD0008, all, "expected a whole number that fits in 64 bits")
          .withLabel("too large")
          .withNote("the largest one is 9223372036854775807");
    }
    return node;
  }
  auto node = std::make_unique<FloatExpr>();
  node->span = all;
  if (!absl::SimpleAtod(digits, &node->value) || std::isinf(node->value)) {
    node->value = 0;
    diagnostics_.report(DiagCode::PD0008, all, "expected a number that fits in 64 bits")
        .withLabel("too large")
        .withNote("the largest one is about 1.8e308");
  }
  return node;
}

ExprPtr Builder::atom(P::AtomContext *context) {
  Span all = span(context);
  if (P::NameContext *name = context->name()) {
    auto node = std::make_unique<NameExpr>();
    node->span = all;
    node->name = name->getText();
    return node;
  }
  if (context->INT() || context->FLOAT())
    return number(context->start, false, all);
  if (context->TRUE() || context->FALSE()) {
    auto node = std::make_unique<BoolExpr>();
    node->span = all;
    node->value = context->TRUE() != nullptr;
    return node;
  }
  if (context->STRING()) {
    auto node = std::make_unique<StringExpr>();
    node->span = all;
    node->value = decodeString(insideQuotes(all));
    return node;
  }
  if (context->tuple())
    return tuple(context->tuple());
  if (context->list())
    return list(context->list());
  return ifExpr(context->ifExpr());
}

/// A parenthesis around one value is that value.
ExprPtr Builder::tuple(P::TupleContext *context) {
  if (context->COMMA().empty())
    return expr(context->expr(0));
  auto node = std::make_unique<TupleExpr>();
  node->span = span(context);
  for (P::ExprContext *each : context->expr())
    node->elements.push_back(expr(each));
  return node;
}

ExprPtr Builder::list(P::ListContext *context) {
  Span all = span(context);
  if (context->FOR()) {
    auto node = std::make_unique<ComprehensionExpr>();
    node->span = all;
    node->element = expr(context->expr(0));
    node->pattern = pattern(context->pattern(), DeclKind::Loop, nullptr);
    node->iterable = iterable(context->iterable());
    return node;
  }
  auto node = std::make_unique<ListExpr>();
  node->span = all;
  for (P::ExprContext *each : context->expr())
    node->elements.push_back(expr(each));
  return node;
}

IfArm Builder::ifArm(P::IfArmContext *context) {
  IfArm result;
  result.span = span(context);
  result.condition = expr(context->expr());
  result.body = body(context->body());
  return result;
}

ExprPtr Builder::ifExpr(P::IfExprContext *context) {
  auto node = std::make_unique<IfExpr>();
  node->span = span(context);
  for (P::IfArmContext *each : context->ifArm())
    node->arms.push_back(ifArm(each));
  if (context->body())
    node->elseBody = body(context->body());
  return node;
}

ExprPtr Builder::range(ExprPtr lo, ExprPtr hi, bool isInclusive, Span all) {
  auto node = std::make_unique<RangeExpr>();
  node->span = all;
  node->lo = std::move(lo);
  node->hi = std::move(hi);
  node->isInclusive = isInclusive;
  return node;
}

ExprPtr Builder::index(P::IndexContext *context) {
  bool isInclusive = context->RANGE_INCLUSIVE() != nullptr;
  if (!context->COLON() && !context->RANGE() && !isInclusive)
    return expr(context->expr(0));
  auto exprs = context->expr();
  ExprPtr lo, hi;
  bool hasLo = !exprs.empty() && exprs.front()->start == context->start;
  if (hasLo)
    lo = expr(exprs.front());
  if (exprs.size() > (hasLo ? 1 : 0))
    hi = expr(exprs.back());
  return range(std::move(lo), std::move(hi), isInclusive, span(context));
}

ExprPtr Builder::iterable(P::IterableContext *context) {
  bool isInclusive = context->RANGE_INCLUSIVE() != nullptr;
  if (!context->RANGE() && !isInclusive)
    return expr(context->expr(0));
  ExprPtr lo = expr(context->expr(0));
  return range(std::move(lo), expr(context->expr(1)), isInclusive, span(context));
}

std::vector<CallArg> Builder::arguments(P::ArgumentsContext *context) {
  std::vector<CallArg> result;
  absl::flat_hash_set<std::string> names;
  for (P::ArgumentContext *each : context->argument()) {
    CallArg arg;
    arg.span = span(each);
    if (each->name()) {
      arg.name = each->name()->getText();
      arg.nameSpan = span(each->name());
    }
    arg.value = expr(each->expr());
    if (arg.name.empty() && !names.empty())
      diagnostics_
          .report(DiagCode::PD0031, arg.span,
                  "expected 'name: value', found a value without a name")
          .withSecondary(result.back().span, "arguments by name start here or before")
          .withHint("arguments by position come first");
    if (!arg.name.empty() && !names.insert(arg.name).second)
      diagnostics_.report(DiagCode::PD0031, arg.nameSpan,
                          absl::StrCat("the argument '", arg.name, "' is given twice"));
    result.push_back(std::move(arg));
  }
  return result;
}

} // namespace pdg
