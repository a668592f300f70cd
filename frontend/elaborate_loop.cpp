// for: over ranges and data by the run, over lists by unrolling.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/builtins.h"
#include "frontend/elaborator.h"
#include "ir/ops/control.h"
#include "ir/ops/elementwise_binary.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

void Elaborator::execFor(const ForStmt &stmt) {
  if (auto *range = dynAs<RangeExpr>(stmt.iterable.get())) {
    if (!mustUnroll(stmt))
      return execRange(stmt, *range);
  } else {
    Datum value = eval(*stmt.iterable);
    if (auto *source = value.get<const Source *>())
      return execData(stmt, **source);
    if (auto *sequence = value.get<SequencePtr>())
      return unroll(stmt, (*sequence)->elements);
    if (!value.isPoison())
      typeError(stmt.iterable->span, "a range, a list or a data source", value)
          .withHint(value.is<Value>() ? "a range counts: for i in 0..size(x, 0) { let row = x[i] }"
                                      : "");
    return skip(stmt);
  }
  auto items = iterate(*stmt.iterable);
  if (!items)
    return skip(stmt);
  unroll(stmt, *items);
}

void Elaborator::unroll(const ForStmt &stmt, const std::vector<Datum> &items) {
  Round around = std::exchange(round_, Round());
  for (size_t i = 0; i < items.size() && !frame_->hasReturned; ++i) {
    if (isTooLarge(stmt.iterable->span))
      break;
    auto round = [&] {
      if (stmt.counter)
        define(*stmt.counter, {static_cast<int64_t>(i), stmt.counter->span});
      define(*stmt.pattern, {items[i], stmt.iterable->span});
      exec(stmt.body.stmts);
      round_.runs = true; // continue ends this round only
      return Datum();
    };
    if (auto *goesOn = round_.goesOn.get<Value>()) {
      auto ended = [&] {
        round_.goesOn = false;
        return Datum();
      };
      branch(*goesOn, stmt.span, assignedVars(stmt.body.stmts), /*wantsValue=*/false, round, ended);
    } else if (constantBool(round_.goesOn).value_or(false)) {
      round();
    }
  }
  round_ = around;
}

//===- Loops of the run ----------------------------------------------------===//

Datum Elaborator::carry(const Operand &value, std::vector<Value> &inits) {
  if (auto *sequence = value.value.get<SequencePtr>()) {
    auto form = std::make_shared<Sequence>();
    form->isTuple = (*sequence)->isTuple;
    for (const Datum &element : (*sequence)->elements) {
      form->elements.push_back(carry({element, value.span}, inits));
      if (form->elements.back().isPoison())
        return Poison();
    }
    return SequencePtr(form);
  }
  bool isTensor = value.value.is<Value>() || value.value.is<Variable *>() ||
                  value.value.isNumber() || value.value.is<bool>();
  Value tensor = isTensor ? this->tensor(value) : Value();
  if (!tensor)
    return Poison();
  inits.push_back(tensor);
  return static_cast<int64_t>(inits.size() - 1);
}

Elaborator::LoopVars Elaborator::carriedVars(std::vector<const Decl *> decls, Span span) {
  LoopVars vars{std::move(decls), {}, {}};
  for (const Decl *decl : vars.decls) {
    Datum &value = frame_->names[decl];
    size_t before = vars.inits.size();
    vars.forms.push_back(carry({value, decl->span}, vars.inits));
    if (!vars.forms.back().isPoison())
      continue;
    vars.inits.resize(before);
    if (!value.isPoison())
      emit.error(DiagCode::PD0113, decl->span,
                 absl::StrCat("the loop changes '", decl->name, "', which is ", describe(value),
                              " and not made of tensors"))
          .withSecondary(span, "in this loop");
    value = Poison();
  }
  constexpr size_t MaxCarried = 1000;
  if (vars.inits.size() > MaxCarried) {
    emit.error(DiagCode::PD0109, span,
               absl::StrCat("expected a loop that changes at most ", MaxCarried,
                            " tensors, found one that changes ", vars.inits.size()));
    isAborted_ = true;
  }
  return vars;
}

