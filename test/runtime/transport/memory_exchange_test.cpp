// The transport between threads keeps the rules, with and without delays; topologies are checked.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/memory_exchange.h"

#include "test/runtime/transport/conformance.h"

namespace pdg {
namespace {

TestTransport inMemory(std::string name, uint64_t delaySeed) {
  class Cluster : public TestCluster {
  public:
    explicit Cluster(std::unique_ptr<MemoryCluster> cluster) : cluster_(std::move(cluster)) {}
    Exchange &at(Peer peer) override { return cluster_->at(peer); }

  private:
    std::unique_ptr<MemoryCluster> cluster_;
  };
  auto make =
      [delaySeed](const Topology &topology) -> absl::StatusOr<std::unique_ptr<TestCluster>> {
    auto cluster = MemoryCluster::create(topology, {.delaySeed = delaySeed});
    if (!cluster.ok())
      return cluster.status();
    return std::make_unique<Cluster>(*std::move(cluster));
  };
  return {std::move(name), std::move(make)};
}

INSTANTIATE_TEST_SUITE_P(Memory, ExchangeConformance,
                         testing::Values(inMemory("plain", 0), inMemory("delayed", 1),
                                         inMemory("delayedOtherwise", 2)),
                         nameOfTransport);

/// Why a topology with one edge is refused that `change` made of a good one.
std::string refusal(const std::function<void(EdgeInfo &)> &change) {
  EdgeInfo edge;
  edge.name = "e";
  change(edge);
  return std::string(MemoryCluster::create({2, 1, {edge}}).status().message());
}

TEST(Topology, IsChecked) {
  EXPECT_EQ(refusal([](EdgeInfo &edge) { edge.shape = {2, 3}; }), "");
  EXPECT_EQ(refusal([](EdgeInfo &edge) { edge.toIndex = 1; }),
            "edge 'e': expects one of 1 processes, got server 1");
  EXPECT_EQ(refusal([](EdgeInfo &edge) { edge.fromIndex = -2; }),
            "edge 'e': expects one of 2 processes, got trainer -2");
  EXPECT_EQ(refusal([](EdgeInfo &edge) { edge.shape = {-1}; }),
            "edge 'e': expects a bound on the elements of a message");
  EXPECT_EQ(refusal([](EdgeInfo &edge) { edge.shape = {4, 4}, edge.bound = 15; }),
            "edge 'e': expects at most 15 elements, got f32[4, 4]");
  EXPECT_EQ(refusal([](EdgeInfo &edge) { edge.depth = 0; }),
            "edge 'e': expects a depth from 1 to 65536, got 0");
  constexpr int64_t kHuge = int64_t{1} << 40;
  EXPECT_NE(refusal([](EdgeInfo &edge) { edge.shape = {kHuge, kHuge}; }), "");
  EXPECT_NE(refusal([](EdgeInfo &edge) { edge.shape = {-1}, edge.bound = INT64_MAX; }), "");
  EXPECT_NE(refusal([](EdgeInfo &edge) { edge.shape.assign(17, 1); }), "");
  EXPECT_FALSE(MemoryCluster::create({0, 1, {}}).ok());
}

TEST(Topology, SaysWhoSendsToWhom) {
  EdgeInfo edge;
  edge.toIndex = 1;
  edge.firstOnly = true;
  Peer first{PeerKind::Trainer, 0}, second{PeerKind::Trainer, 1};
  EXPECT_TRUE(connects(edge, first, {PeerKind::Server, 1}));
  EXPECT_FALSE(connects(edge, second, {PeerKind::Server, 1}));
  EXPECT_FALSE(connects(edge, first, {PeerKind::Server, 0}));
  EXPECT_FALSE(connects(edge, {PeerKind::Server, 0}, {PeerKind::Server, 1}));
  EXPECT_EQ(nameOf(second), "trainer 1");
}

} // namespace
} // namespace pdg
