// Turns a module of upstream dialects (scf, cf, arith, math, vector, func, llvm) into a relocatable
// object in memory. Loading it is left to the caller.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/codegen/jit/target_info.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace mlir {
class DialectRegistry;
class ModuleOp;
} // namespace mlir

namespace pdg {

/// Registers what `compileToObject` needs: the dialects above, their conversions to the LLVM
/// dialect and its translation to LLVM IR. Call it on the registry of the module's context.
void registerCodegenDialects(mlir::DialectRegistry &registry);

struct ObjectOptions {
  bool verify = true;              ///< Verify the IR after each pass; for tests and debug builds.
  std::string *llvmIr = nullptr;   ///< If set, receives the LLVM IR as text.
  std::string *assembly = nullptr; ///< If set, receives the machine code as text.
  bool isTextOnly = false;         ///< Only the texts are made, and no object: the result is null.
  /// Asked between steps and before each part of a large module, perhaps by several threads: if it
  /// says so, compiling fails soon.
  llvm::function_ref<bool()> isStopped = {};
};

/// Lowers `module` in place (it holds only the LLVM dialect afterwards) and compiles it for
/// `target`. No floating-point operation is contracted, reassociated or otherwise changed, and no
/// optimization pipeline of LLVM runs: generators emit what they want to see. A large module is
/// compiled in parts on all processors; the result is then an archive of objects, whose bytes do
/// not depend on the machine.
///
/// Requires: `registerCodegenDialects` on the context. Thread-safe for modules of different
/// contexts.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
compileToObject(mlir::ModuleOp module, const TargetInfo &target, const ObjectOptions &options = {});

} // namespace pdg
