// Entry of the elaboration; frames and the names in them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborate.h"
#include "frontend/elaborator.h"
#include "ir/ops/control.h"
#include "ir/ops/shape.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace pdg {

/// More applications of blocks and unrolled rounds than this are a mistake in the script.
static constexpr size_t MaxWork = 50'000;

OwningOpRef<ModuleOp> elaborate(const Program &program, const SourceManager &sources,
                                DiagnosticEngine &diagnostics, MLIRContext &context,
                                const ElaborateOptions &options) {
  return Elaborator(program, sources, diagnostics, context, options).run();
}

Elaborator::Elaborator(const Program &program, const SourceManager &sources,
                       DiagnosticEngine &diagnostics, MLIRContext &context,
                       const ElaborateOptions &options)
    : emit(sources, diagnostics, context), program_(program), diagnostics_(diagnostics),
      options_(options), byName_([](Attribute a, Attribute b) {
        return a.getAsOpaquePointer() < b.getAsOpaquePointer();
      }) {}

OwningOpRef<ModuleOp> Elaborator::run() {
  for (const auto &file : program_.files) {
    fileFrames_[file.get()] = std::make_shared<Frame>();
    if (!file->module.empty())
      emit.addLibraryFile(file->file);
    for (const StmtPtr &stmt : file->stmts) {
      if (auto *block = dynAs<BlockStmt>(stmt.get()))
        fileOf_[&block->decl] = file.get();
      else if (auto *decl = dynAs<DeclStmt>(stmt.get());
               decl && decl->declKind == DeclKind::Const && decl->pattern->isName())
        fileOf_[&decl->decl()] = file.get();
    }
  }
  const FileAst &script = program_.main();
  frame_ = fileFrame(&script);
  frame_->instance = std::make_shared<Instance>();
  frame_->instance->isApplied = true;
  Span start{script.file, 0, 0};
  module_ = ModuleOp::create(emit.loc(start));
  emit.b.setInsertionPointToEnd(module_->getBody());
  auto program = ProgramOp::create(emit.b, emit.loc(start));
  programOp_ = program;
  emit.b.setInsertionPointToStart(&program.getBody().emplaceBlock());
  if (options_.session)
    enterSession();
  checkGivenNames();
  if (options_.session)
    execEntry();
  else
    exec(script.stmts);
  if (!options_.session)
    checkUnappliedBlocks();
  YieldOp::create(emit.b, emit.loc(start), ValueRange());
  if (options_.session)
    leaveSession();
  else
    checkInstances();
  if (diagnostics_.hasErrors())
    return {};
  warnWithoutUpdate();
  if (failed(verify(*module_))) {
    emit.error(DiagCode::PD0126, start, "the program does not pass the checks of its operations")
        .withNote(emit.lastRefusal());
    return {};
  }
  return std::move(module_);
}

bool Elaborator::isTooLarge(Span span) {
  if (isAborted_)
    return true;
  if (++work_ <= MaxWork)
    return false;
  isAborted_ = true;
  emit.error(DiagCode::PD0109, span,
             absl::StrCat("more than ", MaxWork, " applications of blocks and unrolled rounds"));
  return true;
}

//===- Names ---------------------------------------------------------------===//

/// The frame in which a declaration that blocks can see was made.
Elaborator::FramePtr Elaborator::scopeOf(const Decl &decl) {
  if (auto file = fileOf_.find(&decl); file != fileOf_.end())
    return fileFrame(file->second);
  for (FramePtr frame = frame_; frame; frame = frame->scope)
    if (frame->block == decl.owner)
      return frame;
  return frame_;
}

Datum Elaborator::lookup(const Decl &decl, Span span) {
  if (decl.kind == DeclKind::DimVar || decl.kind == DeclKind::TypeVar)
    return lookupTypeVariable(decl, span);
  if (decl.kind == DeclKind::Block)
    return BlockPtr(new BlockValue{decl.block, scopeOf(decl), {}, decl.name});
  for (FramePtr frame = frame_; frame; frame = frame->scope)
    if (auto found = frame->names.find(&decl); found != frame->names.end())
      return found->second;
  auto file = fileOf_.find(&decl);
  if (decl.kind != DeclKind::Const || file == fileOf_.end())
    return Poison(); // its declaration had an error, or was not reached because of one
  if (!beingEvaluated_.insert(&decl).second) {
    emit.error(DiagCode::PD0103, span,
               absl::StrCat("the constant '", decl.name, "' depends on itself"));
    return Poison();
  }
  FramePtr caller = std::exchange(frame_, fileFrame(file->second));
  execConst(as<DeclStmt>(*decl.stmt));
  Datum value = frame_->names[&decl];
  frame_ = caller;
  beingEvaluated_.erase(&decl);
  return value;
}

