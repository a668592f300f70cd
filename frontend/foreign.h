// What people write who come from other languages and libraries, and what it is called here.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pdg {

/// What to write instead of a name that is common elsewhere: `range`, `None`, `np`. Empty if the
/// name means nothing special.
std::string hintForForeignName(std::string_view name);

/// What to write instead of `x.member`, where `x` is a tensor: `x.T`, `x.shape`. Empty if nothing
/// is known.
std::string hintForForeignMember(std::string_view member);

/// What to write instead of a module of another ecosystem: `import numpy`.
std::string hintForForeignModule(std::string_view name);

/// Our name of an argument that is called `name` elsewhere (`dim` is `axis`), or empty.
std::string_view ourArgumentName(std::string_view name);

/// The one of `names` that was likely meant by an argument `name`, as a hint; else empty.
std::string suggestArgument(std::string_view name, const std::vector<std::string> &names);

/// What to write instead of a call of a built-in function with more arguments than it has, where
/// other libraries take them. Empty if nothing is known.
std::string hintForSurplusArgument(std::string_view function);

/// What to write instead of a word that starts a declaration or a statement elsewhere (`def`,
/// `class`), or null.
const char *hintForForeignKeyword(std::string_view word);

} // namespace pdg
