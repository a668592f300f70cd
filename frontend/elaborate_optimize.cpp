// minimize, update and grad.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborator.h"
#include "ir/ops/autodiff.h"
#include "ir/ops/control.h"
#include "ir/ops/variable.h"

#include "absl/strings/str_cat.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace pdg {

//===- What a loss depends on ----------------------------------------------===//

namespace {

/// Walks from a value back to the variables that it is computed from, along floats: nothing flows
/// through integers and bools.
class Dependencies {
public:
  explicit Dependencies(Value from) {
    push(from);
    while (!worklist_.empty())
      visit(worklist_.pop_back_val());
  }
  bool dependsOn(Attribute name) const { return names_.contains(name); }
  bool dependsOn(Value value) const { return seen_.contains(value); }
  /// The loops and conditions on the way.
  ArrayRef<Operation *> regions() const { return regions_.getArrayRef(); }
  /// Results, met on the way, of loops that cannot be run backwards.
  ArrayRef<OpResult> endless() const { return endless_; }

private:
  void push(Value value) {
    if (isFloatTensor(value.getType()) && seen_.insert(value).second)
      worklist_.push_back(value);
  }

  void visit(Value value);

  /// Value `i` of those that a loop carries.
  void visitCarried(Operation *loop, ValueRange inits, unsigned i) {
    push(inits[i]);
    push(loop->getRegion(0).front().getTerminator()->getOperand(i));
  }

  SmallVector<OpResult> endless_;
  llvm::DenseSet<Value> seen_;
  llvm::DenseSet<Attribute> names_;
  SmallVector<Value> worklist_;
  llvm::SetVector<Operation *> regions_;
};

void Dependencies::visit(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *op = argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
  unsigned i = argument ? argument.getArgNumber() : cast<OpResult>(value).getResultNumber();
  if (auto read = dyn_cast<ReadOp>(op)) {
    names_.insert(read.getName());
  } else if (isa<StopGradientOp>(op)) {
    return;
  } else if (auto branch = dyn_cast<IfOp>(op)) {
    regions_.insert(op);
    for (Region &region : branch->getRegions())
      push(region.front().getTerminator()->getOperand(i));
  } else if (auto loop = dyn_cast<ForOp>(op)) {
    // Inside a loop that is being built, what it carries is a constant of this round.
    if (argument && (i == 0 || !loop.getBody().front().mightHaveTerminator()))
      return;
    regions_.insert(op);
    if (!argument && !loop.getBound())
      endless_.push_back(cast<OpResult>(value));
    visitCarried(loop, loop.getInits(), argument ? i - 1 : i);
  } else if (auto loop = dyn_cast<ForEachOp>(op)) {
    unsigned first = argument ? 1 + loop.getNumFields() : 0;
    if (i < first || (argument && !loop.getBody().front().mightHaveTerminator()))
      return;
    if (!argument)
      endless_.push_back(cast<OpResult>(value));
    visitCarried(loop, loop.getInits(), i - first);
  } else {
    for (Value operand : op->getOperands())
      push(operand);
  }
}

} // namespace

/// A scalar float to be differentiated; null after an error.
static Value scalarLoss(Elaborator &elaborator, const Operand &operand, const char *what) {
  Value loss = elaborator.tensor(operand);
  if (!loss)
    return {};
  if (Emitter::rankOf(loss) == 0 && isFloatTensor(loss.getType()))
    return loss;
  elaborator.typeError(operand.span, absl::StrCat("a scalar of floats to ", what), loss)
      .withHint(Emitter::rankOf(loss) ? "reduce it first: mean(...) or sum(...)" : "");
  return {};
}

/// The loops and conditions that a loss goes through run once, in the forward pass: training inside
/// them has no place in the gradient.
static bool checkRegions(Elaborator &elaborator, const Dependencies &dependencies, Span span) {
  for (Operation *region : dependencies.regions()) {
    Operation *wrong = nullptr;
    region->walk([&](AssignOp assign) {
      if (!wrong && elaborator.isParam(assign.getName()))
        wrong = assign;
    });
    if (!wrong)
      continue;
    elaborator.emit
        .error(DiagCode::PD0048, span,
               "a loop or condition that trains parameters cannot be differentiated")
        .withSecondary(elaborator.emit.spanOf(wrong->getLoc()), "a parameter is changed here")
        .withHint("compute the loss apart from the training");
    return false;
  }
  return true;
}

