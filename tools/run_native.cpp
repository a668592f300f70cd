// Says that there is no native code yet; the interpreter runs every program.
// SPDX-License-Identifier: Apache-2.0
#include "tools/run_native.h"

namespace pdg {

static absl::Status missing() {
  return absl::FailedPreconditionError("there is no native code yet; --interpret runs the program");
}

int runNative(mlir::ModuleOp, const ProgramTables &, ExecutionContext &context,
              const RunArguments &) {
  context.fail(missing());
  return context.error().exitCode;
}

absl::StatusOr<std::string> emitNative(mlir::ModuleOp, std::string_view, const EmitArguments &) {
  return missing();
}

} // namespace pdg
