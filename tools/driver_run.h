// What all forms of `pdc run` share: what goes into a run, and what comes out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/checkpoint/variables.h"
#include "runtime/worker/execution_context.h"
#include "tools/driver_compile.h"

#include <map>
#include <set>
#include <span>

namespace pdg {

/// The tensors of all `--feed`s by the name of their input. Of an archive that is fed as a whole
/// all arrays are there; those that no input asks for are not fed.
struct Feeds {
  std::map<std::string, HostTensor> tensors;
  std::map<std::string, std::string> files; ///< Where each comes from.
  std::set<std::string> optional;           ///< From archives.

  absl::Status add(const std::string &name, absl::StatusOr<HostTensor> tensor);
};

/// Reads the files of all `--feed`s.
absl::StatusOr<Feeds> readFeeds(const std::vector<FeedArgument> &arguments);

/// Tells the compilation what is fed. After load().
void announceFeeds(const Feeds &feeds, Compilation &compilation);

/// Feeds every process with what its program asks for. An error if something has no input.
absl::Status feedInputs(std::span<ExecutionContext *const> processes, Feeds feeds);

/// Says before the run which of the scopes to load there are not among `variables`.
absl::Status checkScopes(const RunArguments &arguments, const std::vector<std::string> &variables);

/// Says before the run what would only be found at its end.
absl::Status checkOutputs(const RunArguments &arguments);

/// The choices of a run that the command line makes.
RunOptions runOptionsOf(const RunArguments &arguments, const DataPaths &paths);

/// Hands over the values that were fetched and the variables.
absl::Status handOver(std::span<const TensorRef> fetched, std::span<const TensorRef> variables,
                      const RunArguments &arguments);

/// After an interrupt: saves the variables as they are. Nothing else is handed over.
void saveInterrupted(std::span<const TensorRef> variables, const RunArguments &arguments);

/// Loads the variables of `--load`, if there are any, into those of a cluster, whole or in slices,
/// and says what was left as it was, also to the user.
absl::StatusOr<LoadReport> loadInto(std::span<ExecutionContext *const> owners,
                                    const RunArguments &arguments);

/// `pdc run` on a cluster: of processes, or of threads in this one. Returns an exit code.
int runClusterCommand(const RunArguments &arguments);

struct ClusterExecutable;

/// The part of it that runs `program` in processes of their own. Returns an exit code.
int runJobCommand(const ClusterExecutable &program, const RunArguments &arguments, Feeds feeds,
                  const RunOptions &options);

} // namespace pdg
