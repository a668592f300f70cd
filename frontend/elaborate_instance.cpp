// Instances and their variables.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborator.h"
#include "ir/ops/control.h"
#include "ir/ops/variable.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

static std::string joinPath(const std::string &path, const std::string &name) {
  return path.empty() ? name : absl::StrCat(path, ".", name);
}

//===- use -----------------------------------------------------------------===//

/// An instance, or a list of them, for the value of a `use`. An instance that exists is kept, with
/// the arguments of this time.
Datum Elaborator::instantiate(const Expr &expr, const Decl &decl, const std::string &path,
                              const Datum *existing) {
  auto *old = existing ? existing->get<SequencePtr>() : nullptr;
  auto result = std::make_shared<Sequence>();
  auto element = [&](const Expr &each) {
    size_t i = result->elements.size();
    const Datum *before = old && i < (*old)->elements.size() ? &(*old)->elements[i] : nullptr;
    result->elements.push_back(instantiate(each, decl, joinPath(path, absl::StrCat(i)), before));
    return !result->elements.back().isPoison();
  };
  if (auto *list = dynAs<ListExpr>(&expr)) {
    for (const ExprPtr &each : list->elements)
      if (!element(*each))
        return Poison();
    return SequencePtr(result);
  }
  if (auto *comprehension = dynAs<ComprehensionExpr>(&expr)) {
    auto items = iterate(*comprehension->iterable);
    if (!items)
      return Poison();
    for (const Datum &item : *items) {
      if (isTooLarge(expr.span))
        return Poison();
      define(*comprehension->pattern, {item, comprehension->iterable->span});
      if (!element(*comprehension->element))
        return Poison();
    }
    return SequencePtr(result);
  }
  Datum value = partial(expr);
  auto *block = value.get<BlockPtr>();
  if (!block) {
    if (!value.isPoison())
      typeError(expr.span, "a block, or a list of blocks, after 'use name ='", value)
          .withHint(value.is<InstancePtr>() ? "another name of an instance is declared by 'let'"
                                            : "");
    return Poison();
  }
  if (auto *kept = existing ? existing->get<InstancePtr>() : nullptr) {
    (*kept)->block = *block;
    return *kept;
  }
  auto instance = std::make_shared<Instance>();
  instance->block = *block;
  instance->span = expr.span;
  const Instance &owner = *frame_->instance;
  instance->path = owner.statePrefix.empty() ? path : owner.path;
  instance->statePrefix = owner.statePrefix.empty() ? "" : path;
  instances_.push_back(instance);
  return instance;
}

void Elaborator::execUse(const UseStmt &stmt) {
  Instance &owner = *frame_->instance;
  Datum *existing = nullptr;
  for (auto &[decl, part] : owner.parts)
    if (decl == &stmt.decl)
      existing = &part;
  std::string base = owner.statePrefix.empty() ? owner.path : owner.statePrefix;
  Datum value = instantiate(*stmt.value, stmt.decl, joinPath(base, stmt.decl.name), existing);
  if (existing)
    *existing = value;
  else
    owner.parts.emplace_back(&stmt.decl, value);
  frame_->names[&stmt.decl] = value;
}

void Elaborator::collectVariables(const Datum &value, std::vector<Variable *> &result) {
  if (auto *variable = value.get<Variable *>())
    result.push_back(*variable);
  if (auto *sequence = value.get<SequencePtr>())
    for (const Datum &element : (*sequence)->elements)
      collectVariables(element, result);
  if (auto *instance = value.get<InstancePtr>()) {
    for (const auto &[decl, variable] : (*instance)->variables)
      result.push_back(variable);
    for (const auto &[decl, part] : (*instance)->parts)
      collectVariables(part, result);
  }
}

//===- param and state -----------------------------------------------------===//

NameAttr Elaborator::variableName(const Instance &owner, const std::string &name) {
  Builder &b = emit.b;
  if (owner.statePrefix.empty())
    return NameAttr::get(b.getStringAttr(joinPath(owner.path, name)));
  return NameAttr::get(b.getStringAttr(owner.path),
                       b.getStringAttr(joinPath(owner.statePrefix, name)));
}

