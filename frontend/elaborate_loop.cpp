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
      typeError(stmt.iterable->span, "a range, a list or a data source", value);
    return;
  }
  if (auto items = iterate(*stmt.iterable))
    unroll(stmt, *items);
}

void Elaborator::unroll(const ForStmt &stmt, const std::vector<Datum> &items) {
  for (size_t i = 0; i < items.size() && !frame_->hasReturned; ++i) {
    if (isTooLarge(stmt.iterable->span))
      return;
    if (stmt.counter)
      define(*stmt.counter, {static_cast<int64_t>(i), stmt.counter->span});
    define(*stmt.pattern, {items[i], stmt.iterable->span});
    exec(stmt.body.stmts);
  }
}

//===- When a loop must be unrolled ----------------------------------------===//

namespace {

/// Looks for places where a loop variable, or what is computed from it, must be known when
/// compiling: an index of a list, a bound of a slice, a constant argument of a block.
class NeedsConstant {
public:
  NeedsConstant(const Pattern &pattern, std::function<bool(const Expr &)> isList)
      : isList_(std::move(isList)) {
    add(pattern);
  }

  bool stmts(const std::vector<StmtPtr> &list) {
    return llvm::any_of(list, [&](const StmtPtr &each) { return stmt(*each); });
  }

private:
  void add(const Pattern &pattern) {
    if (pattern.isName())
      tainted_.insert(&pattern.decl);
    for (const PatternPtr &element : pattern.elements)
      add(*element);
  }

  bool stmt(const Stmt &each);
  bool expr(const Expr *each);
  bool call(const CallExpr &each);
  bool uses(const Expr *each);

  std::set<const Decl *> tainted_;
  std::function<bool(const Expr &)> isList_;
};

/// Calls `fn` for the operands of an expression.
template <class Fn> void forEachOperand(const Expr &each, Fn fn) {
  if (auto *member = dynAs<MemberExpr>(&each))
    fn(member->base.get());
  if (auto *unary = dynAs<UnaryExpr>(&each))
    fn(unary->operand.get());
  if (auto *binary = dynAs<BinaryExpr>(&each))
    fn(binary->lhs.get()), fn(binary->rhs.get());
  if (auto *range = dynAs<RangeExpr>(&each))
    fn(range->lo.get()), fn(range->hi.get());
  if (auto *list = dynAs<ListExpr>(&each))
    for (const ExprPtr &element : list->elements)
      fn(element.get());
  if (auto *tuple = dynAs<TupleExpr>(&each))
    for (const ExprPtr &element : tuple->elements)
      fn(element.get());
  if (auto *comprehension = dynAs<ComprehensionExpr>(&each))
    fn(comprehension->element.get()), fn(comprehension->iterable.get());
  if (auto *index = dynAs<IndexExpr>(&each)) {
    fn(index->base.get());
    for (const ExprPtr &at : index->indices)
      fn(at.get());
  }
  if (auto *call = dynAs<CallExpr>(&each)) {
    fn(call->callee.get());
    for (const CallArg &arg : call->args)
      fn(arg.value.get());
  }
}

bool NeedsConstant::uses(const Expr *each) {
  if (!each)
    return false;
  if (auto *name = dynAs<NameExpr>(each))
    return tainted_.contains(name->decl);
  bool result = false;
  forEachOperand(*each, [&](const Expr *operand) { result = result || uses(operand); });
  return result;
}

bool NeedsConstant::call(const CallExpr &each) {
  const Decl *callee = nullptr;
  if (auto *name = dynAs<NameExpr>(each.callee.get()))
    callee = name->decl;
  else if (auto *member = dynAs<MemberExpr>(each.callee.get()))
    callee = member->decl;
  bool isBuiltin = dynAs<NameExpr>(each.callee.get()) && as<NameExpr>(*each.callee).isBuiltin;
  const BlockStmt *block = callee ? callee->block : nullptr;
  for (const CallArg &arg : each.args) {
    if (!uses(arg.value.get()))
      continue;
    if (isBuiltin && (arg.name == "axis" || arg.name == "type"))
      return true;
    if (block)
      for (const auto &declared : block->args)
        if (declared->decl.name == arg.name && declared->type && declared->type->isCompileTime() &&
            declared->type->name != "float")
          return true;
  }
  return false;
}

bool NeedsConstant::expr(const Expr *each) {
  if (!each)
    return false;
  if (auto *index = dynAs<IndexExpr>(each)) {
    bool isList = isList_(*index->base);
    for (const ExprPtr &at : index->indices)
      if ((isList || at->kind == ExprKind::Range) && uses(at.get()))
        return true;
  }
  if (auto *calls = dynAs<CallExpr>(each); calls && call(*calls))
    return true;
  if (auto *choice = dynAs<IfExpr>(each)) {
    for (const IfArm &arm : choice->arms)
      if (expr(arm.condition.get()) || stmts(arm.body.stmts))
        return true;
    return choice->elseBody && stmts(choice->elseBody->stmts);
  }
  bool result = false;
  forEachOperand(*each, [&](const Expr *operand) { result = result || expr(operand); });
  return result;
}

bool NeedsConstant::stmt(const Stmt &each) {
  if (auto *binding = dynAs<DeclStmt>(&each)) {
    if (uses(binding->init.get()) && binding->declKind != DeclKind::Var)
      add(*binding->pattern);
    bool isConst = binding->declKind == DeclKind::Const && uses(binding->init.get());
    return isConst || expr(binding->init.get());
  }
  if (auto *use = dynAs<UseStmt>(&each))
    return uses(use->value.get());
  if (auto *assign = dynAs<AssignStmt>(&each))
    return expr(assign->value.get());
  if (auto *plain = dynAs<ExprStmt>(&each))
    return expr(plain->expr.get());
  if (auto *result = dynAs<ReturnStmt>(&each))
    return result->value && expr(result->value.get());
  if (auto *loop = dynAs<ForStmt>(&each))
    return (!dynAs<RangeExpr>(loop->iterable.get()) && uses(loop->iterable.get())) ||
           stmts(loop->body.stmts);
  if (auto *minimize = dynAs<MinimizeStmt>(&each))
    return expr(minimize->loss.get());
  if (auto *print = dynAs<PrintStmt>(&each))
    return llvm::any_of(print->text.parts,
                        [&](const TemplatePart &part) { return expr(part.expr.get()); });
  return false;
}

} // namespace

