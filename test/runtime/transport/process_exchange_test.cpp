// The transport between processes keeps the rules; handshakes that fail, ends that come early.
// SPDX-License-Identifier: Apache-2.0
#include "test/runtime/transport/process_cluster.h"

#include <set>
#include <thread>

namespace pdg {
namespace {

TestTransport betweenProcesses(std::string name, bool sharesMemory, uint64_t delaySeed = 0) {
  auto make = [=](const Topology &topology) -> absl::StatusOr<std::unique_ptr<TestCluster>> {
    auto cluster = std::make_unique<ProcessCluster>(
        topology, [&](ProcessOptions &options) { options.sharesMemory = sharesMemory; }, delaySeed);
    if (!cluster->status().ok())
      return cluster->status();
    return cluster;
  };
  return {std::move(name), make};
}

INSTANTIATE_TEST_SUITE_P(Processes, ExchangeConformance,
                         testing::Values(betweenProcesses("stream", false),
                                         betweenProcesses("streamDelayed", false, 1),
                                         betweenProcesses("memory", true),
                                         betweenProcesses("memoryDelayed", true, 2)),
                         nameOfTransport);

/// A process that has nothing to do with another is not connected with it, and none is needed.
TEST(ProcessExchange, ConnectsOnlyWhereEdgesLead) {
  EdgeInfo edge;
  edge.shape = {1};
  edge.toIndex = 0;
  ProcessCluster cluster({1, 2, {edge}}, [](ProcessOptions &) {});
  EXPECT_TRUE(cluster.status().ok()) << cluster.status();
  EXPECT_EQ(cluster.log().size(), 2u);
}

/// Memory stays bounded by the depth, however many messages there are: the slots are used again.
TEST(ProcessExchange, UsesItsMemoryAgain) {
  EdgeInfo edge;
  edge.shape = {-1};
  edge.bound = 1 << 16;
  for (bool sharesMemory : {false, true}) {
    ProcessCluster cluster({1, 1, {edge}},
                           [&](auto &options) { options.sharesMemory = sharesMemory; });
    ASSERT_TRUE(cluster.status().ok()) << cluster.status();
    Peer trainer{PeerKind::Trainer, 0}, server{PeerKind::Server, 0};
    std::set<const char *> places;
    const std::vector<char> bytes(4 << 16);
    std::jthread sender([&] {
      for (int64_t i = 0; i < 100; ++i) {
        const int64_t sizes[] = {(1 << 16) - i};
        ASSERT_TRUE(cluster.at(trainer).send(0, server, {bytes.data(), sizes}).ok());
      }
    });
    for (int64_t i = 0; i < 100; ++i) {
      auto view = cluster.at(server).receive(0, trainer);
      ASSERT_TRUE(view.ok()) << view.status();
      places.insert(view->data);
    }
    EXPECT_EQ(places.size(), 2u);
  }
}

} // namespace
} // namespace pdg
