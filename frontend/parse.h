// From text to syntax tree. The parser is generated from grammar/Pdg.g4; the wording of errors and
// the recovery from them are ours.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/ast.h"
#include "frontend/diagnostics.h"
#include <memory>
#include <string>
#include <vector>

namespace pdg {

/// Parses a file. Reports every independent syntax error and returns what could be understood:
/// statements with errors are left out and the names in them are kept in `brokenNames`. Returns
/// null if the text is not UTF-8 or is nested too deeply, which is reported too. Never crashes,
/// whatever the text.
std::unique_ptr<FileAst> parseFile(const SourceManager &sources, FileId file,
                                   DiagnosticEngine &diagnostics);

/// True if `text` ends inside brackets or a body, so that an interactive reader should ask for
/// another line before it parses.
bool isIncompleteEntry(std::string_view text);

/// The words that the grammar gives a meaning, for completion.
std::vector<std::string> grammarWords();

} // namespace pdg
