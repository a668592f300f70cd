// A process that is killed is seen by all others at once, and all say the same: real processes.
// SPDX-License-Identifier: Apache-2.0
#include "test/runtime/transport/peer_cluster.h"

#include <csignal>
#include <set>

namespace pdg {
namespace {

class PeerDeath : public testing::TestWithParam<std::string> {};

TEST_P(PeerDeath, IsNamedByAllWithinASecond) {
  PeerCluster cluster(GetParam());
  constexpr size_t kVictim = 1;
  std::set<std::string> causes;
  auto start = std::chrono::steady_clock::now();
  cluster.processes[kVictim]->signal(SIGKILL);
  for (size_t i = 0; i < cluster.processes.size(); ++i) {
    if (i == kVictim)
      continue;
    std::string cause = cluster.processes[i]->readLine();
    EXPECT_EQ(cause.substr(0, 50), "trainer 1 was lost: its connection ended; message ") << cause;
    EXPECT_NE(cause.find(" of 'gradient of W' at model.pdg:12:5 did not come"), std::string::npos)
        << cause;
    causes.insert(cause);
  }
  EXPECT_EQ(causes.size(), 1u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  for (size_t i = 0; i < cluster.processes.size(); ++i)
    if (i != kVictim)
      EXPECT_EQ(cluster.processes[i]->wait(), 3);
}

INSTANTIATE_TEST_SUITE_P(Ways, PeerDeath, testing::Values("memory", "stream"),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace pdg
