// What the tests of elaboration share: from a script with the real library to IR text or messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/elaborate.h"
#include "ir/dialect.h"
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

namespace pdg::test {

/// One script on its way to IR.
struct Elaboration {
  explicit Elaboration(const std::string &text, const ElaborateOptions &options = {}) {
    context.loadDialect<PdgDialect>();
    LoadOptions load;
    load.builtins = builtinNames();
    load.stdlibFolder = PDG_SOURCE_DIR "/stdlib";
    load.warnsUnused = false;
    program = loadProgramText(sources, "dir/test.pdg", text, load, diagnostics);
    if (program && !diagnostics.hasErrors())
      module = elaborate(*program, sources, diagnostics, context, options);
  }

  /// The IR, or the messages if there is none.
  std::string ir() {
    if (!module)
      return diagnostics.renderText();
    std::string text;
    llvm::raw_string_ostream out(text);
    module->print(out);
    return text;
  }

  /// Every message as "PD0101 3:7", by place; those in other files with the file's name.
  std::string codes() const {
    std::ostringstream out;
    const char *separator = "";
    for (const Diagnostic &each : diagnostics.sorted()) {
      out << separator << codeName(each.code);
      if (each.span.isValid()) {
        LineColumn place = sources.lineColumn(each.span);
        out << " " << place.line << ":" << place.column;
      }
      separator = ", ";
    }
    return out.str();
  }

  /// The first message as text.
  std::string text() const { return diagnostics.renderText(); }

  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  std::unique_ptr<Program> program;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

inline std::string irOf(const std::string &text, const ElaborateOptions &options = {}) {
  return Elaboration(text, options).ir();
}
inline std::string codesOf(const std::string &text, const ElaborateOptions &options = {}) {
  return Elaboration(text, options).codes();
}
inline std::string messageOf(const std::string &text) { return Elaboration(text).text(); }

/// Expects `parts` in `text`, in this order.
inline void expectInOrder(const std::string &text, const std::vector<std::string> &parts) {
  size_t at = 0;
  for (const std::string &part : parts) {
    size_t found = text.find(part, at);
    if (found == std::string::npos) {
      ADD_FAILURE() << "expected \"" << part << "\" in\n" << text.substr(at);
      return;
    }
    at = found + part.size();
  }
}

inline size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

} // namespace pdg::test
