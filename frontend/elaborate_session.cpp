// Entries of a session as whole programs: what earlier entries left is declared, and tensors that
// later ones may name are fetched.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborate_session.h"
#include "frontend/elaborator.h"
#include "ir/ops/control.h"
#include "ir/ops/effects.h"
#include "ir/ops/shape.h"

#include "absl/strings/str_cat.h"

#include <filesystem>

using namespace mlir;

namespace pdg {

//===- Before the entry ----------------------------------------------------===//

/// Declares a variable whose value comes from an earlier entry: its first value is not looked at.
static void declareVariable(Emitter &emit, const Variable &variable, Span span) {
  Location loc = emit.loc(span);
  auto op = VariableOp::create(emit.b, loc, variable.name, variable.type, variable.isParam);
  OpBuilder::InsertionGuard guard(emit.b);
  emit.b.setInsertionPointToStart(&op.getInit().emplaceBlock());
  DType dtype = *toDType(variable.type.getElementType());
  bool isStored = isStorageType(dtype); // Of such a type there are casts, but no constants.
  Type element = emit.elementOf(!isStored ? dtype : isFloat(dtype) ? DType::F64 : DType::I64);
  Attribute zero = isa<FloatType>(element) ? Attribute(emit.b.getFloatAttr(element, 0))
                                           : Attribute(IntegerAttr::get(element, 0));
  auto type = RankedTensorType::get(variable.type.getShape(), element);
  Value value = ConstantOp::create(emit.b, loc, DenseElementsAttr::get(type, zero));
  YieldOp::create(emit.b, loc, emit.cast(value, dtype, span));
}

/// The value of a tensor that an earlier entry left. Whole numbers are constants: they may be
/// sizes.
static Value bring(Emitter &emit, const Carried &carried, Span span) {
  const HostTensor &tensor = *carried.value;
  if (tensor.rank() == 0 && tensor.dtype() == DType::I64)
    return emit.constant(tensor.values<int64_t>()[0], DType::I64, span);
  auto type = RankedTensorType::get(tensor.shape(), emit.elementOf(tensor.dtype()));
  return InputOp::create(emit.b, emit.loc(span), type, carried.name);
}

void Elaborator::enterSession() {
  SessionState &state = *options_.session;
  variables_ = std::move(state.variables_);
  sources_ = std::move(state.sources_);
  fileFrames_.insert(state.fileFrames_.begin(), state.fileFrames_.end());
  fileOf_.insert(state.fileOf_.begin(), state.fileOf_.end());
  fileFrames_[&program_.main()] = frame_ = state.frame_;
  renameHidden();
  Span span{program_.main().file, 0, 0};
  OpBuilder::InsertionGuard guard(emit.b);
  emit.b.setInsertionPoint(programOp_);
  for (const auto &variable : variables_) {
    byName_[variable->name] = variable.get();
    declareVariable(emit, *variable, span);
  }
  for (const auto &source : sources_)
    emit.b.insert(state.sourceOps_.at(source.get())->clone());
  emit.b.setInsertionPointToEnd(&programOp_->getRegion(0).front());
  std::map<const Carried *, Value> brought;
  replaceTensors([&](const Datum &part) -> Datum {
    auto *carried = part.get<CarriedPtr>();
    if (!carried)
      return part;
    Value &value = brought[carried->get()];
    if (!value)
      value = bring(emit, **carried, span);
    state.given_[(*carried)->name] = *carried;
    state.carriedOf_[value] = *carried;
    return value;
  });
}

/// Replaces parts of all that goes from one entry to the next.
void Elaborator::replaceTensors(llvm::function_ref<Datum(const Datum &)> map) {
  replaceParts(*frame_, map);
  for (const auto &source : sources_)
    for (Operand &stage : source->stages)
      stage.value = replaceParts(stage.value, map);
}

/// "net.hidden" as "net~3.hidden" if it lies in the scope `hidden`, "net".
static std::string movedAway(StringRef path, StringRef hidden, int64_t entry) {
  StringRef rest = path;
  if (!rest.consume_front(hidden) || (!rest.empty() && rest.front() != '.'))
    return path.str();
  return absl::StrCat(hidden.str(), "~", entry, rest.str());
}

/// Names that the entry declares again make room for the variables of the new instance; what has
/// the old ones may still be in use.
void Elaborator::renameHidden() {
  SessionState &state = *options_.session;
  std::set<Instance *> instances;
  replaceParts(*frame_, [&](const Datum &part) {
    if (auto *instance = part.get<InstancePtr>())
      instances.insert(instance->get());
    return part;
  });
  forEachName(program_.main(), [&](const Decl &decl) {
    if (decl.kind != DeclKind::Use && decl.kind != DeclKind::Param && decl.kind != DeclKind::State)
      return;
    for (Instance *instance : instances)
      instance->path = movedAway(instance->path, decl.name, state.entry());
    for (const auto &variable : variables_) {
      NameAttr name = variable->name;
      std::string path = movedAway(name.getPath(), decl.name, state.entry());
      variable->name = NameAttr::get(emit.b.getContext(), emit.b.getStringAttr(path),
                                     name.getState(), name.getSlice(), name.getReplica());
    }
  });
}

//===- The entry -----------------------------------------------------------===//

void Elaborator::execEntry() {
  for (const StmtPtr &stmt : program_.main().stmts) {
    if (isAborted_)
      return;
    auto *bare = dynAs<ExprStmt>(stmt.get());
    if (bare && bare->expr->kind != ExprKind::If)
      showBare(*bare->expr);
    else
      exec(*stmt);
  }
  if (!diagnostics_.hasErrors())
    leaveTensors();
}

//===- After the entry -----------------------------------------------------===//

/// Fetches the tensors of all names that later entries see.
void Elaborator::leaveTensors() {
  SessionState &state = *options_.session;
  state.addNames(program_.main());
  Span span{program_.main().file, 0, 0};
  auto leave = [&](Value value) {
    CarriedPtr &carried = state.carriedOf_[value];
    if (!carried) {
      carried = std::make_shared<Carried>();
      carried->name = absl::StrCat("carried ", ++state.carriedCount_);
      FetchOp::create(emit.b, emit.loc(span), carried->name, value);
      state.pending_.push_back(carried);
    }
    return carried;
  };
  for (auto &[decl, dim] : frame_->dims)
    if (!knownSize(dim.size))
      state.pendingDims_[decl] = leave(sizeOf(dim, span));
  replaceTensors([&](const Datum &part) -> Datum {
    if (!part.is<Value>())
      return part;
    Value value = *part.get<Value>();
    // Inside loops and branches there are only arguments of parts of instances, which each
    // application gives anew.
    bool isTopLevel = value.getParentRegion() == &programOp_->getRegion(0);
    return isTopLevel ? Datum(leave(value)) : Datum(Poison());
  });
}

/// The declaration of a source for later entries. What is beside a script that one entry loads is
/// not beside the others: they get its place.
static SourceOp keepSource(SourceOp source, const DataPaths &paths) {
  SourceOp kept = source.clone();
  SmallVector<Attribute> files;
  for (StringRef file : source.getFiles().getAsValueRange<StringAttr>()) {
    std::string place = (std::filesystem::path(paths.scriptDir) / file.str()).string();
    bool isThere = !paths.scriptDir.empty() && resolveDataFiles(place, {}).ok();
    files.push_back(StringAttr::get(source.getContext(), isThere ? place : file.str()));
  }
  kept.setFilesAttr(ArrayAttr::get(source.getContext(), files));
  return kept;
}

/// Hands the state back, and leaves in the module only what this entry needs of it.
void Elaborator::leaveSession() {
  SessionState &state = *options_.session;
  if (!diagnostics_.hasErrors())
    for (auto op : module_->getBody()->getOps<SourceOp>())
      for (const auto &source : sources_)
        if (source->symbol == op.getSymName() && !state.sourceOps_.contains(source.get()))
          state.sourceOps_[source.get()] = keepSource(op, options_.data);
  llvm::DenseSet<Attribute> used;
  programOp_->walk([&](Operation *op) {
    op->getAttrDictionary().walk([&](Attribute attribute) {
      if (isa<NameAttr, FlatSymbolRefAttr>(attribute))
        used.insert(attribute);
    });
    if (auto input = dyn_cast<InputOp>(op); input && input.use_empty())
      op->erase();
  });
  for (Operation &op : llvm::make_early_inc_range(*module_->getBody())) {
    auto variable = dyn_cast<VariableOp>(op);
    auto source = dyn_cast<SourceOp>(op);
    bool isKept = variable && state.values_.contains(byName_.at(variable.getName()));
    if ((isKept && !used.contains(variable.getName())) ||
        (source && !used.contains(FlatSymbolRefAttr::get(source.getSymNameAttr()))))
      op.erase();
  }
  state.variables_ = std::move(variables_);
  state.sources_ = std::move(sources_);
  state.fileFrames_ = std::move(fileFrames_);
  state.fileOf_ = std::move(fileOf_);
  state.carriedOf_.clear();
}

} // namespace pdg
