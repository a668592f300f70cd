// Entries, one after the other: each is a whole program that is compiled and run as `pdc run` does.
// SPDX-License-Identifier: Apache-2.0
#include "tools/repl/session.h"

#include "ir/ops/control.h"
#include "runtime/checkpoint/variables.h"
#include "tools/driver_report.h"
#include "tools/interrupt.h"

#include <absl/strings/str_cat.h>

#include <cstdio>

namespace pdg {

/// Presses of Ctrl-C that end the process even if the entry does not stop.
static constexpr int impatience = 3;

Session::Session(const RunArguments &arguments)
    : arguments_(arguments), compilation_(arguments.program),
      state_(std::make_unique<SessionState>()) {}

std::string Session::entryName() const { return absl::StrCat("entry ", state_->entry()); }

void Session::reset() { state_ = std::make_unique<SessionState>(); }

/// True if the program loops or branches. What runs once is interpreted: that takes less time than
/// to make code of it.
static bool hasRegions(mlir::ModuleOp module) {
  bool found = false;
  module.walk([&](ProgramOp program) {
    program.walk([&](mlir::Operation *op) { found |= op != program && op->getNumRegions() != 0; });
  });
  return found;
}

/// Makes an entry ready to run. What has no native code is interpreted.
std::optional<Executable> Session::compile(const std::string &name, const std::string *text,
                                           const SessionState::Checkpoint &before) {
  RunArguments arguments = arguments_;
  std::optional<Executable> program;
  std::string refusal;
  for (;;) {
    bool isGood = compilation_.loadEntry(name, text, *state_) && compilation_.elaborate() &&
                  !isInterrupted() && compilation_.simplify() && !isInterrupted();
    arguments.interpret |= isGood && !hasRegions(compilation_.module());
    if (isGood)
      program = makeExecutable(compilation_, arguments);
    if (program || !isGood || arguments.interpret || isInterrupted())
      break;
    // The graph was changed on the way to code, so the entry is read again.
    for (const Diagnostic &message : compilation_.diagnostics().sorted())
      if (message.severity == Severity::Error && refusal.empty())
        refusal = message.message;
    state_->restore(before);
    arguments.interpret = true;
  }
  compilation_.report();
  if (program && !refusal.empty())
    std::fprintf(stderr, "note: the entry is interpreted: %s\n", refusal.c_str());
  return program;
}

absl::StatusOr<std::unique_ptr<ExecutionContext>> Session::prepare(const Executable &program) {
  RunOptions options;
  options.paths = compilation_.paths();
  options.seed = arguments_.seed.value_or(0);
  options.threads = static_cast<int>(arguments_.threads);
  options.isQuiet = arguments_.quiet;
  options.variables = state_->variables();
  options.passes = state_->passes();
  auto context = ExecutionContext::create(program.info, options);
  if (!context.ok())
    return context;
  for (const InputInfo &input : program.info.inputs) {
    absl::StatusOr<HostTensor> value = state_->given().at(input.name)->value->clone();
    absl::Status status =
        value.ok() ? (*context)->feed(input.name, *std::move(value)) : value.status();
    if (!status.ok())
      return status;
  }
  return context;
}

bool Session::execute(const Executable &program, ExecutionContext &context) {
  setInterruptAction([](void *run) { static_cast<ExecutionContext *>(run)->interrupt(); },
                     &context);
  bool isDone = program.run(context);
  setInterruptAction(nullptr, nullptr);
  return isDone;
}

void Session::keepVariables(ExecutionContext &context) {
  const ProgramInfo &info = context.program();
  for (size_t i = 0; i < info.variables.size(); ++i)
    state_->setVariable(info.variables[i].name, std::move(context.variables()[i]));
  for (size_t i = 0; i < info.sources.size(); ++i)
    state_->setPasses(info.sources[i].name, context.passes(static_cast<int64_t>(i)));
}

/// Keeps what the entry's names stand for, and prints what it evaluated.
absl::Status Session::keepValues(ExecutionContext &context) {
  std::map<std::string, CarriedPtr> wanted;
  for (const CarriedPtr &carried : state_->pending())
    wanted[carried->name] = carried;
  std::vector<TensorRef> evaluated;
  for (TensorRef value : context.fetchedValues()) {
    if (auto carried = wanted.find(value.name); carried != wanted.end())
      carried->second->value = std::move(*value.tensor);
    else
      evaluated.push_back(value);
  }
  return printValues(evaluated);
}

Session::Outcome Session::runEntry(const std::string &name, const std::string *text) {
  state_->describes = false;
  std::shared_ptr<SessionState::Checkpoint> before = state_->checkpoint();
  clearInterrupt(impatience);
  std::optional<Executable> program = compile(name, text, *before);
  if (isInterrupted()) {
    std::fputs("interrupted: the entry has not begun\n", stderr);
    state_->restore(*before);
    return Outcome::Interrupted;
  }
  if (!program) {
    state_->restore(*before);
    return Outcome::Failed;
  }
  auto context = prepare(*program);
  if (!context.ok()) {
    reportStatus(context.status(), arguments_.program.format);
    state_->restore(*before);
    return Outcome::Failed;
  }
  bool isDone = execute(*program, **context);
  bool isStopped = !isDone && (*context)->error().exitCode == ExitInterrupted;
  if (!isDone && !(isStopped && (*context)->isInitialized())) {
    reportRunError((*context)->error(), arguments_.program.format);
    state_->restore(*before);
    return isStopped ? Outcome::Interrupted : Outcome::Failed;
  }
  keepVariables(**context);
  absl::Status status;
  if (isStopped) {
    std::fputs("interrupted: variables are as the entry left them\n", stderr);
    state_->keepDeclarations(*before);
  } else {
    status = keepValues(**context);
  }
  state_->commit(compilation_.takeProgram());
  if (!status.ok())
    reportStatus(status, arguments_.program.format);
  return isStopped ? Outcome::Interrupted : status.ok() ? Outcome::Done : Outcome::Failed;
}

std::optional<std::vector<std::string>> Session::describe(const std::string &text) {
  std::shared_ptr<SessionState::Checkpoint> before = state_->checkpoint();
  state_->describes = true;
  state_->descriptions.clear();
  bool isGood = compilation_.loadEntry(entryName(), &text, *state_) && compilation_.elaborate();
  compilation_.report();
  state_->restore(*before);
  if (!isGood)
    return std::nullopt;
  return std::move(state_->descriptions);
}

absl::Status Session::saveVariables(const std::string &file) {
  return writeTensors(file, state_->variables());
}

absl::Status Session::loadVariables(const std::string &file) {
  return pdg::loadVariables(file, state_->variables());
}

} // namespace pdg
