// The door from the driver to native code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/program_tables.h"
#include "runtime/worker/execution_context.h"
#include "tools/driver.h"

namespace pdg {

/// Compiles `module` to native code, or finds it in the cache, and runs it. Returns 0, or else the
/// exit code of `context.error()`.
int runNative(mlir::ModuleOp module, const ProgramTables &tables, ExecutionContext &context,
              const RunArguments &arguments);

/// Lowers `module` to one of the stages "loops", "llvm", "asm" and gives its text.
absl::StatusOr<std::string> emitNative(mlir::ModuleOp module, std::string_view stage,
                                       const EmitArguments &arguments);

} // namespace pdg