/// A form with the tensors of `values` in place of their numbers.
static Datum withTensors(const Datum &form, ValueRange values) {
  if (auto *index = form.get<int64_t>())
    return Value(values[*index]);
  auto *sequence = form.get<SequencePtr>();
  if (!sequence)
    return form;
  auto copy = std::make_shared<Sequence>(**sequence);
  for (Datum &element : copy->elements)
    element = withTensors(element, values);
  return SequencePtr(copy);
}

/// Adds the tensors of a value that has the form of one before.
static void addTensors(const Datum &value, SmallVector<Value> &tensors) {
  if (auto *sequence = value.get<SequencePtr>())
    for (const Datum &element : (*sequence)->elements)
      addTensors(element, tensors);
  else
    tensors.push_back(*value.get<Value>());
}

/// Whether a value is of the kinds, types and shapes of one before; numbers in it become tensors.
bool Elaborator::isCarriedAs(Datum &value, const Datum &before, Span span) {
  if (auto *old = before.get<SequencePtr>()) {
    auto *now = value.get<SequencePtr>();
    if (!now || (*now)->elements.size() != (*old)->elements.size())
      return false;
    auto copy = std::make_shared<Sequence>(**now);
    bool isSame = true;
    for (size_t i = 0; i < copy->elements.size(); ++i)
      isSame &= isCarriedAs(copy->elements[i], (*old)->elements[i], span);
    value = SequencePtr(copy);
    return isSame;
  }
  auto *x = before.get<Value>();
  if (!x)
    return true; // Outside of loops of the run, numbers stay numbers.
  if (value.isNumber() || value.is<bool>() || value.is<Variable *>())
    if (Value tensor = tensorOf({value, span}, Emitter::dtypeOf(*x)))
      value = tensor;
  auto *y = value.get<Value>();
  return y && x->getType() == y->getType() && emit.shapes.dimsOf(*x) == emit.shapes.dimsOf(*y);
}

/// What a message says of a value that a loop carries: "f32[2]", "[f32[2], f32]".
static std::string carriedText(Elaborator &elaborator, const Datum &value) {
  if (auto *tensor = value.get<Value>())
    return elaborator.emit.typeText(*tensor);
  auto *sequence = value.get<SequencePtr>();
  constexpr size_t MaxShown = 8;
  if (!sequence || (*sequence)->elements.size() > MaxShown)
    return elaborator.describe(value);
  std::string text;
  for (const Datum &element : (*sequence)->elements)
    absl::StrAppend(&text, text.empty() ? "" : ", ", carriedText(elaborator, element));
  return (*sequence)->isTuple ? absl::StrCat("(", text, ")") : absl::StrCat("[", text, "]");
}

/// Reports those of `vars` that are of another type than `before`: what a loop carries keeps it.
/// `first` and `then` say when that was and is.
void Elaborator::checkCarried(const std::vector<const Decl *> &vars, ArrayRef<Datum> before,
                              const char *first, const char *then, Span span) {
  for (auto [decl, old] : llvm::zip(vars, before)) {
    Datum &name = frame_->names[decl];
    bool isCarried = old.is<Value>() || old.is<SequencePtr>();
    if (!isCarried || name.isPoison() || isCarriedAs(name, old, decl->span))
      continue;
    emit.error(DiagCode::PD0113, decl->span,
               absl::StrCat("'", decl->name, "' is ", carriedText(*this, old), " ", first, " and ",
                            carriedText(*this, name), " ", then))
        .withSecondary(span, "in this loop")
        .withNote("what a loop carries keeps its element type and shape");
    name = Poison();
  }
}

