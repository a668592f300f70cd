// A libFuzzer target: any bytes, from text to IR and to messages.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborate.h"
#include "ir/dialect.h"

#include <memory>
#include <string>

using namespace pdg;

namespace {

/// A context that is made anew from time to time: it keeps every type and attribute that it saw.
mlir::MLIRContext &freshContext() {
  constexpr int MaxInputs = 500;
  static std::unique_ptr<mlir::MLIRContext> context;
  static int inputs = 0;
  if (!context || ++inputs % MaxInputs == 0) {
    context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    context->loadDialect<PdgDialect>();
  }
  return *context;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  LoadOptions options;
  options.builtins = builtinNames();
  options.stdlibFolder = PDG_SOURCE_DIR "/stdlib";
  std::string text(reinterpret_cast<const char *>(data), size);
  auto program = loadProgramText(sources, "/nowhere/fuzz.pdg", text, options, diagnostics);
  if (program && !diagnostics.hasErrors())
    elaborate(*program, sources, diagnostics, freshContext(), ElaborateOptions());
  diagnostics.renderText();
  diagnostics.renderJson();
  return 0;
}
