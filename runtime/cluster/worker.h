// One process of a job, from its start to its end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/transport/exchange.h"

#include <string>

namespace pdg {

/// How a worker is started.
struct WorkerOptions {
  std::string leader;  ///< "host:port" of the process that started the job.
  std::string job;     ///< Which job; the leader refuses others.
  std::string module;  ///< A .pdm file.
  std::string key;     ///< PEM file of the job's public key; empty: modules are not signed.
  int64_t replica = 0; ///< Which trainer; a server's number is in its module.
  std::string host = "127.0.0.1"; ///< Where to listen for the other processes.
  std::string isa;                ///< Empty: the best that this processor runs.
  bool sharesMemory = true;
};

/// Runs a process of a job: reads and checks the module, joins the leader and the other processes,
/// runs the program, reports its end. Returns the exit code of the process: 0, that of the
/// program's error, or 3 after a failure of the world. Everything that goes wrong after the leader
/// was reached is told to it; what goes wrong before, to standard error.
int runWorker(const WorkerOptions &options);

} // namespace pdg
