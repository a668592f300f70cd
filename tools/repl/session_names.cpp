// The names of a session: for listing and completing them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/parse.h"
#include "tools/repl/session.h"

#include <algorithm>

namespace pdg {

std::vector<std::pair<std::string, const Decl *>> Session::names() const {
  std::vector<std::pair<std::string, const Decl *>> result(state_->names().begin(),
                                                           state_->names().end());
  std::sort(result.begin(), result.end());
  return result;
}

/// What stands behind the point of `base.`: members of a module or of an instance.
std::vector<std::string> Session::members(const std::string &base) const {
  std::vector<std::string> result;
  size_t point = base.find('.');
  auto found = state_->names().find(base.substr(0, point));
  if (found == state_->names().end())
    return result;
  const Decl &decl = *found->second;
  if (decl.kind == DeclKind::Import) {
    for (const std::string &name : builtinNames().functions)
      if (name.starts_with(base + "."))
        result.push_back(name.substr(base.size() + 1));
    if (decl.module)
      forEachName(*decl.module, [&](const Decl &each) { result.push_back(each.name); });
    return result;
  }
  const Datum *value = state_->find(decl);
  while (value && value->is<InstancePtr>()) {
    const Instance &instance = **value->get<InstancePtr>();
    if (point == std::string::npos) {
      for (const auto &[each, variable] : instance.variables)
        result.push_back(each->name);
      for (const auto &[each, part] : instance.parts)
        result.push_back(each->name);
      return result;
    }
    size_t next = base.find('.', point + 1);
    std::string name = base.substr(point + 1, next - point - 1);
    value = nullptr;
    for (const auto &[each, part] : instance.parts)
      if (each->name == name)
        value = &part;
    point = next;
  }
  return result;
}

std::vector<std::string> Session::complete(const std::string &word) const {
  std::vector<std::string> candidates;
  std::string stem;
  if (size_t point = word.rfind('.'); point != std::string::npos) {
    stem = word.substr(0, point + 1);
    candidates = members(word.substr(0, point));
  } else {
    candidates = grammarWords();
    for (const std::string &name : builtinNames().functions)
      if (name.find('.') == std::string::npos)
        candidates.push_back(name);
    for (const auto &[name, decl] : state_->names())
      candidates.push_back(name);
  }
  std::vector<std::string> result;
  for (const std::string &candidate : candidates)
    if ((stem + candidate).starts_with(word))
      result.push_back(stem + candidate);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

} // namespace pdg