Datum Elaborator::lookupTypeVariable(const Decl &decl, Span span) {
  if (auto type = frame_->types.find(&decl); type != frame_->types.end())
    return type->second;
  auto dim = frame_->dims.find(&decl);
  if (dim == frame_->dims.end()) {
    emit.error(DiagCode::PD0103, span, absl::StrCat("the size '", decl.name, "' is not known here"))
        .withHint(
            "a dimension variable is bound by the shape of an argument: where it stands alone, "
            "or once in a sum or product with sizes that are known");
    return Poison();
  }
  if (auto known = knownSize(dim->second.size))
    return *known;
  return sizeOf(dim->second, span);
}

void Elaborator::definePoison(const Pattern &pattern) {
  if (pattern.isName())
    frame_->names[&pattern.decl] = Poison();
  for (const PatternPtr &element : pattern.elements)
    definePoison(*element);
}

void Elaborator::define(const Pattern &pattern, const Operand &value) {
  if (pattern.isName()) {
    frame_->names[&pattern.decl] = value.value;
    return;
  }
  if (value.value.isPoison())
    return definePoison(pattern);
  auto *sequence = value.value.get<SequencePtr>();
  if (!sequence || (*sequence)->elements.size() != pattern.elements.size()) {
    std::string found =
        sequence ? absl::StrCat((*sequence)->elements.size(), " values") : describe(value.value);
    emit.error(DiagCode::PD0122, pattern.span,
               absl::StrCat("expected ", pattern.elements.size(), " values to take apart, found ",
                            found))
        .withSecondary(value.span, "from here")
        .withHint(value.value.is<Value>() ? absl::StrCat("a tensor is cut into a list: split(x, ",
                                                         pattern.elements.size(), ", axis: 0)")
                  : value.value.is<const Source *>()
                      ? "a loop reads its batches: for (x, y) in name { ... }"
                      : "");
    return definePoison(pattern);
  }
  for (size_t i = 0; i < pattern.elements.size(); ++i)
    define(*pattern.elements[i], {(*sequence)->elements[i], value.span});
}

/// The path of an instance as a script writes it: `layers[0]` for "layers.0".
static std::string asExpression(const std::string &path) {
  std::string result;
  for (absl::string_view part : absl::StrSplit(path, '.')) {
    bool isNumber = !part.empty() && llvm::all_of(part, llvm::isDigit);
    absl::StrAppend(&result, isNumber ? "[" : result.empty() ? "" : ".", part, isNumber ? "]" : "");
  }
  return result;
}

void Elaborator::checkInstances() {
  if (diagnostics_.hasErrors())
    return;
  for (const InstancePtr &instance : instances_)
    if (!instance->isApplied && needsInstance(instance->block->block->body.stmts)) {
      std::string name = asExpression(instance->path);
      emit.error(DiagCode::PD0108, instance->span,
                 absl::StrCat("the instance '", name,
                              "' is never applied, so the shapes of its variables are not known"))
          .withHint(absl::StrCat("apply it to a value: ", name, "(x), or remove it"));
    }
}

/// A parameter that no loss depends on keeps its first value. Where every `minimize` says what it
/// is `over`, that may be wanted.
void Elaborator::warnWithoutUpdate() {
  if (diagnostics_.hasErrors() || !hasFreeMinimize_)
    return;
  for (const auto &variable : variables_)
    if (variable->isParam && !updated_.contains(variable.get()))
      emit.error(DiagCode::PD0191, variable->decl->span,
                 absl::StrCat("the parameter '", variable->name.str(),
                              "' gets no gradient: no loss depends on it"))
          .withHint("if it is not to be trained, declare it with 'state'");
}

} // namespace pdg
