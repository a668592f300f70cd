// Blocks that are never applied: checked as far as their written types say what they get.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborator.h"
#include "ir/ops/variable.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

/// True for errors that hold whatever the sizes and constants are that the trial does not know.
static bool isCertain(DiagCode code) {
  switch (code) {
  case DiagCode::PD0043: // assignments
  case DiagCode::PD0048: // places
  case DiagCode::PD0100: // kinds and types
  case DiagCode::PD0101: // shapes
  case DiagCode::PD0104: // arithmetic on constants
  case DiagCode::PD0105: // arguments
  case DiagCode::PD0106:
  case DiagCode::PD0107:
  case DiagCode::PD0110: // members
  case DiagCode::PD0111: // indices
  case DiagCode::PD0116:
  case DiagCode::PD0121:
  case DiagCode::PD0122:
  case DiagCode::PD0125: // returns
    return true;
  default:
    return false;
  }
}

/// What is known of an argument without a call: a tensor of the written type, whose free sizes are
/// unknown; the default of a constant; else nothing.
Datum Elaborator::unknownArgument(const Arg &arg, DType unknown) {
  if (!arg.type || arg.type->name == "param")
    return Poison();
  if (arg.type->isCompileTime()) {
    if (!arg.defaultValue)
      return Poison();
    auto converted = convertArg(arg, {evalArg(arg, *arg.defaultValue), arg.defaultValue->span});
    return converted.value_or(Poison());
  }
  auto dtype = elementType(*arg.type, unknown);
  if (!dtype)
    return Poison();
  SmallVector<int64_t> shape;
  for (const ExprPtr &dim : arg.type->dims) {
    auto *number = dynAs<IntExpr>(dim.get());
    auto *name = dynAs<NameExpr>(dim.get());
    bool isConstant = name && name->decl && name->decl->kind == DeclKind::Const;
    auto known = number || isConstant ? knownInt(eval(*dim)) : std::nullopt;
    shape.push_back(known && *known >= 0 ? *known : ShapedType::kDynamic);
  }
  if (isTooManyElements(shape))
    return Poison();
  Value value =
      InputOp::create(emit.b, emit.loc(arg.span),
                      RankedTensorType::get(shape, emit.elementOf(*dtype)), arg.decl.name);
  bindType(*arg.type, value, arg.decl.span);
  Dims dims = emit.shapes.dimsOf(value);
  for (size_t i = 0; i < dims.size(); ++i)
    if (auto *name = dynAs<NameExpr>(arg.type->dims[i].get()))
      emit.nameSize(dims[i], name->name);
  return value;
}

/// Elaborates a block aside, with `unknown` for element types that are not written, and gives the
/// errors. Nothing else is left of it.
std::vector<Diagnostic> Elaborator::tryUnapplied(const BlockStmt &block, const FileAst &file,
                                                 DType unknown) {
  auto scratch = std::make_unique<Region>();
  OpBuilder::InsertionGuard guard(emit.b);
  emit.b.setInsertionPointToStart(&scratch->emplaceBlock());
  size_t messages = diagnostics_.count(), variables = variables_.size();
  auto byName = byName_;
  auto instances = instances_;
  auto states = optimizerStates_;
  auto work = work_;
  auto frame = std::make_shared<Frame>();
  frame->block = &block;
  frame->scope = fileFrame(&file);
  frame->instance = std::make_shared<Instance>();
  frame->instance->path = block.decl.name + "?";
  frame->regionDepth = regionDepth_;
  FramePtr outer = std::exchange(frame_, frame);
  for (const auto &arg : block.args)
    frame->names[&arg->decl] = unknownArgument(*arg, unknown);
  exec(block.body.stmts);
  if (!frame->hasReturned && block.hasResults && !isAborted_)
    reportMissingReturn(block);
  frame_ = outer;
  work_ = work;
  optimizerStates_ = states;
  instances_ = instances;
  byName_ = byName;
  // The shape analysis knows the values, so the ops stay alive, aside.
  for (size_t i = variables; i < variables_.size(); ++i)
    for (Operation &op : llvm::make_early_inc_range(*module_->getBody()))
      if (auto variable = dyn_cast<VariableOp>(op);
          variable && variable.getName() == variables_[i]->name)
        op.moveBefore(&scratch->front(), scratch->front().end());
  variables_.resize(variables);
  abandoned_.push_back(std::move(scratch));
  return diagnostics_.takeFrom(messages);
}

void Elaborator::checkUnapplied(const BlockStmt &block, const FileAst &file) {
  std::vector<Diagnostic> errors = tryUnapplied(block, file, DType::F32);
  std::erase_if(errors, [](const Diagnostic &each) { return !isCertain(each.code); });
  // An error that depends on the element type would not be one for another type.
  for (DType other : {DType::F64, DType::I64}) {
    if (errors.empty() || isAborted_)
      break;
    std::vector<Diagnostic> again = tryUnapplied(block, file, other);
    std::erase_if(errors, [&](const Diagnostic &each) {
      return llvm::none_of(again, [&](const Diagnostic &same) {
        return same.code == each.code && same.span == each.span;
      });
    });
  }
  for (Diagnostic &each : errors)
    diagnostics_.report(each.code, each.span, "") = each;
}

void Elaborator::checkUnappliedBlocks() {
  for (const auto &file : program_.files) {
    if (!file->module.empty())
      continue;
    for (const StmtPtr &stmt : file->stmts) {
      auto *block = dynAs<BlockStmt>(stmt.get());
      if (block && !applied_.contains(block) && !isAborted_)
        checkUnapplied(*block, *file);
    }
  }
}

} // namespace pdg
