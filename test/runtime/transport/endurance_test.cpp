// Very large messages and very many: slow. SPDX-License-Identifier: Apache-2.0
#include "test/runtime/transport/process_cluster.h"

#include <fstream>
#include <unistd.h>

namespace pdg {
namespace {

constexpr Peer kTrainer{PeerKind::Trainer, 0};
constexpr Peer kServer{PeerKind::Server, 0};

class Endurance : public testing::TestWithParam<bool> {
protected:
  void start(EdgeInfo edge) {
    edge.name = "edge";
    EdgeInfo back = edge;
    std::swap(back.fromKind, back.toKind);
    back.shape = {1};
    back.bound = 0;
    cluster_ =
        std::make_unique<ProcessCluster>(Topology{1, 1, {edge, back}}, [](ProcessOptions &options) {
          options.sharesMemory = GetParam();
        });
    ASSERT_TRUE(cluster_->status().ok()) << cluster_->status();
  }

  Exchange &at(Peer peer) { return cluster_->at(peer); }

private:
  std::unique_ptr<ProcessCluster> cluster_;
};

int64_t residentBytes() {
  int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST_P(Endurance, AMessageMayBeLargerThanThreeGigabytes) {
  EdgeInfo edge;
  edge.dtype = DType::U8;
  const int64_t sizes[] = {3'300'000'001};
  edge.shape = {sizes[0]};
  edge.depth = 1;
  start(edge);
  std::jthread sender([&] {
    std::vector<char> bytes(static_cast<size_t>(sizes[0]), 'a');
    bytes.back() = 'z';
    ASSERT_TRUE(at(kTrainer).send(0, kServer, {bytes.data(), sizes}).ok());
  });
  auto view = at(kServer).receive(0, kTrainer);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->data[0], 'a');
  EXPECT_EQ(view->data[sizes[0] / 2], 'a');
  EXPECT_EQ(view->data[sizes[0] - 1], 'z');
}

TEST_P(Endurance, AMillionMessagesLeaveNothingBehind) {
  EdgeInfo edge;
  edge.shape = {-1};
  edge.bound = 100;
  edge.depth = 16;
  start(edge);
  const int64_t kRounds = GetParam() ? 1'000'000 : 200'000;
  const float values[100] = {};
  const int64_t one[] = {1};
  auto round = [&](Exchange &end, int64_t i) {
    const int64_t sizes[] = {i % 100};
    if (end.self() == kTrainer)
      return end.send(0, kServer, {reinterpret_cast<const char *>(values), sizes}).ok() &&
             (i % 50 != 0 || end.receive(1, kServer).ok());
    return end.receive(0, kTrainer).ok() &&
           (i % 50 != 0 ||
            end.send(1, kTrainer, {reinterpret_cast<const char *>(values), one}).ok());
  };
  std::jthread trainer([&] {
    for (int64_t i = 0; i < kRounds; ++i)
      ASSERT_TRUE(round(at(kTrainer), i));
  });
  int64_t before = 0;
  for (int64_t i = 0; i < kRounds; ++i) {
    ASSERT_TRUE(round(at(kServer), i));
    if (i == kRounds / 4)
      before = residentBytes();
  }
  EXPECT_LT(residentBytes() - before, 1 << 20);
}

INSTANTIATE_TEST_SUITE_P(Ways, Endurance, testing::Bool(),
                         [](const auto &info) { return info.param ? "memory" : "stream"; });

} // namespace
} // namespace pdg