/// Reports the loops without a bound between what is differentiated and what it is differentiated
/// by; true if there is one.
static bool reportEndless(Emitter &emit, const Dependencies &dependencies,
                          ArrayRef<Attribute> names, ValueRange values, Span span) {
  for (OpResult result : dependencies.endless()) {
    Dependencies before(result);
    auto dependsOn = [&](auto each) { return before.dependsOn(each); };
    if (llvm::none_of(names, dependsOn) && llvm::none_of(values, dependsOn))
      continue;
    Operation *loop = result.getOwner();
    bool isPass = isa<ForEachOp>(loop);
    emit.error(DiagCode::PD0127, span,
               isPass ? "the gradient would pass through a loop over data"
                      : "the gradient passes through a loop without a bound")
        .withSecondary(emit.spanOf(loop->getLoc()), "this loop")
        .withNote("a loop is run backwards from what it had kept of each round")
        .withHint(isPass ? "differentiate inside of the loop, batch by batch"
                         : "give it a number of rounds that is known when compiling: "
                           "while c max 100 { ... }");
    return true;
  }
  return false;
}

/// Warns that a parameter gets no gradient. The statement goes on.
static Diagnostic &warnWithoutGradient(DiagnosticEngine &diagnostics, Span span,
                                       const std::string &name) {
  return diagnostics.report(
      DiagCode::PD0191, span,
      absl::StrCat("the value does not depend on '", name, "', so its gradient is zero"));
}

//===- grad ----------------------------------------------------------------===//

/// What a gradient is taken of: variables by name and tensors. `places` says for each element where
/// its gradient is: that of a 'n'ame, of a 'v'alue, or 'z'ero, with its number.
struct Elaborator::GradientTargets {
  SmallVector<Attribute> names;
  SmallVector<Value> values;
  SmallVector<Type> nameTypes, valueTypes;
  std::vector<std::pair<char, size_t>> places;
};

/// The elements that a gradient is asked for: of a list, or the parameters of an instance.
std::vector<Datum> Elaborator::wantedGradients(const Datum &of) {
  if (auto *list = of.get<SequencePtr>())
    return (*list)->elements;
  std::vector<Variable *> owned;
  if (of.is<InstancePtr>())
    collectVariables(of, owned);
  std::erase_if(owned, [](Variable *variable) { return !variable->isParam; });
  if (owned.empty())
    return {of};
  return {owned.begin(), owned.end()};
}

bool Elaborator::addGradientTarget(const Datum &target, size_t i,
                                   llvm::function_ref<bool(NameAttr)> dependsOn, bool isCarried,
                                   Span span, GradientTargets &targets) {
  if (auto *variable = target.get<Variable *>()) {
    if (!dependsOn((*variable)->name)) {
      warnWithoutGradient(diagnostics_, span, (*variable)->name.str())
          .withHint(isCarried ? "the value is a number that an earlier entry left; compute it in "
                                "the entry that differentiates it"
                              : "");
      targets.places.emplace_back('z', i);
      return true;
    }
    targets.places.emplace_back('n', targets.names.size());
    targets.names.push_back((*variable)->name);
    targets.nameTypes.push_back((*variable)->type);
    return true;
  }
  auto *value = target.get<Value>();
  if (!value || !isFloatTensor(value->getType())) {
    if (!target.isPoison())
      typeError(span, "variables or tensors of floats to differentiate by", target);
    return false;
  }
  targets.places.emplace_back('v', targets.values.size());
  targets.values.push_back(*value);
  targets.valueTypes.push_back(value->getType());
  return true;
}

