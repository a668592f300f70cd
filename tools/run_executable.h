// Programs that are ready to run, interpreted or as native code, behind one door.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/worker/execution_context.h"
#include "tools/driver_compile.h"

#include <functional>
#include <optional>

namespace pdg {

/// A program that is ready to run. Valid as long as the compilation's module is not changed.
struct Executable {
  ProgramInfo info;
  /// Runs it; false if it stopped before its end.
  std::function<bool(ExecutionContext &)> run;
};

/// Makes the graph of `compilation` ready as `arguments` ask. Nothing after an error, which is in
/// the diagnostics of `compilation`. Requires: compile() was successful.
std::optional<Executable> makeExecutable(Compilation &compilation, const RunArguments &arguments);

} // namespace pdg
