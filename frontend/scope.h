// Which names are visible where, while a file is resolved.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "absl/container/flat_hash_map.h"
#include "frontend/ast.h"
#include "frontend/resolve.h"
#include <string>
#include <string_view>
#include <vector>

namespace pdg {

/// The names of one file, block or body.
struct Scope {
  BlockStmt *block = nullptr; // set if this is the scope of a block: its arguments and its body
  bool isLoop = false;        // the body of a loop
  absl::flat_hash_map<std::string, Decl *> names;
  absl::flat_hash_map<std::string, Span> upcoming; // declared further down, not visible yet
  absl::flat_hash_map<std::string, Span> ended;    // declared in inner bodies that have ended
};

/// The scopes around the place that is being resolved, innermost last.
class ScopeStack {
public:
  /// What a name means here.
  struct Found {
    Decl *decl = nullptr;
    const BlockStmt *hiddenBy = nullptr; // a value outside this block, which the block cannot see
  };

  /// `outer` are names around the file, or null; it outlives the stack.
  explicit ScopeStack(const OuterNames *outer = nullptr) : outer_(outer) {}

  void push(Scope scope) { scopes_.push_back(std::move(scope)); }
  void pop();
  Scope &top() { return scopes_.back(); }

  /// The innermost declaration of `name`. A block sees constants, modules, other blocks and
  /// compile-time arguments around it, but no values, and has its own dimension variables.
  Found find(std::string_view name) const;

  /// The place where `name` will be declared in this block or body or one around it.
  Span findUpcoming(std::string_view name) const;

  /// The place where an inner body that has ended declared `name`, in the same block.
  Span findEnded(std::string_view name) const;

  /// The innermost block around, and the scope that belongs to it (the file's if there is none).
  BlockStmt *block() const;
  Scope &blockScope();

  bool isInLoop() const;
  bool isFileLevel() const { return scopes_.size() == 1; }

  /// All names that `find` would find, for suggestions.
  std::vector<std::string> visibleNames() const;

  /// All modules that are visible.
  std::vector<const Decl *> visibleModules() const;

private:
  std::vector<Scope> scopes_;
  const OuterNames *outer_;
};

} // namespace pdg
