// The state between the entries of a session: what is kept, what is taken back, what is dropped.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborate_session.h"

#include <set>

namespace pdg {

//===- Walks ---------------------------------------------------------------===//

static void forEachName(const Pattern &pattern, llvm::function_ref<void(const Decl &)> visit) {
  if (pattern.isName())
    return visit(pattern.decl);
  for (const PatternPtr &element : pattern.elements)
    forEachName(*element, visit);
}

void forEachName(const FileAst &file, llvm::function_ref<void(const Decl &)> visit) {
  for (const std::unique_ptr<Decl> &variable : file.typeVars)
    visit(*variable);
  for (const StmtPtr &stmt : file.stmts) {
    if (auto *block = dynAs<BlockStmt>(stmt.get()))
      visit(block->decl);
    else if (auto *use = dynAs<UseStmt>(stmt.get()))
      visit(use->decl);
    else if (auto *declaration = dynAs<DeclStmt>(stmt.get()))
      forEachName(*declaration->pattern, visit);
    else if (auto *import = dynAs<ImportStmt>(stmt.get()))
      for (const std::unique_ptr<ImportItem> &item : import->items)
        visit(item->decl);
  }
}

namespace {

/// Rebuilds values from their parts. Instances are shared: they are changed where they are.
class Replacer {
public:
  explicit Replacer(llvm::function_ref<Datum(const Datum &)> map) : map_(map) {}

  Datum replace(const Datum &datum) {
    if (auto *sequence = datum.get<SequencePtr>()) {
      auto copy = std::make_shared<Sequence>(**sequence);
      for (Datum &element : copy->elements)
        element = replace(element);
      return SequencePtr(copy);
    }
    if (auto *block = datum.get<BlockPtr>())
      return replaceArguments(*block);
    if (auto *instance = datum.get<InstancePtr>(); instance && seen_.insert(*instance).second) {
      (*instance)->block = replaceArguments((*instance)->block);
      for (auto &[decl, part] : (*instance)->parts)
        part = replace(part);
    }
    return map_(datum);
  }

private:
  BlockPtr replaceArguments(const BlockPtr &block) {
    if (!block || block->bound.empty())
      return block;
    auto copy = std::make_shared<BlockValue>(*block);
    for (auto &[decl, argument] : copy->bound)
      argument.value = replace(argument.value);
    return copy;
  }

