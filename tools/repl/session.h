// A running session: entries are compiled and run at once, and what they leave is kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/elaborate_session.h"
#include "tools/driver_compile.h"
#include "tools/run_executable.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdg {

class Session {
public:
  /// How an entry ended. After a failure the state is as it was before.
  enum class Outcome { Done, Failed, Interrupted };

  explicit Session(const RunArguments &arguments);

  /// Runs statements. Prints to standard output, and to standard error what is wrong.
  Outcome run(const std::string &text) { return runEntry(entryName(), &text); }
  /// Runs a script as one entry.
  Outcome load(const std::string &file) { return runEntry(file, nullptr); }
  /// What an expression is, without running it; nothing after an error, which is reported.
  std::optional<std::vector<std::string>> describe(const std::string &text);

  /// The visible names, in alphabetical order, with their declarations.
  std::vector<std::pair<std::string, const Decl *>> names() const;
  /// What could stand where `word` is being typed.
  std::vector<std::string> complete(const std::string &word) const;

  absl::Status saveVariables(const std::string &file);
  absl::Status loadVariables(const std::string &file);
  void reset();
  int64_t entry() const { return state_->entry(); }

private:
  std::string entryName() const;
  Outcome runEntry(const std::string &name, const std::string *text);
  std::optional<Executable> compile(const std::string &name, const std::string *text,
                                    const SessionState::Checkpoint &before);
  absl::StatusOr<std::unique_ptr<ExecutionContext>> prepare(const Executable &program);
  bool execute(const Executable &program, ExecutionContext &context);
  void keepVariables(ExecutionContext &context);
  absl::Status keepValues(ExecutionContext &context);
  std::vector<std::string> members(const std::string &base) const;

  RunArguments arguments_;
  Compilation compilation_;
  std::unique_ptr<SessionState> state_; ///< Before the compilation's context goes, this goes.
};

} // namespace pdg
