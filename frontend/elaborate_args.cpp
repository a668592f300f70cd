// Arguments of blocks: which argument a call gives by which value, and what the block takes it as.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/builtins.h"
#include "frontend/elaborator.h"
#include "frontend/foreign.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

//===- Binding -------------------------------------------------------------===//

Datum Elaborator::evalArg(const Arg &arg, const Expr &expr) {
  if (arg.type && arg.type->name == "block")
    return partial(expr);
  if (arg.type && arg.type->name == "param")
    return eval(expr);
  return readAll(eval(expr), expr.span);
}

/// Where only part of the arguments is given, positions count those that are no tensors.
static bool isGivenEarly(const Arg &arg) { return arg.type && arg.type->isCompileTime(); }

/// The argument that a call gives by position, the first from `next` on that is not given yet.
static const Arg *nextArgument(const BlockValue &block, bool isPartial, size_t &next) {
  auto skips = [&](const Arg &each) {
    return block.bound.contains(&each.decl) || (isPartial && !isGivenEarly(each));
  };
  const auto &args = block.block->args;
  while (next < args.size() && skips(*args[next]))
    ++next;
  return next < args.size() ? args[next++].get() : nullptr;
}

void Elaborator::reportNoArgument(const BlockStmt &block, const CallArg &arg, bool isPartial) {
  std::string what =
      arg.name.empty() ? "takes fewer arguments" : absl::StrCat("has no argument '", arg.name, "'");
  Diagnostic &error = emit.error(DiagCode::PD0105, arg.name.empty() ? arg.span : arg.nameSpan,
                                 absl::StrCat("the block '", block.decl.name, "' ", what));
  error.withSecondary(block.decl.span, "declared here");
  std::vector<std::string> names;
  for (const auto &each : block.args)
    names.push_back(each->decl.name);
  error.withHint(arg.name.empty() && isPartial ? "tensors are given when the block is applied"
                                               : suggestArgument(arg.name, names));
}

/// `target` is given by position, but stands behind `*`.
void Elaborator::reportWithoutName(const BlockPtr &block, const CallExpr &expr, bool isPartial,
                                   const CallArg &arg, const Arg &target) {
  size_t next = 0;
  std::string meant;
  for (const CallArg &each : expr.args) {
    const Arg *argument = each.name.empty() ? nextArgument(*block, isPartial, next) : nullptr;
    if (argument)
      absl::StrAppend(&meant, meant.empty() ? "" : ", ", argument->decl.name, ": ",
                      emit.textOf(each.value->span));
  }
  emit.error(DiagCode::PD0105, arg.span,
             absl::StrCat("expected the name of the argument '", target.decl.name, "' of '",
                          block->name, "', found a value by position"))
      .withSecondary(target.decl.span, "declared here, behind '*'")
      .withHint(absl::StrCat("if that is meant, write ", block->name, "(", meant, ")"));
}

bool Elaborator::bindCallArgs(const BlockPtr &block, const CallExpr &expr, bool isPartial,
                              BoundArgs &args) {
  const BlockStmt &decl = *block->block;
  std::set<const Decl *> given;
  size_t next = 0;
  bool isGood = true;
  for (const CallArg &arg : expr.args) {
    const Arg *target = nullptr;
    if (arg.name.empty())
      target = nextArgument(*block, isPartial, next);
    for (const auto &each : decl.args)
      if (!arg.name.empty() && each->decl.name == arg.name)
        target = each.get();
    if (!target) {
      reportNoArgument(decl, arg, isPartial);
      isGood = false;
      continue;
    }
    if (arg.name.empty() && target->isNamed) {
      reportWithoutName(block, expr, isPartial, arg, *target);
      return false;
    }
    if (!given.insert(&target->decl).second) {
      emit.error(DiagCode::PD0105, arg.span,
                 absl::StrCat("the argument '", target->decl.name, "' is given twice"))
          .withSecondary(args[&target->decl].span, "here for the first time")
          .withHint(decl.isOptimizer() ? "what is trained stands before 'with': minimize loss over "
                                         "net with optim.sgd(lr: 0.1)"
                                       : "");
      isGood = false;
      continue;
    }
    args[&target->decl] = {evalArg(*target, *arg.value), arg.value->span};
    isGood &= !args[&target->decl].value.isPoison();
  }
  return isGood;
}

//===- Entering ------------------------------------------------------------===//