bool Elaborator::mustUnroll(const ForStmt &stmt) {
  auto isList = [&](const Expr &base) {
    if (base.kind == ExprKind::List || base.kind == ExprKind::Tuple)
      return true;
    if (auto *call = dynAs<CallExpr>(&base)) {
      auto *name = dynAs<NameExpr>(call->callee.get());
      return name && name->isBuiltin && name->name == "shape";
    }
    auto *name = dynAs<NameExpr>(&base);
    if (name && name->decl) {
      for (FramePtr frame = frame_; frame; frame = frame->scope)
        if (auto found = frame->names.find(name->decl); found != frame->names.end())
          return found->second.is<SequencePtr>();
      // Declared inside the loop.
      auto *binding = dynAs<DeclStmt>(name->decl->stmt);
      return binding && binding->init &&
             (binding->init->kind == ExprKind::List || binding->init->kind == ExprKind::Tuple ||
              binding->init->kind == ExprKind::Comprehension);
    }
    if (auto *member = dynAs<MemberExpr>(&base); member && !member->decl) {
      auto *owner = dynAs<NameExpr>(member->base.get());
      if (!owner || !owner->decl || !frame_->names.contains(owner->decl))
        return false;
      auto *instance = frame_->names[owner->decl].get<InstancePtr>();
      if (!instance)
        return false;
      for (const auto &[decl, part] : (*instance)->parts)
        if (decl->name == member->member)
          return part.is<SequencePtr>();
    }
    return false;
  };
  return NeedsConstant(*stmt.pattern, isList).stmts(stmt.body.stmts);
}

//===- Loops of the run ----------------------------------------------------===//

std::vector<Value> Elaborator::carriedInits(const std::vector<const Decl *> &vars, Span span) {
  std::vector<Value> inits;
  for (const Decl *decl : vars) {
    Operand operand{frame_->names[decl], decl->span};
    Value value = operand.value.is<SequencePtr>() ? Value() : tensor(operand);
    if (!value && !operand.value.isPoison())
      emit.error(DiagCode::PD0113, decl->span,
                 absl::StrCat("the loop changes '", decl->name, "', which is ",
                              describe(operand.value), " and not a tensor"))
          .withSecondary(span, "in this loop");
    // Something of the right kind, so that the loop can be built and looked at.
    inits.push_back(value ? value : emit.constant(int64_t{0}, DType::I64, span));
  }
  return inits;
}

void Elaborator::runLoopBody(const ForStmt &stmt, Block &block,
                             const std::vector<const Decl *> &vars, Value counter) {
  OpBuilder::InsertionGuard guard(emit.b);
  emit.b.setInsertionPointToStart(&block);
  auto carried = block.getArguments().take_back(vars.size());
  for (size_t i = 0; i < vars.size(); ++i)
    if (!frame_->names[vars[i]].isPoison())
      frame_->names[vars[i]] = Value(carried[i]);
  counters_.push_back(counter);
  ++regionDepth_;
  auto dims = frame_->dims; // those that the body binds are not known behind it
  exec(stmt.body.stmts);
  frame_->dims = dims;
  --regionDepth_;
  counters_.pop_back();
  SmallVector<Value> yields;
  for (size_t i = 0; i < vars.size(); ++i) {
    auto *value = frame_->names[vars[i]].get<Value>();
    Value before = carried[i];
    bool stays = value && value->getType() == before.getType() &&
                 emit.shapes.dimsOf(*value) == emit.shapes.dimsOf(before);
    if (value && !stays)
      emit.error(DiagCode::PD0113, vars[i]->span,
                 absl::StrCat("'", vars[i]->name, "' is ", emit.typeText(before),
                              " before the loop and ", emit.typeText(*value), " after a round"))
          .withSecondary(stmt.span, "in this loop")
          .withNote("what a loop carries keeps its element type and shape");
    yields.push_back(stays ? *value : before);
  }
  YieldOp::create(emit.b, emit.loc(stmt.span), yields);
}

void Elaborator::execRange(const ForStmt &stmt, const RangeExpr &range) {
  Value lower = size(evalOperand(*range.lo), "the begin of a range");
  Operand end = evalOperand(*range.hi);
  if (range.isInclusive)
    end.value = binary(BinaryOp::Add, end, {int64_t{1}, range.span}, range.span);
  Value upper = size(end, "the end of a range");
  if (!lower || !upper)
    return;
  auto vars = assignedVars(stmt.body);
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
  runLoopBody(stmt, block, vars, counter);
  for (size_t i = 0; i < vars.size(); ++i)
    if (!frame_->names[vars[i]].isPoison())
      frame_->names[vars[i]] = Value(loop.getResult(i));
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
  auto vars = assignedVars(stmt.body);
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
  define(*stmt.pattern, {value, stmt.iterable->span});
  runLoopBody(stmt, block, vars, counter);
  for (size_t i = 0; i < vars.size(); ++i)
    if (!frame_->names[vars[i]].isPoison())
      frame_->names[vars[i]] = Value(loop.getResult(i));
}

} // namespace pdg
