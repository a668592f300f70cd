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

std::vector<Value> Elaborator::carriedInits(const std::vector<const Decl *> &vars, Span span) {
  std::vector<Value> inits;
  for (const Decl *decl : vars) {
    Operand operand{frame_->names[decl], decl->span};
    Value value = operand.value.is<SequencePtr>() ? Value() : tensor(operand);
    if (!value && !operand.value.isPoison()) {
      emit.error(DiagCode::PD0113, decl->span,
                 absl::StrCat("the loop changes '", decl->name, "', which is ",
                              describe(operand.value), " and not a tensor"))
          .withSecondary(span, "in this loop")
          .withHint(operand.value.is<SequencePtr>()
                        ? "what a loop changes are tensors, each in a var of its own"
                        : "");
      frame_->names[decl] = Poison();
    }
    // Something of the right kind, so that the loop can be built and looked at.
    inits.push_back(value ? value : emit.constant(int64_t{0}, DType::I64, span));
  }
  return inits;
}

/// Reports those of `vars` that are of another type than `before`: what a loop carries keeps it.
/// `first` and `then` say when that was and is.
void Elaborator::checkCarried(const std::vector<const Decl *> &vars, ArrayRef<Datum> before,
                              const char *first, const char *then, Span span) {
  for (auto [decl, old] : llvm::zip(vars, before)) {
    Datum &name = frame_->names[decl];
    auto *x = old.get<Value>(), *y = name.get<Value>();
    if (!x || !y ||
        (x->getType() == y->getType() && emit.shapes.dimsOf(*x) == emit.shapes.dimsOf(*y)))
      continue;
    emit.error(DiagCode::PD0113, decl->span,
               absl::StrCat("'", decl->name, "' is ", emit.typeText(*x), " ", first, " and ",
                            emit.typeText(*y), " ", then))
        .withSecondary(span, "in this loop")
        .withNote("what a loop carries keeps its element type and shape");
    name = Poison();
  }
}

/// Builds the body of `loop`, whose last arguments are the carried values, and takes its results.
void Elaborator::runLoopBody(Operation *loop, Value counter, const std::vector<const Decl *> &vars,
                             Span span, llvm::function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(emit.b);
  Block &block = loop->getRegion(0).front();
  emit.b.setInsertionPointToEnd(&block);
  auto carried = block.getArguments().take_back(vars.size());
  for (size_t i = 0; i < vars.size(); ++i)
    if (!frame_->names[vars[i]].isPoison())
      frame_->names[vars[i]] = Value(carried[i]);
  counters_.push_back(counter);
  ++regionDepth_;
  Round around = std::exchange(round_, Round());
  auto dims = frame_->dims; // those that the body binds are not known behind it
  body();
  frame_->dims = dims;
  Datum goesOn = std::exchange(round_, around).goesOn;
  --regionDepth_;
  counters_.pop_back();
  SmallVector<Datum> before;
  for (Value each : carried)
    before.push_back(each);
  checkCarried(vars, before, "before the loop", "after a round", span);
  SmallVector<Value> yields;
  for (size_t i = 0; i < vars.size(); ++i) {
    Datum &name = frame_->names[vars[i]];
    auto *value = name.get<Value>();
    yields.push_back(value ? *value : Value(carried[i]));
    if (value)
      name = Value(loop->getResult(i));
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
  auto vars = assignedVars(stmt.body.stmts);
  std::vector<Value> inits = carriedInits(vars, stmt.span);
  auto loop = ForOp::create(emit.b, emit.loc(stmt.span), lower, upper, inits);
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
  auto vars = assignedVars(stmt.body.stmts);
  std::vector<Value> inits = carriedInits(vars, stmt.span);
  auto op = SymbolTable::lookupNearestSymbolFrom<SourceOp>(programOp_,
                                                           emit.b.getStringAttr(source.symbol));
  auto loop = ForEachOp::create(emit.b, emit.loc(stmt.span), op, inits);
  Block &block = loop.getBody().front();
  auto batch = std::make_shared<Sequence>();
  batch->isTuple = true;
  for (BlockArgument field : block.getArguments().drop_front().drop_back(vars.size()))
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
