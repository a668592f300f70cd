// Placement hints: kept as attributes on variables and ops, for the passes that distribute a
// program. SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborator.h"
#include "ir/ops/variable.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

/// Evaluates the hints of a statement; those with an error are left out.
HintList Elaborator::evalHints(const Stmt &stmt) {
  HintList result;
  Builder &b = emit.b;
  for (const Hint &hint : stmt.hints) {
    StringAttr name = b.getStringAttr("pdg." + hint.name);
    if (hint.args.empty()) {
      result.push_back({{name, b.getUnitAttr()}, hint.span});
      continue;
    }
    Operand value = evalOperand(*hint.args[0].value);
    if (value.value.isPoison())
      continue;
    if (hint.name == "on") {
      auto *place = value.value.get<std::string>();
      if (place)
        result.push_back({{name, b.getStringAttr(*place)}, hint.span});
      else
        typeError(value.span, "the name of a place, as in @on(\"ps0\")", value.value);
      continue;
    }
    auto number = constantInt(value, absl::StrCat("@", hint.name));
    if (number && *number < 0)
      emit.error(
          DiagCode::PD0054, value.span,
          absl::StrCat("expected a number of at least 0 for @", hint.name, ", found ", *number));
    else if (number)
      result.push_back({{name, b.getI64IntegerAttr(*number)}, hint.span});
  }
  return result;
}

/// Sets hints on an op; what it has already is from nearer by, and stays.
static void setHints(Operation *op, const HintList &hints) {
  for (const auto &[attribute, span] : hints)
    if (!op->hasAttr(attribute.getName()))
      op->setDiscardableAttr(attribute.getName(), attribute.getValue());
}

/// Sets hints on a variable, which must have the axis that is to be sharded.
void Elaborator::hintVariable(Variable *variable, const HintList &hints) {
  for (const auto &[attribute, span] : hints) {
    bool isShard = attribute.getName() == "pdg.shard";
    auto axis = dyn_cast<IntegerAttr>(attribute.getValue());
    if (isShard && axis.getInt() >= variable->type.getRank())
      emit.error(
              DiagCode::PD0054, span,
              absl::StrCat("'", variable->name.str(), "' has no axis ", axis.getInt(), " to shard"))
          .withSecondary(variable->decl->span,
                         absl::StrCat("it is ", emit.typeText(variable->type)));
  }
  for (Operation &op : *module_->getBody())
    if (auto declared = dyn_cast<VariableOp>(op); declared && declared.getName() == variable->name)
      setHints(&op, hints);
}

/// Runs `build` and sets hints on the ops that it makes here, and on the variables if `isInstance`.
void Elaborator::withHints(const HintList &hints, bool isInstance,
                           llvm::function_ref<void()> build) {
  if (hints.empty())
    return build();
  Block *block = emit.b.getInsertionBlock();
  auto end = emit.b.getInsertionPoint();
  Operation *last = end == block->begin() ? nullptr : &*std::prev(end);
  size_t variables = variables_.size();
  build();
  for (auto each = last ? std::next(Block::iterator(last)) : block->begin(); each != end; ++each)
    setHints(&*each, hints);
  for (size_t i = variables; isInstance && i < variables_.size(); ++i)
    hintVariable(variables_[i].get(), hints);
}

static void hintInstances(const Datum &value, const HintList &hints) {
  if (auto *instance = value.get<InstancePtr>())
    (*instance)->hints = hints;
  if (auto *sequence = value.get<SequencePtr>())
    for (const Datum &element : (*sequence)->elements)
      hintInstances(element, hints);
}

/// A statement with hints. An instance keeps them for its applications.
void Elaborator::execHinted(const Stmt &stmt) {
  HintList hints = evalHints(stmt);
  if (auto *use = dynAs<UseStmt>(&stmt)) {
    execUse(*use);
    return hintInstances(frame_->names[&use->decl], hints);
  }
  auto *declaration = dynAs<DeclStmt>(&stmt);
  if (declaration &&
      (declaration->declKind == DeclKind::Param || declaration->declKind == DeclKind::State)) {
    execVariable(*declaration);
    if (auto *variable = frame_->names[&declaration->decl()].get<Variable *>())
      hintVariable(*variable, hints);
    return;
  }
  withHints(hints, /*isInstance=*/false, [&] { execPlain(stmt); });
}

} // namespace pdg
