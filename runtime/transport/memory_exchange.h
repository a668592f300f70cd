// The transport between threads of one process: what tests and simulated clusters run on. The same
// rules as between processes, with nothing that can get lost.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/transport/exchange.h"
#include "runtime/transport/turns.h"

#include <memory>

namespace pdg {

/// What a cluster in memory may do worse than necessary, for tests.
struct MemoryOptions {
  /// Not 0: calls yield or wait, and messages are on the way for up to half a millisecond, as drawn
  /// from this seed. So the order of events that no rule fixes differs from seed to seed.
  uint64_t delaySeed = 0;
  /// Not null: the processes are threads that run one at a time, numbered as in allPeers. Then it
  /// is an error (Internal) that all wait for each other. Must live as long as the cluster.
  Turns *turns = nullptr;
  /// The number of the first process among the threads of `turns`.
  int64_t firstThread = 0;
};

/// All processes of a cluster, in one. Each of their ends belongs to one thread, as a rule.
class MemoryCluster {
public:
  /// Fails if checkTopology does.
  static absl::StatusOr<std::unique_ptr<MemoryCluster>> create(Topology topology,
                                                               MemoryOptions options = {});

  ~MemoryCluster();

  /// The end of `peer`, which must be one of the topology's. Lives as long as the cluster.
  Exchange &at(Peer peer);

private:
  struct State;
  class End;

  explicit MemoryCluster(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
  std::vector<std::unique_ptr<End>> ends_;
};

} // namespace pdg
