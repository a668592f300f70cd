// All processes of a cluster as threads of this one: how `pdc run` tries a cluster out, and how
// tests run one. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/transport/turns.h"
#include "runtime/worker/execution_context.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace pdg {

class MemoryCluster;

/// One process: its state, and the two halves of its run.
struct LocalProcess {
  Peer peer;
  int64_t number = 0; ///< Among all processes.
  std::unique_ptr<ExecutionContext> context;
  std::mutex *server = nullptr; ///< Held while it runs, if another session may not.
  std::function<bool()> initialize, execute;
};

/// Joins what the programs of the roles say of the cluster's edges, of which each knows those that
/// end in it. `roles` and `programs` belong together; all trainers are one role. InvalidArgument if
/// two programs differ.
absl::StatusOr<std::vector<EdgeInfo>> joinEdges(std::span<const Peer> roles,
                                                std::span<const ProgramInfo *const> programs);

/// A cluster of threads.
///
/// With several sessions (asynchronous training) it is as many clusters of one trainer, whose
/// servers share variables: a server serves one trainer at a time, and another one while it waits.
class LocalCluster {
public:
  /// With a seed the processes run one at a time, in an order drawn from it, and it is an error if
  /// all wait for each other.
  static absl::StatusOr<std::unique_ptr<LocalCluster>>
  create(Topology topology, std::optional<uint64_t> seed = {}, int64_t sessions = 1);
  ~LocalCluster();

  const Topology &topology() const { return topology_; }

  /// Adds the next process in the order of allPeers, of one session after the other; its context
  /// joins the cluster. The functions that run it are to be set then.
  LocalProcess &add(std::unique_ptr<ExecutionContext> context);

  /// For the functions that run a process: perhaps another one goes on first. Does nothing without
  /// a seed, or before the programs run.
  void yield(const LocalProcess &process);

  /// Lets no trainer be more than `steps` of its own steps ahead of the slowest. Of several
  /// sessions, before they run.
  void keepPace(int64_t steps) { pace_ = steps; }

  /// For trainers that keep pace: waits before batch `batches`, of which each trainer takes its
  /// turn.
  void awaitOthers(const LocalProcess &process, int64_t batches);

  /// Asks the run to stop between two iterations. Async-signal-safe.
  void interrupt() noexcept;

  /// Makes all first values, calls `load`, which may replace some, and runs all programs. Returns
  /// the context that stopped first, if any did: that of the least step, statement and process
  /// whose error is no consequence of another one's.
  ExecutionContext *run(const std::function<absl::Status()> &load);

  /// The contexts of all servers and of trainer 0, which together have each variable once.
  std::vector<ExecutionContext *> owners();

  std::vector<LocalProcess> &processes() { return processes_; }

private:
  class SessionExchange;

  explicit LocalCluster(Topology topology);
  ExecutionContext *firstToStop();
  void runThread(size_t process);
  void share(LocalProcess &process, Exchange &exchange);
  void advance(size_t session, int64_t batches);
  bool isAhead(int64_t batches) const;

  Topology topology_;
  std::vector<Peer> peers_;                               ///< Of one session.
  std::unique_ptr<Turns> turns_;                          ///< Null without a seed.
  std::vector<std::unique_ptr<MemoryCluster>> exchanges_; ///< One a session.
  std::vector<std::unique_ptr<SessionExchange>> shared_;  ///< Of servers, if there are sessions.
  std::deque<std::mutex> servers_;                        ///< Held by the session that is served.
  std::vector<LocalProcess> processes_;
  bool isRunning_ = false;

  int64_t pace_ = -1; ///< -1: nobody waits.
  std::mutex paceMutex_;
  std::condition_variable paceChanged_;
  std::vector<int64_t> batches_; ///< That each trainer has reached.
};

} // namespace pdg