Datum Elaborator::gradient(const Operand &loss, const Operand &of, Span span) {
  Value from = scalarLoss(*this, loss, "differentiate");
  std::vector<Datum> wanted = wantedGradients(of.value);
  bool isList = of.value.is<SequencePtr>() || of.value.is<InstancePtr>();
  if (!from)
    return Poison();
  Dependencies dependencies(from);
  if (!checkRegions(*this, dependencies, loss.span))
    return Poison();
  GradientTargets targets;
  bool isCarried = from.getDefiningOp<InputOp>() && options_.session;
  auto dependsOn = [&](NameAttr name) { return dependencies.dependsOn(name); };
  for (size_t i = 0; i < wanted.size(); ++i)
    if (!addGradientTarget(wanted[i], i, dependsOn, isCarried, of.span, targets))
      return Poison();
  const auto &[names, values, nameTypes, valueTypes, places] = targets;
  if (reportEndless(emit, dependencies, names, values, span))
    return Poison();
  SmallVector<Type> types = nameTypes;
  types.append(valueTypes);
  auto op =
      GradientOp::create(emit.b, emit.loc(span), types, from, emit.b.getArrayAttr(names), values);
  auto gradients = std::make_shared<Sequence>();
  for (auto [kind, i] : places) {
    if (kind != 'z') {
      gradients->elements.push_back(Value(op.getResult(kind == 'n' ? i : names.size() + i)));
      continue;
    }
    Variable *variable = *wanted[i].get<Variable *>();
    gradients->elements.push_back(tensorOf({int64_t{0}, span}, variable->type, "a gradient"));
  }
  return isList ? Datum(SequencePtr(gradients)) : gradients->elements.front();
}

//===- Optimizers ----------------------------------------------------------===//

BlockPtr Elaborator::optimizer(const Expr &expr) {
  Operand value{partial(expr), expr.span};
  auto *block = value.value.get<BlockPtr>();
  if (block && (*block)->block->isOptimizer()) {
    const BlockStmt &decl = *(*block)->block;
    if (decl.args.front()->decl.writes == 0)
      emit.error(DiagCode::PD0192, expr.span,
                 absl::StrCat("the optimizer '", (*block)->name, "' never assigns to '",
                              decl.args.front()->decl.name, "', so nothing is trained"))
          .withSecondary(decl.decl.span, "declared here")
          .withHint(absl::StrCat("it changes the parameter by an assignment: ",
                                 decl.args.front()->decl.name, " = ..."));
    return *block;
  }
  if (value.value.isPoison())
    return nullptr;
  auto *instance = value.value.get<InstancePtr>();
  bool isOptimizer = instance && (*instance)->block->block->isOptimizer();
  emit.error(DiagCode::PD0116, expr.span,
             absl::StrCat("expected an optimizer after 'with', found ", describe(value.value)))
      .withHint(isOptimizer
                    ? absl::StrCat("an optimizer needs no 'use'; write it here: with ",
                                   (*instance)->block->name,
                                   "(...); the statement keeps its states")
                    : "an optimizer is a block whose first argument is a param: block name(p: "
                      "param, g)");
  return nullptr;
}

/// The states that a statement keeps for a parameter. A second statement with the same optimizer
/// has states of its own, "adam2.m".
InstancePtr Elaborator::optimizerInstance(const BlockPtr &block, Variable *param,
                                          const Stmt &stmt) {
  std::vector<OwnedState> &states = optimizerStates_[param];
  size_t same = 0;
  for (OwnedState &state : states) {
    if (state.instance->block->block != block->block)
      continue;
    ++same;
    if (state.stmt == &stmt && state.framePath == frame_->path) {
      state.instance->block = block;
      return state.instance;
    }
  }
  auto instance = std::make_shared<Instance>();
  instance->block = block;
  instance->path = param->name.getPath().getValue();
  std::string own = param->name.getState() ? param->name.getState().str() + "." : "";
  instance->statePrefix =
      absl::StrCat(own, block->block->decl.name, same ? absl::StrCat(same + 1) : "");
  instance->isApplied = true;
  instance->span = stmt.span;
  states.push_back({&stmt, frame_->path, instance});
  return instance;
}

void Elaborator::optimize(const BlockPtr &block, Variable *param, const Operand &gradient,
                          const Stmt &stmt) {
  updated_.insert(param);
  apply(block, {{param, gradient.span}, gradient}, optimizerInstance(block, param, stmt),
        stmt.span);
}

//===- Statements ----------------------------------------------------------===//

