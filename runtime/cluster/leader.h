// The process that starts a job: it starts the others, tells them what to run, collects what they
// print and return, and ends them all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/checkpoint/named_tensor.h"
#include "runtime/data/data_files.h"
#include "runtime/module/module.h"
#include "runtime/transport/exchange.h"
#include "runtime/worker/execution_context.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace pdg {

/// A job on this machine.
struct JobOptions {
  Topology topology;
  std::string worker;                  ///< The program `pdworker`.
  std::map<Peer, std::string> modules; ///< The bytes of each role's module; trainer 0's for all.
  std::map<std::string, HostTensor> inputs; ///< What is fed.
  std::vector<NamedTensor> variables;       ///< Values with which variables start.
  DataPaths paths;
  uint64_t seed = 0;
  int threads = 1; ///< Of each process.
  std::string isa;
  bool sendsVariables = false; ///< Whether the variables are wanted at the end.
  int progressColumns = 0;     ///< Of the terminal for the progress bar; 0: none.
  bool hasColors = false;
  std::function<void(std::string_view line)> print;
  std::function<void(std::string_view bytes)> progress;
  std::function<void(std::string_view text)> note; ///< May be empty.
};

/// What a job gave.
struct JobResult {
  RunError error; ///< The first cause; without an exit code if there was none.
  std::vector<NamedTensor> fetched, variables;
};

/// A job: one is run at a time.
class Job {
public:
  virtual ~Job() = default;
  static absl::StatusOr<std::unique_ptr<Job>> create(JobOptions options);

  /// Starts the processes, runs the program and ends all processes, also after a failure: none is
  /// left when it returns.
  virtual JobResult run() = 0;

  /// Asks the program to end at its next round. Async-signal-safe.
  virtual void interrupt() noexcept = 0;
};

} // namespace pdg
