// From the resolved syntax tree to the pdg dialect: types, shapes and ops in one walk. Blocks are
// templates; each application of one is instantiated and inlined where it stands.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/ast.h"
#include "frontend/diagnostics.h"
#include "frontend/resolve.h"
#include "runtime/base/dtype.h"
#include "runtime/data/data_files.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <string>
#include <vector>

namespace pdg {

class SessionState;

/// What is fed for an `input`: its type is checked, its sizes become static.
struct FedInput {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::string file = {}; ///< Where it comes from, for messages.
};

/// What a program is elaborated with.
struct ElaborateOptions {
  std::map<std::string, std::string> constants; ///< `--set`: values of top-level constants.
  std::map<std::string, FedInput> inputs;       ///< `--feed`: what is known of fed tensors.
  std::vector<std::string> fedArrays;           ///< What archives hold, for messages.
  /// An `input` that is not in `inputs` is an error: the program is going to run.
  bool needsInputs = false;
  DataPaths data; ///< Where the files of data sources are looked up.
  /// The script is an entry of this session, or null. If it is not elaborated without errors, or
  /// does not run to its end, the state has to be restored.
  SessionState *session = nullptr;
};

/// The names that resolution has to know, from the table of built-in functions.
BuiltinNames builtinNames();

/// Elaborates the script. Reports every independent error; null if there is one.
/// Requires: resolution reported no error; `context` has loaded the pdg dialect.
mlir::OwningOpRef<mlir::ModuleOp> elaborate(const Program &program, const SourceManager &sources,
                                            DiagnosticEngine &diagnostics,
                                            mlir::MLIRContext &context,
                                            const ElaborateOptions &options);

/// The place in the script that a location of ours means, and the calls around it, innermost first.
struct ScriptPlace {
  Span span;
  std::vector<Span> calls;
};

/// Finds the place of `location` among `sources`; nowhere if it is not from a script.
ScriptPlace placeOf(mlir::Location location, const SourceManager &sources);

} // namespace pdg