/// The parameters that a `minimize` updates, in the order of their declaration.
std::vector<Variable *> Elaborator::targetsOf(const MinimizeStmt &stmt, Value loss) {
  Dependencies dependencies(loss);
  if (!checkRegions(*this, dependencies, stmt.loss->span))
    return {};
  std::vector<Variable *> candidates, result;
  for (const ExprPtr &each : stmt.over) {
    Datum value = eval(*each);
    size_t before = candidates.size();
    collectVariables(value, candidates);
    if (candidates.size() == before && !value.isPoison())
      typeError(each->span, "a parameter or an instance after 'over'", value);
    for (size_t i = before; i < candidates.size(); ++i)
      if (candidates[i]->isParam && !dependencies.dependsOn(candidates[i]->name))
        warnWithoutGradient(diagnostics_, each->span, candidates[i]->name.str());
  }
  for (const auto &variable : variables_) {
    bool isNamed = stmt.over.empty() || llvm::is_contained(candidates, variable.get());
    if (variable->isParam && isNamed && dependencies.dependsOn(variable->name))
      result.push_back(variable.get());
  }
  return result;
}

void Elaborator::execMinimize(const MinimizeStmt &stmt) {
  Operand operand = evalOperand(*stmt.loss);
  Value loss = scalarLoss(*this, operand, "minimize");
  BlockPtr block = optimizer(*stmt.optimizer);
  Operand transform{Nothing(), stmt.span};
  if (stmt.via)
    transform = {partial(*stmt.via), stmt.via->span};
  if (!loss || !block || transform.value.isPoison())
    return;
  size_t errors = diagnostics_.errorCount();
  std::vector<Variable *> targets = targetsOf(stmt, loss);
  if (targets.empty()) {
    if (diagnostics_.errorCount() == errors)
      diagnostics_
          .report(DiagCode::PD0190, stmt.span,
                  "this updates nothing: the loss depends on no parameter")
          .withHint(loss.getDefiningOp<InputOp>() && options_.session
                        ? "the loss is a number that an earlier entry left; compute it in the "
                          "entry that minimizes it"
                        : "");
    return;
  }
  hasFreeMinimize_ |= stmt.over.empty();
  SmallVector<Attribute> names;
  SmallVector<Type> types;
  for (Variable *target : targets) {
    names.push_back(target->name);
    types.push_back(target->type);
  }
  if (reportEndless(emit, Dependencies(loss), names, {}, stmt.loss->span))
    return;
  auto op = GradientOp::create(emit.b, emit.loc(stmt.span), types, loss, emit.b.getArrayAttr(names),
                               ValueRange());
  auto gradients = std::make_shared<Sequence>();
  for (Value each : op.getResults())
    gradients->elements.push_back(each);
  if (stmt.via) {
    Datum changed =
        applyCallable(transform, {{SequencePtr(gradients), stmt.loss->span}}, stmt.via->span);
    auto *list = changed.get<SequencePtr>();
    if (changed.isPoison())
      return;
    if (!list || (*list)->elements.size() != targets.size()) {
      typeError(stmt.via->span, absl::StrCat("a list of ", targets.size(), " gradients from 'via'"),
                changed);
      return;
    }
    *gradients = **list;
  }
  for (size_t i = 0; i < targets.size(); ++i)
    optimize(block, targets[i], {gradients->elements[i], stmt.span}, stmt);
}

void Elaborator::execUpdate(const UpdateStmt &stmt) {
  Operand target = evalOperand(*stmt.target), gradient = evalOperand(*stmt.gradient);
  BlockPtr block = optimizer(*stmt.optimizer);
  if (!block || target.value.isPoison() || gradient.value.isPoison())
    return;
  std::vector<Variable *> variables;
  collectVariables(target.value, variables);
  std::erase_if(variables, [](Variable *variable) { return !variable->isParam; });
  if (variables.empty()) {
    typeError(target.span, "a parameter after 'update'", target.value);
    return;
  }
  std::vector<Datum> gradients{gradient.value};
  if (auto *list = gradient.value.get<SequencePtr>())
    gradients = (*list)->elements;
  if (gradients.size() != variables.size()) {
    emit.error(DiagCode::PD0122, gradient.span,
               absl::StrCat("expected ", variables.size(), " gradients, found ", gradients.size()));
    return;
  }
  for (size_t i = 0; i < variables.size(); ++i) {
    std::string what =
        absl::StrCat("the gradient of '", std::string(variables[i]->name.str()), "'");
    if (Value value = tensorOf({gradients[i], gradient.span}, variables[i]->type, what))
      optimize(block, variables[i], {value, gradient.span}, stmt);
  }
}

} // namespace pdg