/// A value for an argument that is known when compiling.
std::optional<Datum> Elaborator::convertArg(const Arg &arg, const Operand &value) {
  const std::string &type = arg.type->name;
  std::string what = absl::StrCat("the argument '", arg.decl.name, "'");
  auto wrong = [&](const char *expected) -> std::optional<Datum> {
    typeError(value.span, absl::StrCat(expected, " for ", what), value.value)
        .withSecondary(arg.decl.span, "declared here");
    return std::nullopt;
  };
  if (type == "int") {
    auto number = constantInt(value, what);
    return number ? std::optional<Datum>(*number) : std::nullopt;
  }
  if (type == "float") {
    // The learning rate of a schedule is a scalar of the run.
    auto *tensor = value.value.get<Value>();
    if (tensor && Emitter::rankOf(*tensor) == 0 && isFloatTensor(tensor->getType()))
      return value.value;
    if (auto *whole = value.value.get<int64_t>())
      return static_cast<double>(*whole);
    return value.value.is<double>() ? std::optional(value.value) : wrong("a number");
  }
  if (type == "bool") {
    auto flag = constantBool(value.value);
    return flag ? std::optional<Datum>(*flag) : wrong("a bool that is known when compiling");
  }
  if (type == "string")
    return value.value.is<std::string>() ? std::optional(value.value) : wrong("a string");
  if (type == "type")
    return value.value.is<DType>() ? std::optional(value.value) : wrong("an element type");
  bool isCallable = value.value.is<BlockPtr>() || value.value.is<const Builtin *>() ||
                    value.value.is<InstancePtr>();
  return isCallable ? std::optional(value.value) : wrong("a block");
}

/// Enters one argument, except the check of its shape.
bool Elaborator::enterArg(const Arg &arg, const Operand &value) {
  if (!arg.type) {
    frame_->names[&arg.decl] = value.value;
    return true;
  }
  if (arg.type->isCompileTime()) {
    auto converted = convertArg(arg, value);
    frame_->names[&arg.decl] = converted.value_or(Poison());
    return converted.has_value();
  }
  if (arg.type->name == "param") {
    if (!value.value.is<Variable *>()) {
      typeError(value.span, absl::StrCat("a param for the argument '", arg.decl.name, "'"),
                value.value);
      return false;
    }
    frame_->names[&arg.decl] = value.value;
    return true;
  }
  auto dtype = elementType(*arg.type, std::nullopt);
  Value tensor = dtype ? tensorOf(value, *dtype) : this->tensor(value);
  if (!tensor)
    return false;
  frame_->names[&arg.decl] = tensor;
  return bindType(*arg.type, tensor, value.span);
}

bool Elaborator::enterArgs(const BlockStmt &block, const BoundArgs &args, Span span) {
  bool isGood = true;
  std::map<const Arg *, Operand> values;
  for (const auto &arg : block.args) {
    auto given = args.find(&arg->decl);
    if (given != args.end()) {
      values[arg.get()] = given->second;
    } else if (arg->defaultValue) {
      Datum value = evalArg(*arg, *arg->defaultValue);
      values[arg.get()] = {value, arg->defaultValue->span};
      isGood &= !value.isPoison();
    } else {
      emit.error(DiagCode::PD0105, span,
                 absl::StrCat("the block '", block.decl.name, "' lacks its argument '",
                              arg->decl.name, "'"))
          .withSecondary(arg->decl.span, "declared here");
      return false;
    }
    // Constants first: defaults and shapes further on may use them.
    if (isGood && arg->type && arg->type->isCompileTime())
      isGood = enterArg(*arg, values[arg.get()]);
  }
  // Tensors bind type variables, of which numbers then take their type.
  for (bool numbers : {false, true})
    for (const auto &arg : block.args)
      if (isGood && !(arg->type && arg->type->isCompileTime()) &&
          values[arg.get()].value.isConstant() == numbers)
        isGood = enterArg(*arg, values[arg.get()]);
  return isGood && checkArgs(block, values);
}

bool Elaborator::checkArgs(const BlockStmt &block, std::map<const Arg *, Operand> &values) {
  std::vector<std::pair<const Arg *, TypeCheck>> checks;
  for (const auto &arg : block.args)
    if (arg->type && !arg->type->isCompileTime() && arg->type->name != "param")
      checks.push_back(
          {arg.get(),
           {*arg->type, *frame_->names[&arg->decl].get<Value>(), values[arg.get()].span,
            absl::StrCat("the argument '", arg->decl.name, "'")}});
  // A variable that one type is solved for may be what another one lacks.
  size_t known = 0;
  do {
    known = frame_->dims.size();
    for (auto &[arg, check] : checks)
      if (!solveSizes(check))
        return false;
  } while (frame_->dims.size() > known);
  for (auto &[arg, check] : checks) {
    Value checked = checkType(check.type, check.value, check.span, check.what);
    frame_->names[&arg->decl] = result(checked);
    if (!checked)
      return false;
  }
  return true;
}

} // namespace pdg
