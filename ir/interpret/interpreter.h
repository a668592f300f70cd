// The reference interpreter: runs a pdg module op by op, slowly and plainly. What it computes is
// what a program means; code generators are tested against it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/program_tables.h"

#include <memory>

namespace pdg {

class ExecutionContext;

/// Choices of an interpreted run.
struct InterpretOptions {
  /// Stops at the first op whose result has a NaN while its operands have none. Requires: tables
  /// with TableOptions::checksNan.
  bool checksNan = false;
  /// Called before each op, if it is not empty: other processes of a cluster may go on first.
  std::function<void()> beforeOp = {};
};

/// Runs the initializations of all variables, loads what the context says, and runs the program.
/// Returns 0, or else the exit code of `context.error()`.
///
/// Requires: `tables` are those of `module`, and `context` was made from their info.
int64_t interpret(mlir::ModuleOp module, const ProgramTables &tables, ExecutionContext &context,
                  const InterpretOptions &options = {});

class Interpreter;

/// A run in the two halves of ExecutionContext::run, for the processes of a cluster.
class InterpretedRun {
public:
  InterpretedRun(const ProgramTables &tables, ExecutionContext &context,
                 const InterpretOptions &options = {});
  ~InterpretedRun();

  /// Each says whether to go on; if not, the context says why.
  bool initialize();
  bool execute();

private:
  ExecutionContext &context_;
  std::unique_ptr<Interpreter> interpreter_;
};

} // namespace pdg
