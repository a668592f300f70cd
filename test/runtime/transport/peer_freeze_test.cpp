// A process that is stopped, not ended, is seen by all others within seconds: real processes, slow
// because the others must be patient with a busy machine. SPDX-License-Identifier: Apache-2.0
#include "test/runtime/transport/peer_cluster.h"

#include <csignal>
#include <set>

namespace pdg {
namespace {

class PeerFreeze : public testing::TestWithParam<std::string> {};

TEST_P(PeerFreeze, IsNamedByAllWithinFiveSeconds) {
  PeerCluster cluster(GetParam());
  constexpr size_t kVictim = 2;
  std::set<std::string> causes;
  auto start = std::chrono::steady_clock::now();
  cluster.processes[kVictim]->signal(SIGSTOP);
  for (size_t i = 0; i < cluster.processes.size(); ++i) {
    if (i == kVictim)
      continue;
    std::string cause = cluster.processes[i]->readLine();
    EXPECT_EQ(cause.substr(0, 18), "server 0 was lost:") << cause;
    causes.insert(cause);
  }
  EXPECT_EQ(causes.size(), 1u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  for (size_t i = 0; i < cluster.processes.size(); ++i)
    if (i != kVictim)
      EXPECT_EQ(cluster.processes[i]->wait(), 3);
}

INSTANTIATE_TEST_SUITE_P(Ways, PeerFreeze, testing::Values("memory", "stream"),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace pdg
