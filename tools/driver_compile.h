// The path from a file to a graph that can be run, step by step, as all commands of `pdc` take it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/elaborate.h"
#include "frontend/elaborate_session.h"
#include "ir/program_tables.h"
#include "tools/driver.h"

#include "mlir/IR/MLIRContext.h"

namespace pdg {

/// Attribute of a module of roles whose servers serve so many trainers, each for itself.
inline constexpr llvm::StringLiteral kSessionsAttribute = "pdg.sessions";

/// One compilation: of a script, or of a module in the pdg dialect (a file named *.mlir). Each step
/// needs the one before and returns false if there were errors; they are in `diagnostics`.
class Compilation {
public:
  explicit Compilation(const ProgramArguments &arguments);

  /// Says which tensors are fed: only now is it an error if an input is not. `arrays` is what whole
  /// archives hold, for messages. Before elaborate().
  void setInputs(std::map<std::string, FedInput> inputs, std::vector<std::string> arrays);

  /// Reads the script and what it imports, or the module.
  bool load();
  /// Reads an entry of a session instead: `text`, shown under the name `name`, or without a text
  /// the file `name`. Forgets the messages and the graph of the entry before.
  bool loadEntry(const std::string &name, const std::string *text, SessionState &session);
  /// From the script to the graph. Nothing to do for a module.
  bool elaborate();
  /// Differentiates and simplifies the graph.
  bool simplify();
  /// Cuts the batches into `replicas` slices; nothing to do for 1.
  bool split(int64_t replicas);
  /// Cuts the graph into the programs of a cluster's roles: modules inside of module(). Nothing to
  /// do for a module that has them. With `replicas` of 1 there is one slice for each trainer.
  bool cut(const ClusterOptions &cluster, int64_t replicas);
  /// The steps after load().
  bool compile(int64_t replicas = 1) { return elaborate() && simplify() && split(replicas); }

  /// True if the script declares an input of this name, or is a module. After load().
  bool hasInput(std::string_view name) const;

  /// Prints what there is to say. Returns the exit code so far.
  int report() const;

  bool isModule() const { return arguments_.file.ends_with(".mlir"); }
  const Program *program() const { return program_.get(); }
  /// Hands over the syntax tree, which is then the caller's.
  std::unique_ptr<Program> takeProgram() { return std::move(program_); }
  mlir::ModuleOp module() const { return *module_; }
  DiagnosticEngine &diagnostics() { return diagnostics_; }
  SourceManager &sources() { return sources_; }
  const DataPaths &paths() const { return options_.data; }

  /// Source lines for the texts of run-time errors.
  ExcerptFunction excerpts() const;
  /// All that was read, one text after the other.
  std::string sourceTexts() const;

private:
  bool isLoaded() const;
  bool loadModule();
  void collect(mlir::Diagnostic &diagnostic);

  ProgramArguments arguments_;
  ElaborateOptions options_;
  SourceManager sources_;
  DiagnosticEngine diagnostics_;
  std::unique_ptr<Program> program_;
  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

} // namespace pdg
