// From a script to a Program: loads what it imports and binds every name to its declaration.
// Operations and types are known here only by name; what they mean is decided by elaboration.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "frontend/ast.h"
#include "frontend/diagnostics.h"
#include <memory>
#include <string>
#include <string_view>

namespace pdg {

/// The names that every script knows without declaring them.
struct BuiltinNames {
  /// Functions and values ("relu", "mean"); members of modules by their full name ("io.idx").
  absl::flat_hash_set<std::string> functions;
  /// Element types ("f32"); they are functions too (casts).
  absl::flat_hash_set<std::string> types;
};

/// Names around a script: those of the earlier entries of a session.
using OuterNames = absl::flat_hash_map<std::string, Decl *>;

/// How a program is loaded.
struct LoadOptions {
  BuiltinNames builtins;
  std::string stdlibFolder; // where `import nn` is looked up: nn.pdg
  bool warnsUnused = true;
  const OuterNames *outer = nullptr; // may be null; the script's own names hide them
};

/// The folder of the library: $PDG_STDLIB, ../share/pdg/stdlib beside the program, or the sources'.
std::string defaultStdlibFolder();

/// Loads the script at `path` with its imports, parses and resolves. Reports what is wrong; the
/// result may be used for anything but looking at only if there are no errors. Null if the script
/// could not be read or parsed at all.
std::unique_ptr<Program> loadProgram(SourceManager &sources, const std::string &path,
                                     const LoadOptions &options, DiagnosticEngine &diagnostics);

/// The same for a text that is not in a file; `path` is shown in messages, and its folder is where
/// files that the text imports are looked up.
std::unique_ptr<Program> loadProgramText(SourceManager &sources, const std::string &path,
                                         const std::string &text, const LoadOptions &options,
                                         DiagnosticEngine &diagnostics);

/// Binds the names of one file whose imports are loaded. `isScript` is false for imported files,
/// which may contain only imports, blocks and constants.
void resolveFile(FileAst &file, bool isScript, const LoadOptions &options,
                 DiagnosticEngine &diagnostics);

/// The block or constant that a file offers under `name` to those who import it; null if none.
const Decl *findExport(const FileAst &file, std::string_view name);

} // namespace pdg
