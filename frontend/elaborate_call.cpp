// Calls: built-in functions, casts, blocks and instances. Arguments of blocks have a file of their
// own.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ast_walk.h"
#include "frontend/builtins.h"
#include "frontend/elaborator.h"
#include "frontend/foreign.h"

#include "absl/strings/str_cat.h"
#include <cmath>

using namespace mlir;

namespace pdg {

Datum Elaborator::call(const CallExpr &expr) {
  Datum callee = eval(*expr.callee);
  if (auto *builtin = callee.get<const Builtin *>())
    return callBuiltin(**builtin, expr);
  if (auto *type = callee.get<DType>())
    return callCast(*type, expr);
  if (auto *block = callee.get<BlockPtr>())
    return callBlock(*block, expr);
  if (auto *instance = callee.get<InstancePtr>())
    return callInstance(*instance, expr);
  if (!callee.isPoison())
    emit.error(DiagCode::PD0106, expr.callee->span,
               absl::StrCat("expected a function, a block or an instance before '(', found ",
                            describe(callee)));
  return Poison();
}

//===- Built-in functions --------------------------------------------------===//

/// True for functions of a tensor and a list of numbers.
static bool takesList(const std::vector<BuiltinParam> &params) {
  return params.size() == 2 && (params[1].name == "shape" || params[1].name == "axes");
}

/// A signature without question marks, for messages.
static std::string plainSignature(const Builtin &builtin) {
  std::string result = absl::StrCat(builtin.name, "(");
  for (const BuiltinParam &param : parseSignature(builtin.signature))
    absl::StrAppend(&result, result.ends_with("(") ? "" : ", ", param.name,
                    param.isOptional ? ": ..." : "");
  return result + ")";
}

/// Before an argument that may change variables: reads those that were given before, but for what a
/// gradient is taken of.
static void readBefore(Elaborator &elaborator, const Expr &next,
                       const std::vector<BuiltinParam> &params, std::vector<Operand> &args) {
  if (!mayAct(next))
    return;
  for (size_t i = 0; i < args.size(); ++i)
    if (params[i].name != "of")
      args[i].value = elaborator.readAll(args[i].value, args[i].span);
}

Datum Elaborator::callBuiltin(const Builtin &builtin, const CallExpr &expr) {
  std::vector<BuiltinParam> params = parseSignature(builtin.signature);
  std::vector<Operand> args(params.size(), {Nothing(), expr.span});
  auto wrong = [&](Span span, const std::string &message, const std::string &hint = "") {
    emit.error(DiagCode::PD0105, span, message)
        .withNote(absl::StrCat("its arguments are ", plainSignature(builtin)))
        .withHint(hint);
    return Poison();
  };
  std::vector<std::string> names;
  for (const BuiltinParam &param : params)
    names.push_back(param.name);
  size_t next = 0;
  bool isBroken = false;
  for (const CallArg &arg : expr.args) {
    size_t i = next;
    if (arg.name.empty()) {
      if (i >= params.size())
        return wrong(arg.span,
                     absl::StrCat("'", builtin.name, "' takes at most ", params.size(),
                                  params.size() == 1 ? " argument" : " arguments", ", found more"),
                     takesList(params)
                         ? absl::StrCat("several numbers are written as a list: ", builtin.name,
                                        "(x, [2, 3])")
                         : hintForSurplusArgument(builtin.name));
      ++next;
    } else {
      for (i = 0; i < params.size() && params[i].name != arg.name; ++i)
        ;
      if (i == params.size())
        return wrong(arg.nameSpan,
                     absl::StrCat("'", builtin.name, "' has no argument '", arg.name, "'"),
                     suggestArgument(arg.name, names));
    }
    if (!args[i].value.is<Nothing>())
      return wrong(arg.span, absl::StrCat("the argument '", params[i].name, "' is given twice"));
    readBefore(*this, *arg.value, params, args);
    args[i] = evalOperand(*arg.value);
    isBroken |= args[i].value.isPoison();
    if (args[i].value.is<Nothing>()) {
      typeError(args[i].span, "a value", args[i].value);
      isBroken = true;
    } else if (params[0].name == "shape" && params[i].name == "type" && args[i].value.isNumber()) {
      return wrong(args[i].span, "expected one list of sizes, found several numbers",
                   absl::StrCat("write ", builtin.name, "([2, 3])"));
    }
  }
  for (size_t i = 0; i < params.size(); ++i)
    if (args[i].value.is<Nothing>() && !params[i].isOptional && !isBroken)
      return wrong(expr.span,
                   absl::StrCat("'", builtin.name, "' lacks its argument '", params[i].name, "'"));
  if (isBroken)
    return Poison();
  BuiltinCall call(*this, builtin, std::move(args), expr.span);
  return builtin.build(call);
}

Datum Elaborator::callCast(DType dtype, const CallExpr &expr) {
  std::string name(nameOf(dtype));
  if (expr.args.size() != 1 || !expr.args[0].name.empty()) {
    emit.error(
        DiagCode::PD0105, expr.span,
        absl::StrCat("expected one argument for the cast '", name, "', found ", expr.args.size()));
    return Poison();
  }
  Operand x = evalOperand(*expr.args[0].value);
  if (auto *number = x.value.get<double>(); number && !isFloat(dtype) && dtype != DType::Bool) {
    if (!(std::abs(*number) < 9.2e18)) {
      emit.error(DiagCode::PD0121, x.span, absl::StrCat("the number does not fit into ", name));
      return Poison();
    }
    x.value = static_cast<int64_t>(*number);
  }
  if (x.value.isNumber() && dtype != DType::Bool)
    return result(numberConstant(x, dtype));
  Value value = tensor(x);
  return value ? result(emit.cast(value, dtype, expr.span)) : Datum(Poison());
}

//===- Blocks --------------------------------------------------------------===//

Datum Elaborator::partial(const Expr &expr) {
  auto *call = dynAs<CallExpr>(&expr);
  if (!call)
    return eval(expr);
  Datum callee = eval(*call->callee);
  auto *block = callee.get<BlockPtr>();
  if (!block)
    return callee.isPoison() ? Datum(Poison()) : eval(expr);
  auto result = std::make_shared<BlockValue>(**block);
  if (!bindCallArgs(*block, *call, /*isPartial=*/true, result->bound))
    return Poison();
  return BlockPtr(result);
}

Datum Elaborator::callBlock(const BlockPtr &block, const CallExpr &expr) {
  BoundArgs args = block->bound;
  if (!bindCallArgs(block, expr, /*isPartial=*/false, args))
    return Poison();
  return applyBound(block, std::move(args), nullptr, expr.span);
}

Datum Elaborator::callInstance(const InstancePtr &instance, const CallExpr &expr) {
  BoundArgs args = instance->block->bound;
  instance->isApplied = true;
  if (!bindCallArgs(instance->block, expr, /*isPartial=*/false, args))
    return Poison();
  return applyBound(instance->block, std::move(args), instance, expr.span);
}

Datum Elaborator::apply(const BlockPtr &block, const std::vector<Operand> &values,
                        InstancePtr instance, Span span) {
  BoundArgs args = block->bound;
  size_t next = 0;
  for (const auto &arg : block->block->args) {
    if (next < values.size() && !args.contains(&arg->decl))
      args[&arg->decl] = values[next++];
  }
  return applyBound(block, std::move(args), instance, span);
}

Datum Elaborator::applyCallable(const Operand &callee, const std::vector<Operand> &values,
                                Span span) {
  if (auto *block = callee.value.get<BlockPtr>())
    return apply(*block, values, nullptr, span);
  if (auto *instance = callee.value.get<InstancePtr>()) {
    (*instance)->isApplied = true;
    return apply((*instance)->block, values, *instance, span);
  }
  if (!callee.value.isPoison())
    typeError(callee.span, "a block", callee.value);
  return Poison();
}

bool needsInstance(const std::vector<StmtPtr> &stmts) {
  return llvm::any_of(stmts, [](const StmtPtr &each) {
    if (each->kind == StmtKind::Use)
      return true;
    if (auto *decl = dynAs<DeclStmt>(each.get()))
      return decl->declKind == DeclKind::Param || decl->declKind == DeclKind::State;
    if (auto *loop = dynAs<ForStmt>(each.get()))
      return needsInstance(loop->body.stmts);
    if (auto *loop = dynAs<WhileStmt>(each.get()))
      return needsInstance(loop->body.stmts);
    auto *plain = dynAs<ExprStmt>(each.get());
    auto *choice = plain ? dynAs<IfExpr>(plain->expr.get()) : nullptr;
    if (!choice)
      return false;
    return llvm::any_of(choice->arms, [](const IfArm &a) { return needsInstance(a.body.stmts); }) ||
           (choice->elseBody && needsInstance(choice->elseBody->stmts));
  });
}

bool Elaborator::checkRecursion(const BlockPtr &block, Span span) {
  constexpr size_t MaxDepth = 64;
  constexpr int MaxSame = 8; // a block given to itself as an argument nests a few times
  if (active_.size() < MaxDepth && llvm::count(active_, block->block) < MaxSame)
    return true;
  isAborted_ = true;
  if (!llvm::is_contained(active_, block->block)) {
    emit.error(DiagCode::PD0109, span,
               absl::StrCat("expected at most ", MaxDepth, " blocks applied inside each other"));
    return false;
  }
  emit.error(DiagCode::PD0109, span,
             absl::StrCat("the block '", block->block->decl.name, "' applies itself without end"))
      .withNote("blocks are inlined where they are applied, so they cannot be recursive");
  return false;
}

void Elaborator::reportMissingReturn(const BlockStmt &block) {
  emit.error(DiagCode::PD0125, block.decl.span,
             absl::StrCat("the block '", block.decl.name, "' has no 'return' for its result"))
      .withSecondary(block.results.front().span, "declared here")
      .withHint("the last statement of a block says what it gives: return x");
}

Datum Elaborator::applyBound(const BlockPtr &block, BoundArgs args, InstancePtr instance,
                             Span span) {
  const BlockStmt &decl = *block->block;
  if (isTooLarge(span) || !checkRecursion(block, span))
    return Poison();
  for (const auto &[name, value] : args)
    if (value.value.isPoison())
      return Poison();
  if (!instance && needsInstance(decl.body.stmts)) {
    emit.error(DiagCode::PD0107, span,
               absl::StrCat("the block '", decl.decl.name,
                            "' has variables, which an instance must own"))
        .withSecondary(decl.decl.span, "declared here")
        .withHint(absl::StrCat("make an instance first: use name = ", block->name, "(...)"));
    return Poison();
  }
  auto frame = std::make_shared<Frame>();
  frame->block = &decl;
  frame->scope = block->scope;
  frame->instance = instance;
  frame->regionDepth = regionDepth_;
  frame->path = drawPath(instance && !instance->path.empty() ? instance->path : block->name);
  if (instance && !instance->firstCall.isValid())
    instance->firstCall = span;
  emit.pushCall(span, block->name);
  applied_.insert(&decl);
  active_.push_back(&decl);
  FramePtr caller = std::exchange(frame_, frame);
  Datum result = Poison();
  if (enterArgs(decl, args, span)) {
    withHints(instance ? instance->hints : HintList(), /*isInstance=*/true,
              [&] { exec(decl.body.stmts); });
    result = frame->hasReturned ? frame->result : Datum();
    if (!frame->hasReturned && decl.hasResults && !isAborted_ && !diagnostics_.hasErrors())
      reportMissingReturn(decl);
    if (!frame->hasReturned && decl.hasResults)
      result = Poison();
  }
  frame_ = caller;
  active_.pop_back();
  emit.popCall();
  return isAborted_ ? Datum(Poison()) : result;
}

std::string Elaborator::drawPath(const std::string &name) {
  int count = frame_->calls[name]++;
  std::string path = frame_->path.empty() ? name : absl::StrCat(frame_->path, "/", name);
  return count == 0 ? path : absl::StrCat(path, "#", count);
}

} // namespace pdg
