// Which names are visible where, while a file is resolved.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/scope.h"

#include "runtime/base/text.h"

namespace pdg {

/// True for what exists when a block is compiled, wherever it is applied.
static bool isVisibleInBlocks(const Decl &decl) {
  switch (decl.kind) {
  case DeclKind::Block:
  case DeclKind::Import:
  case DeclKind::Const:
    return true;
  case DeclKind::Arg:
    return decl.arg->type && decl.arg->type->isCompileTime();
  default:
    return false;
  }
}

static bool isTypeVariable(const Decl &decl) {
  return decl.kind == DeclKind::DimVar || decl.kind == DeclKind::TypeVar;
}

void ScopeStack::pop() {
  Scope last = std::move(scopes_.back());
  scopes_.pop_back();
  if (last.block || scopes_.empty())
    return;
  auto &ended = scopes_.back().ended;
  // The smaller one goes into the larger one, so that deep nesting stays cheap.
  if (ended.size() < last.ended.size())
    ended.swap(last.ended);
  ended.insert(last.ended.begin(), last.ended.end());
  for (const auto &[name, decl] : last.names)
    ended[name] = decl->span;
}

ScopeStack::Found ScopeStack::find(std::string_view name) const {
  const BlockStmt *crossed = nullptr;
  for (size_t i = scopes_.size(); i-- > 0;) {
    const Scope &scope = scopes_[i];
    auto found = scope.names.find(toAbsl(name));
    if (found != scope.names.end() && !(crossed && isTypeVariable(*found->second))) {
      bool isHidden = crossed && !isVisibleInBlocks(*found->second);
      return {found->second, isHidden ? crossed : nullptr};
    }
    if (!crossed)
      crossed = scope.block;
  }
  auto found = outer_ ? outer_->find(toAbsl(name)) : OuterNames::const_iterator();
  if (!outer_ || found == outer_->end() || (crossed && isTypeVariable(*found->second)))
    return {};
  return {found->second, crossed && !isVisibleInBlocks(*found->second) ? crossed : nullptr};
}

Span ScopeStack::findUpcoming(std::string_view name) const {
  for (size_t i = scopes_.size(); i-- > 0;) {
    auto found = scopes_[i].upcoming.find(toAbsl(name));
    if (found != scopes_[i].upcoming.end())
      return found->second;
  }
  return {};
}

Span ScopeStack::findEnded(std::string_view name) const {
  for (size_t i = scopes_.size(); i-- > 0;) {
    auto found = scopes_[i].ended.find(toAbsl(name));
    if (found != scopes_[i].ended.end())
      return found->second;
    if (scopes_[i].block)
      break;
  }
  return {};
}

BlockStmt *ScopeStack::block() const {
  for (size_t i = scopes_.size(); i-- > 0;)
    if (scopes_[i].block)
      return scopes_[i].block;
  return nullptr;
}

Scope &ScopeStack::blockScope() {
  size_t i = scopes_.size() - 1;
  while (i > 0 && !scopes_[i].block)
    --i;
  return scopes_[i];
}

bool ScopeStack::isInLoop() const {
  for (size_t i = scopes_.size(); i-- > 0 && !scopes_[i].block;)
    if (scopes_[i].isLoop)
      return true;
  return false;
}

std::vector<std::string> ScopeStack::visibleNames() const {
  std::vector<std::string> result;
  for (const Scope &scope : scopes_)
    for (const auto &[name, decl] : scope.names)
      if (Found found = find(name); found.decl == decl && !found.hiddenBy)
        result.push_back(name);
  if (outer_)
    for (const auto &[name, decl] : *outer_)
      if (Found found = find(name); found.decl == decl && !found.hiddenBy)
        result.push_back(name);
  return result;
}

std::vector<const Decl *> ScopeStack::visibleModules() const {
  std::vector<const Decl *> result;
  for (const auto &[name, decl] : scopes_.front().names)
    if (decl->kind == DeclKind::Import)
      result.push_back(decl);
  if (outer_)
    for (const auto &[name, decl] : *outer_)
      if (decl->kind == DeclKind::Import && !scopes_.front().names.contains(name))
        result.push_back(decl);
  return result;
}

} // namespace pdg