void Elaborator::execVariable(const DeclStmt &stmt) {
  const Decl &decl = stmt.decl();
  frame_->names[&decl] = Poison();
  if (!frame_->instance)
    return; // an error before
  Instance &owner = *frame_->instance;
  std::string what = absl::StrCat("'", decl.name, "'");
  RankedTensorType type;
  if (stmt.type && !(type = staticType(*stmt.type, what)))
    return;
  for (const auto &[known, variable] : owner.variables) {
    if (known != &decl)
      continue;
    if (type && type != variable->type) {
      emit.error(DiagCode::PD0115, decl.span,
                 absl::StrCat("'", std::string(variable->name.str()), "' is ",
                              emit.typeText(variable->type), ", but here it would be ",
                              emit.typeText(type)))
          .withSecondary(variable->firstUse, "this application fixed its shape");
      return;
    }
    frame_->names[&decl] = variable;
    return;
  }
  NameAttr name = variableName(owner, decl.name);
  if (auto other = byName_.find(name); other != byName_.end()) {
    emit.error(DiagCode::PD0115, decl.span,
               absl::StrCat("two variables have the name '", std::string(name.str()), "'"))
        .withSecondary(other->second->decl->span, "the first one");
    return;
  }
  if (Variable *variable = createVariable(stmt, type, name)) {
    owner.variables.emplace_back(&decl, variable);
    frame_->names[&decl] = variable;
  }
}

Variable *Elaborator::createVariable(const DeclStmt &stmt, RankedTensorType type, NameAttr name) {
  auto region = std::make_unique<Region>();
  {
    // Random numbers of the first value depend on the name of the variable alone.
    auto path = std::exchange(frame_->path, std::string(name.str()));
    auto calls = std::exchange(frame_->calls, {});
    auto counters = std::exchange(counters_, {});
    bool isGood = initialize(stmt, *region, type);
    frame_->path = path;
    frame_->calls = calls;
    counters_ = counters;
    if (!isGood || !checkInitializer(*region, stmt.init ? stmt.init->span : stmt.span)) {
      abandoned_.push_back(std::move(region));
      return nullptr;
    }
  }
  OpBuilder::InsertionGuard guard(emit.b);
  emit.b.setInsertionPoint(programOp_);
  bool isParam = stmt.declKind == DeclKind::Param;
  auto op = VariableOp::create(emit.b, emit.loc(stmt.decl().span), name, type, isParam);
  op.getInit().takeBody(*region);
  auto variable = std::make_unique<Variable>();
  variable->name = name;
  variable->type = type;
  variable->isParam = isParam;
  variable->decl = &stmt.decl();
  variable->firstUse =
      frame_->instance->firstCall.isValid() ? frame_->instance->firstCall : stmt.decl().span;
  variable->isOwned = name.getState() != nullptr;
  byName_[name] = variable.get();
  variables_.push_back(std::move(variable));
  return variables_.back().get();
}

/// Builds the first value of a variable; finds its type if none is written.
bool Elaborator::initialize(const DeclStmt &stmt, Region &region, RankedTensorType &type) {
  OpBuilder::InsertionGuard guard(emit.b);
  emit.b.setInsertionPointToStart(&region.emplaceBlock());
  auto outer = std::exchange(initialized_, type);
  Operand value{int64_t{0}, stmt.span};
  if (stmt.init) {
    value = evalOperand(*stmt.init);
    // `= nn.glorot` is the same as `= nn.glorot()`.
    if (value.value.is<BlockPtr>())
      value.value = applyCallable(value, {}, stmt.init->span);
    value.value = readAll(value.value, value.span);
  }
  initialized_ = outer;
  if (value.value.isPoison())
    return false;
  std::string what = absl::StrCat("the first value of '", stmt.decl().name, "'");
  if (!stmt.init && !type) {
    emit.error(DiagCode::PD0103, stmt.span,
               absl::StrCat("expected a type or a first value for '", stmt.decl().name, "'"));
    return false;
  }
  Value tensor = type ? tensorOf(value, type, what) : this->tensor(value);
  if (!tensor)
    return false;
  type = Emitter::typeOf(tensor);
  if (!type.hasStaticShape()) {
    emit.error(DiagCode::PD0103, value.span,
               absl::StrCat(what, " is ", emit.typeText(tensor),
                            ", but the sizes of a variable must be known when compiling"));
    return false;
  }
  YieldOp::create(emit.b, emit.loc(value.span), tensor);
  return true;
}

/// A first value is computed before the program starts.
bool Elaborator::checkInitializer(Region &region, Span span) {
  bool isGood = true;
  region.walk([&](Operation *op) {
    isGood &= !isa<ReadOp, InputOp, SourceSizeOp>(op);
    for (Value operand : op->getOperands())
      isGood &= region.isAncestor(operand.getParentRegion());
  });
  if (!isGood)
    emit.error(DiagCode::PD0120, span,
               "the first value of a variable may use only constants and random numbers")
        .withNote("it is computed before the program starts");
  return isGood;
}

} // namespace pdg
