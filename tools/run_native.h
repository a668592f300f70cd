// The door from the driver to native code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/codegen/jit/program_loader.h"
#include "tools/driver_compile.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pdg {

/// Native code that is ready to run: it is valid as long as `program` lives.
struct NativeCode {
  ProgramInfo info;
  std::unique_ptr<LoadedProgram> program;
};

/// Code that is not loaded.
struct NativeObject {
  ProgramInfo info;
  std::unique_ptr<llvm::MemoryBuffer> object; ///< An object, or an archive of objects.
  std::string isa;                            ///< For which it was compiled.
};

/// Compiles `module`, in the context of `compilation`, as loadNative does, or finds it in the
/// cache.
std::optional<NativeObject> compileNative(Compilation &compilation, mlir::ModuleOp module,
                                          const std::string &isa);

/// The same for an instruction set that this processor need not run.
std::optional<NativeObject> buildNative(Compilation &compilation, mlir::ModuleOp module,
                                        const std::string &isa);

/// Loads a copy of the code. After an error, which is in the diagnostics of `compilation`, null.
std::unique_ptr<LoadedProgram> loadObject(Compilation &compilation, const NativeObject &code);

/// Compiles the graph of `compilation` for `isa` (empty: the best that this processor runs), or
/// finds it in the cache, and loads it. The graph is changed. After an error, which is in the
/// diagnostics of `compilation`, or an interrupt there is no code.
std::optional<NativeCode> loadNative(Compilation &compilation, const std::string &isa);

/// The same for another module in the context of `compilation`.
std::optional<NativeCode> loadNative(Compilation &compilation, mlir::ModuleOp module,
                                     const std::string &isa);

/// The texts of the stages behind the graph.
struct NativeTexts {
  std::string loops, llvm, assembly;
};

/// Compiles like loadNative and keeps the texts, up to that of the stage `last` ("loops", "llvm" or
/// "asm"; empty: all).
std::optional<NativeTexts> emitNative(Compilation &compilation, const std::string &isa,
                                      std::string_view last);

} // namespace pdg