/// Builds the body of `loop`, whose last arguments are the carried values, and takes its results.
void Elaborator::runLoopBody(Operation *loop, Value counter, const LoopVars &vars, Span span,
                             llvm::function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(emit.b);
  Block &block = loop->getRegion(0).front();
  emit.b.setInsertionPointToEnd(&block);
  auto carried = block.getArguments().take_back(vars.inits.size());
  SmallVector<Datum> before;
  for (auto [decl, form] : llvm::zip(vars.decls, vars.forms)) {
    before.push_back(withTensors(form, ValueRange(carried)));
    frame_->names[decl] = before.back();
  }
  counters_.push_back(counter);
  ++regionDepth_;
  Round around = std::exchange(round_, Round());
  auto dims = frame_->dims; // those that the body binds are not known behind it
  body();
  frame_->dims = dims;
  Datum goesOn = std::exchange(round_, around).goesOn;
  --regionDepth_;
  counters_.pop_back();
  checkCarried(vars.decls, before, "before the loop", "after a round", span);
  SmallVector<Value> yields;
  for (size_t i = 0; i < vars.decls.size(); ++i) {
    Datum &name = frame_->names[vars.decls[i]];
    bool isGood = !name.isPoison() && !before[i].isPoison();
    if (!before[i].isPoison())
      addTensors(isGood ? name : before[i], yields);
    name = isGood ? withTensors(vars.forms[i], loop->getResults()) : Datum(Poison());
  }
  bool neverBreaks = goesOn.is<bool>() && *goesOn.get<bool>();
  YieldOp::create(emit.b, emit.loc(span), yields, neverBreaks ? Value() : tensor({goesOn, span}));
}

void Elaborator::execRange(const ForStmt &stmt, const RangeExpr &range) {
  Value lower = size(evalOperand(*range.lo), "the begin of a range");
  Operand end = evalOperand(*range.hi);
  if (range.isInclusive)
    end.value = binary(BinaryOp::Add, end, {int64_t{1}, range.span}, range.span);
  Value upper = size(end, "the end of a range");
  if (!lower || !upper || isTooDeep(stmt.span))
    return skip(stmt);
  LoopVars vars = carriedVars(assignedVars(stmt.body.stmts), stmt.span);
  auto loop = ForOp::create(emit.b, emit.loc(stmt.span), lower, upper, vars.inits);
  Block &block = loop.getBody().front();
  Value counter = block.getArgument(0);
  define(*stmt.pattern, {counter, range.span});
  if (stmt.counter) {
    OpBuilder::InsertionGuard guard(emit.b);
    emit.b.setInsertionPointToStart(&block);
    define(*stmt.counter, {emit.make<SubOp>(stmt.counter->span, counter, lower), range.span});
  }
  runLoopBody(loop, counter, vars, stmt.span, [&] { exec(stmt.body.stmts); });
}

/// The loop over `source` that the next op lies in, or null.
static ForEachOp enclosingPass(OpBuilder &builder, StringRef source) {
  for (Operation *op = builder.getInsertionBlock()->getParentOp(); op; op = op->getParentOp())
    if (auto loop = dyn_cast<ForEachOp>(op); loop && loop.getSource() == source)
      return loop;
  return nullptr;
}

void Elaborator::execData(const ForStmt &stmt, const Source &source) {
  // A source is in one place of one pass.
  if (enclosingPass(emit.b, source.symbol)) {
    emit.error(DiagCode::PD0114, stmt.iterable->span,
               absl::StrCat("a loop over '", source.info.name, "' inside a loop over '",
                            source.info.name, "' is not available yet"))
        .withHint("declare a second data source of the same files");
    return;
  }
  if (isTooDeep(stmt.span))
    return;
  LoopVars vars = carriedVars(assignedVars(stmt.body.stmts), stmt.span);
  auto op = SymbolTable::lookupNearestSymbolFrom<SourceOp>(programOp_,
                                                           emit.b.getStringAttr(source.symbol));
  auto loop = ForEachOp::create(emit.b, emit.loc(stmt.span), op, vars.inits);
  Block &block = loop.getBody().front();
  auto batch = std::make_shared<Sequence>();
  batch->isTuple = true;
  for (BlockArgument field : block.getArguments().drop_front().drop_back(vars.inits.size()))
    batch->elements.push_back(Value(field));
  Value counter = block.getArgument(0), first = block.getArgument(1);
  emit.nameSize(emit.shapes.dimsOf(first).front(), "batch");
  if (stmt.counter)
    define(*stmt.counter, {counter, stmt.counter->span});
  Datum value = batch->elements.size() == 1 ? batch->elements.front() : Datum(SequencePtr(batch));
  runLoopBody(loop, counter, vars, stmt.span, [&] {
    define(*stmt.pattern, {applyStages(source, value), stmt.iterable->span});
    exec(stmt.body.stmts);
  });
}

} // namespace pdg
