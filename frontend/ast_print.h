// The syntax tree as text: `pdc emit --stage=ast`, and the tests of the parser.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/ast.h"
#include <string>

namespace pdg {

/// A file as a canonical script with every operation in parentheses. Parsing the text again gives
/// the same tree.
std::string printAst(const FileAst &file);

/// One expression or statement in the same form.
std::string printAst(const Expr &expr);
std::string printAst(const Stmt &stmt);

/// A type in the same form: "f32[N, 10]".
std::string printAst(const TypeSyntax &type);

} // namespace pdg
