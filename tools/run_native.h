// The door from the driver to native code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/codegen/jit/program_loader.h"
#include "tools/driver_compile.h"

#include <memory>
#include <optional>
#include <string>

namespace pdg {

/// Native code that is ready to run: it is valid as long as `program` lives.
struct NativeCode {
  ProgramInfo info;
  std::unique_ptr<LoadedProgram> program;
};

/// Compiles the graph of `compilation` for `isa` (empty: the best that this processor runs), or
/// finds it in the cache, and loads it. The graph is changed. After an error, which is in the
/// diagnostics of `compilation`, there is no code.
std::optional<NativeCode> loadNative(Compilation &compilation, const std::string &isa);

/// The texts of the stages behind the graph.
struct NativeTexts {
  std::string loops, llvm, assembly;
};

/// Compiles like loadNative and keeps the texts.
std::optional<NativeTexts> emitNative(Compilation &compilation, const std::string &isa);

} // namespace pdg
