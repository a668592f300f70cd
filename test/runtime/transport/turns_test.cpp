// Threads that run one at a time: the order is a function of the seed, and a deadlock is found.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/turns.h"

#include "runtime/transport/memory_exchange.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

namespace pdg {
namespace {

/// Runs `thread(i)` in so many threads.
void runThreads(Turns &turns, int64_t count, const std::function<void(int64_t)> &thread) {
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      turns.enter(i);
      thread(i);
      turns.leave(i);
    });
  for (std::thread &each : threads)
    each.join();
}

std::vector<int64_t> orderOf(uint64_t seed) {
  Turns turns(3, seed);
  std::vector<int64_t> order;
  runThreads(turns, 3, [&](int64_t i) {
    for (int round = 0; round < 5; ++round) {
      order.push_back(i);
      turns.yield(i);
    }
  });
  return order;
}

TEST(Turns, FollowTheSeed) {
  EXPECT_EQ(orderOf(1), orderOf(1));
  EXPECT_NE(orderOf(1), orderOf(2));
  EXPECT_EQ(orderOf(3).size(), 15u);
}

TEST(Turns, FindWhoWaits) {
  Topology topology;
  topology.servers = 1;
  for (const char *name : {"x", "y"}) {
    EdgeInfo edge;
    edge.name = name;
    edge.toIndex = 0;
    edge.place = "m.pdg:3:5";
    topology.edges.push_back(edge);
  }
  std::swap(topology.edges[1].fromKind, topology.edges[1].toKind);
  topology.edges[1].fromIndex = 0;
  topology.edges[1].toIndex = kAllOfKind;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Turns turns(2, seed);
    auto cluster = MemoryCluster::create(topology, {.turns = &turns}).value();
    std::vector<absl::Status> ends(2);
    runThreads(turns, 2, [&](int64_t i) {
      // Each waits for the other to send first.
      Peer peers[] = {{PeerKind::Trainer, 0}, {PeerKind::Server, 0}};
      ends[static_cast<size_t>(i)] =
          cluster->at(peers[i]).receive(i == 0 ? 1 : 0, peers[1 - i]).status();
    });
    for (const absl::Status &end : ends)
      EXPECT_EQ(end.message(),
                "all processes wait for each other: trainer 0 waits for server 0 to send 'y' of "
                "m.pdg:3:5; server 0 waits for trainer 0 to send 'x' of m.pdg:3:5");
  }
}

} // namespace
} // namespace pdg
