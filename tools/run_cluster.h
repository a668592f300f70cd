// A cluster that is ready to run: the programs of its roles, and its processes as threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/worker/slices.h"
#include "tools/run_executable.h"

namespace pdg {

/// The programs of a cluster, each compiled once.
struct ClusterExecutable {
  Topology topology;
  int64_t pace = -1;    ///< How many steps a trainer may be ahead; -1: any number.
  int64_t sessions = 1; ///< Of a cluster with one trainer, which share the servers' variables.
  std::vector<RoleExecutable> roles;  ///< The trainers', then those of the servers in order.
  std::vector<std::string> variables; ///< In the order of the script.
};

/// Compiles the graph of `compilation` for a cluster. After an error, which is in the diagnostics
/// of `compilation`, there is nothing. Requires: simplify() was successful.
std::optional<ClusterExecutable> makeClusterExecutable(Compilation &compilation,
                                                       const RunArguments &arguments);

/// Makes the processes of a cluster. Interpreted ones run one at a time, in an order that the seed
/// of the run decides. Only trainer 0 shows how far it is.
absl::StatusOr<std::unique_ptr<LocalCluster>> makeLocalCluster(const ClusterExecutable &program,
                                                               const RunArguments &arguments,
                                                               const RunOptions &options);

/// The variables of a cluster as a file has them: whole, in the order of the script.
std::vector<TensorRef> orderedVariables(const WholeVariables &variables,
                                        const ClusterExecutable &program);

} // namespace pdg