  llvm::function_ref<Datum(const Datum &)> map_;
  std::set<InstancePtr> seen_;
};

} // namespace

void replaceParts(Frame &frame, llvm::function_ref<Datum(const Datum &)> map) {
  Replacer replacer(map);
  for (auto &[decl, value] : frame.names)
    value = replacer.replace(value);
}

Datum replaceParts(const Datum &value, llvm::function_ref<Datum(const Datum &)> map) {
  return Replacer(map).replace(value);
}

/// True if a value is, or has in it, a tensor that was not computed.
static bool lacksValue(const Datum &value) {
  bool result = false;
  replaceParts(value, [&](const Datum &part) {
    auto *carried = part.get<CarriedPtr>();
    result |= carried && !(*carried)->value;
    return part;
  });
  return result;
}

//===- Going back ----------------------------------------------------------===//

struct SessionState::Checkpoint {
  OuterNames names;
  Frame frame;
  std::map<const FileAst *, std::shared_ptr<Frame>> fileFrames;
  std::map<const Decl *, const FileAst *> fileOf;
  std::vector<Variable> variables;
  std::vector<Source> sources;
  std::vector<std::pair<InstancePtr, Instance>> instances;
};

SessionState::SessionState() : frame_(std::make_shared<Frame>()) {
  frame_->instance = std::make_shared<Instance>();
  frame_->instance->isApplied = true;
}

SessionState::~SessionState() = default;

std::shared_ptr<SessionState::Checkpoint> SessionState::checkpoint() const {
  auto result = std::make_shared<Checkpoint>();
  result->names = names_;
  result->frame = *frame_;
  result->fileFrames = fileFrames_;
  result->fileOf = fileOf_;
  for (const auto &variable : variables_)
    result->variables.push_back(*variable);
  for (const auto &source : sources_)
    result->sources.push_back(*source);
  result->instances.emplace_back(frame_->instance, *frame_->instance);
  Frame copy = *frame_;
  replaceParts(copy, [&](const Datum &part) {
    if (auto *instance = part.get<InstancePtr>())
      result->instances.emplace_back(*instance, **instance);
    return part;
  });
  return result;
}

void SessionState::restore(const Checkpoint &checkpoint) {
  names_ = checkpoint.names;
  *frame_ = checkpoint.frame;
  fileFrames_ = checkpoint.fileFrames;
  fileOf_ = checkpoint.fileOf;
  variables_.resize(checkpoint.variables.size());
  for (size_t i = 0; i < variables_.size(); ++i)
    *variables_[i] = checkpoint.variables[i];
  for (size_t i = checkpoint.sources.size(); i < sources_.size(); ++i)
    sourceOps_.erase(sources_[i].get());
  sources_.resize(checkpoint.sources.size());
  for (size_t i = 0; i < sources_.size(); ++i)
    *sources_[i] = checkpoint.sources[i];
  for (const auto &[instance, content] : checkpoint.instances)
    *instance = content;
  pending_.clear();
  pendingDims_.clear();
  given_.clear();
}

void SessionState::keepDeclarations(const Checkpoint &before) {
  std::vector<std::string> broken;
  for (const auto &[name, decl] : names_) {
    auto value = frame_->names.find(decl);
    bool isUnknown = value != frame_->names.end() && lacksValue(value->second);
    if (isUnknown || pendingDims_.contains(decl))
      broken.push_back(name);
  }
  for (const std::string &name : broken) {
    names_.erase(name);
    auto old = before.names.find(name);
    if (old == before.names.end())
      continue;
    names_[name] = old->second;
    if (auto value = before.frame.names.find(old->second); value != before.frame.names.end())
      frame_->names[old->second] = value->second;
  }
  pendingDims_.clear();
}

//===- Going on ------------------------------------------------------------===//

void SessionState::addNames(const FileAst &entry) {
  // The session owns the programs of its entries.
  forEachName(entry, [&](const Decl &decl) {
    if (decl.name != "_")
      names_[decl.name] = const_cast<Decl *>(&decl);
  });
  std::set<const Decl *> visible;
  for (const auto &[name, decl] : names_)
    visible.insert(decl);
  // Blocks go on seeing the constants that were around them.
  auto isHidden = [&](const Decl *decl) {
    return !visible.contains(decl) && decl->kind != DeclKind::Const;
  };
  std::erase_if(frame_->names, [&](auto &name) { return isHidden(name.first); });
  std::erase_if(frame_->dims, [&](auto &dim) { return isHidden(dim.first); });
  std::erase_if(frame_->types, [&](auto &type) { return isHidden(type.first); });
  std::erase_if(frame_->instance->variables, [&](auto &part) { return isHidden(part.first); });
  std::erase_if(frame_->instance->parts, [&](auto &part) { return isHidden(part.first); });
}

/// Variables and sources that no name leads to any more.
void SessionState::dropHidden() {
  std::set<const Variable *> variables;
  std::set<const Source *> sources;
  for (const auto &[decl, variable] : frame_->instance->variables)
    variables.insert(variable);
  replaceParts(*frame_, [&](const Datum &part) {
    if (auto *variable = part.get<Variable *>())
      variables.insert(*variable);
    if (auto *source = part.get<const Source *>())
      sources.insert(*source);
    if (auto *instance = part.get<InstancePtr>())
      for (const auto &[decl, variable] : (*instance)->variables)
        variables.insert(variable);
    return part;
  });
  std::erase_if(values_, [&](auto &value) { return !variables.contains(value.first); });
  std::erase_if(variables_, [&](auto &variable) { return !variables.contains(variable.get()); });
  for (const auto &source : sources_)
    if (!sources.contains(source.get())) {
      passes_.erase(source->symbol);
      sourceOps_.erase(source.get());
    }
  std::erase_if(sources_, [&](auto &source) { return !sources.contains(source.get()); });
}

void SessionState::commit(std::unique_ptr<Program> entry) {
  for (const auto &[decl, carried] : pendingDims_) {
    BoundDim &dim = frame_->dims.at(decl);
    dim.size =
        mlir::getAffineConstantExpr(carried->value->values<int64_t>()[0], dim.size.getContext());
  }
  for (auto &[decl, dim] : frame_->dims)
    dim.tensor = dim.scalar = {};
  pending_.clear();
  pendingDims_.clear();
  given_.clear();
  dropHidden();
  entry_ += entry->main().stmts.empty() ? 0 : 1; // Comments are no entry.
  programs_.push_back(std::move(entry));
}

//===- Looking -------------------------------------------------------------===//

const Datum *SessionState::find(const Decl &decl) const {
  auto found = frame_->names.find(&decl);
  return found == frame_->names.end() ? nullptr : &found->second;
}

std::vector<TensorRef> SessionState::variables() {
  std::vector<TensorRef> result;
  for (const auto &variable : variables_)
    if (auto value = values_.find(variable.get()); value != values_.end())
      result.push_back({variable->name.str(), &value->second});
  return result;
}

void SessionState::setVariable(const std::string &name, HostTensor value) {
  for (const auto &variable : variables_)
    if (variable->name.str() == name)
      values_[variable.get()] = std::move(value);
}

} // namespace pdg
