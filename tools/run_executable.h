// Programs that are ready to run, interpreted or as native code, behind one door.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/worker/execution_context.h"
#include "runtime/worker/local_cluster.h"
#include "tools/driver_compile.h"

#include <functional>
#include <optional>

namespace pdg {

struct NativeObject;

/// A program that is ready to run. Valid as long as the compilation's module is not changed.
struct Executable {
  ProgramInfo info;
  /// Runs it; false if it stopped before its end.
  std::function<bool(ExecutionContext &)> run;
};

/// The program of one role of a cluster.
struct RoleExecutable {
  Peer role; ///< Trainer 0 stands for all trainers.
  ProgramInfo info;
  /// Sets the functions that run `process`, whose context was made from `info`. Empty if processes
  /// of their own are to run the code.
  std::function<void(LocalCluster &, LocalProcess &process)> prepare;
  std::shared_ptr<const NativeObject> code = nullptr; ///< Null if the program is interpreted.
};

/// Makes the program of a role, a module in the graph of `compilation`, ready in the same way.
std::optional<RoleExecutable> makeRoleExecutable(Compilation &compilation, mlir::ModuleOp role,
                                                 const RunArguments &arguments);

/// Makes the graph of `compilation` ready as `arguments` ask. Nothing after an error, which is in
/// the diagnostics of `compilation`. Requires: compile() was successful.
std::optional<Executable> makeExecutable(Compilation &compilation, const RunArguments &arguments);

} // namespace pdg
