// Streams under mutual TLS: who has no certificate of the job's authority is not let in.
// SPDX-License-Identifier: Apache-2.0
#include "test/runtime/transport/process_cluster.h"
#include "test/runtime/transport/test_authority.h"

#include <absl/strings/match.h>

namespace pdg {
namespace {

constexpr Peer kTrainer{PeerKind::Trainer, 0};
constexpr Peer kServer{PeerKind::Server, 0};

Topology oneEdge() {
  EdgeInfo edge;
  edge.shape = {-1};
  edge.bound = 2 << 20;
  return {1, 1, {edge}};
}

TEST(Tls, ProcessesOfOneAuthorityTalk) {
  TestAuthority authority;
  ProcessCluster cluster(oneEdge(), [&](ProcessOptions &options) {
    options.tls = authority.issue();
    options.sharesMemory = false;
  });
  ASSERT_TRUE(cluster.status().ok()) << cluster.status();
  const int64_t sizes[] = {(2 << 20) - 5};
  const std::vector<char> bytes(4 * (2 << 20), 'x');
  std::jthread sender(
      [&] { EXPECT_TRUE(cluster.at(kTrainer).send(0, kServer, {bytes.data(), sizes}).ok()); });
  auto view = cluster.at(kServer).receive(0, kTrainer);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(std::string(view->data, 4 * (size_t{2} << 20) - 20),
            std::string(bytes.begin(), bytes.end() - 20));
}

TEST(Tls, StrangersAreNotLetIn) {
  TestAuthority authority, another;
  for (bool hasCertificate : {false, true}) {
    ProcessCluster cluster(oneEdge(), [&](ProcessOptions &options) {
      options.connectLimit = std::chrono::milliseconds(150);
      if (options.self == kServer)
        options.tls = authority.issue();
      else if (hasCertificate)
        options.tls = another.issue();
    });
    EXPECT_EQ(cluster.statusOf(kServer).message(), "server 0 waited 0.15 s for trainer 0");
    EXPECT_FALSE(cluster.statusOf(kTrainer).ok());
  }
}

TEST(Tls, IsNeededBeyondTheLoopback) {
  ProcessOptions options;
  options.topology = oneEdge();
  options.self = kServer;
  options.host = "0.0.0.0";
  EXPECT_EQ(
      ProcessExchange::listen(options).status(),
      absl::PermissionDeniedError("expects TLS to listen at 0.0.0.0, which others can reach"));
  TestAuthority authority;
  options.tls = authority.issue();
  EXPECT_TRUE(ProcessExchange::listen(options).ok());
}

} // namespace
} // namespace pdg
