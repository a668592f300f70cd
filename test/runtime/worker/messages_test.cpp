// What a context does with its exchange: R2 (a Recv blocks until the tensor is there), R5 (the
// accumulator gathers N gradients, N = 1 too), R7 (queues). Joins in tree order, checks of sizes,
// who is to blame when a process ends, and no allocation in the steady state.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/memory_exchange.h"
#include "runtime/worker/execution_context.h"

#include <gtest/gtest.h>

#include <thread>

namespace pdg {
namespace {

EdgeInfo edgeTo(PeerKind to, std::string name, std::vector<int64_t> shape) {
  EdgeInfo edge;
  edge.name = std::move(name);
  edge.shape = std::move(shape);
  edge.bound = 1 << 16;
  edge.fromKind = to == PeerKind::Server ? PeerKind::Trainer : PeerKind::Server;
  edge.toKind = to;
  (to == PeerKind::Server ? edge.toIndex : edge.fromIndex) = 0;
  edge.place = "m.pdg:3:5";
  return edge;
}

/// Some trainers and a server.
class MessagesTest : public testing::Test {
protected:
  void start(int64_t trainers, std::vector<EdgeInfo> edges) {
    auto made = MemoryCluster::create({trainers, 1, edges});
    ASSERT_TRUE(made.ok()) << made.status();
    cluster = *std::move(made);
    ProgramInfo program;
    program.edges = edges;
    for (int64_t i = 0; i <= trainers; ++i) {
      RunOptions options;
      options.threads = 1;
      options.isQuiet = true;
      contexts.push_back(ExecutionContext::create(program, options).value());
      contexts.back()->join(
          cluster->at(i < trainers ? Peer{PeerKind::Trainer, i} : Peer{PeerKind::Server, 0}));
    }
  }

  ExecutionContext &server() { return *contexts.back(); }

  /// What trainer `i` sends, as floats.
  bool send(int64_t i, const std::vector<float> &values, std::vector<int64_t> dims) {
    return contexts[static_cast<size_t>(i)]->send(0, reinterpret_cast<const char *>(values.data()),
                                                  dims.data());
  }

  std::unique_ptr<MemoryCluster> cluster;
  std::vector<std::unique_ptr<ExecutionContext>> contexts;
};

TEST_F(MessagesTest, JoinsAsATree) {
  // In any other order the sum of these rounds differently.
  for (int64_t trainers : {1, 2, 3, 5, 6, 7, 11}) {
    contexts.clear();
    start(trainers, {edgeTo(PeerKind::Server, "gradient of w", {3})});
    std::vector<std::vector<float>> values;
    for (int64_t i = 0; i < trainers; ++i) {
      float x = static_cast<float>(i);
      values.push_back({1e8f * (i % 2 ? -1.f : 1.f) + x, 0.1f * x, 3.f - x});
      EXPECT_EQ(contexts[static_cast<size_t>(i)]->replica(), i);
      EXPECT_TRUE(send(i, values.back(), {3}));
    }
    std::vector<char *> parts;
    for (std::vector<float> &part : values)
      parts.push_back(reinterpret_cast<char *>(part.data()));
    float sum[3];
    int64_t dims[] = {3};
    ASSERT_TRUE(server().accumulate(0, Joining::Sum, trainers, reinterpret_cast<char *>(sum), dims))
        << server().error().message;
    joinTree(Joining::Sum, DType::F32, parts, 3);
    for (size_t i = 0; i < 3; ++i)
      EXPECT_EQ(sum[i], values[0][i]) << trainers << " trainers";
    EXPECT_EQ(server().messages().received, trainers);
    EXPECT_EQ(server().messages().bytesReceived, trainers * 12);
  }
}

TEST_F(MessagesTest, JoinsPiecesOfLargeTensors) {
  constexpr int64_t n = 5000;
  start(3, {edgeTo(PeerKind::Server, "gradient of w", {n})});
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_TRUE(send(i, std::vector<float>(n, 0.1f * static_cast<float>(i + 1)), {n}));
  std::vector<float> max(n);
  int64_t dims[] = {n};
  ASSERT_TRUE(server().accumulate(0, Joining::Max, 3, reinterpret_cast<char *>(max.data()), dims));
  for (float x : max)
    EXPECT_EQ(x, 0.1f * 3.f);
}

TEST_F(MessagesTest, CollectsRowsOfUnequalParts) {
  start(2, {edgeTo(PeerKind::Server, "x", {2, -1})});
  EXPECT_TRUE(send(0, {1, 2}, {2, 1}));
  EXPECT_TRUE(send(1, {3, 4, 5, 6}, {2, 2}));
  float all[6];
  int64_t dims[] = {2, 3};
  ASSERT_TRUE(server().collect(0, 1, 2, reinterpret_cast<char *>(all), dims));
  EXPECT_EQ(std::vector<float>(all, all + 6), (std::vector<float>{1, 3, 4, 2, 5, 6}));

  EXPECT_TRUE(send(0, {1, 2}, {2, 1}));
  EXPECT_TRUE(send(1, {1, 2}, {2, 1}));
  EXPECT_FALSE(server().collect(0, 1, 2, reinterpret_cast<char *>(all), dims));
  EXPECT_EQ(server().error().message,
            "'x': the parts of all trainers are 2 long together, expected 3");
  EXPECT_EQ(server().error().location, "m.pdg:3:5");
  EXPECT_FALSE(server().error().isConsequence);
}

TEST_F(MessagesTest, ReportsOtherSizes) {
  start(1, {edgeTo(PeerKind::Server, "x", {-1})});
  EXPECT_TRUE(send(0, {1, 2}, {2}));
  float x[3];
  int64_t dims[] = {3};
  EXPECT_FALSE(server().receive(0, reinterpret_cast<char *>(x), dims));
  EXPECT_EQ(server().error().message, "'x': expects f32[3], got f32[2]");
  EXPECT_EQ(server().error().exitCode, 1);
}

TEST_F(MessagesTest, OnlyTheFirstSends) {
  EdgeInfo edge = edgeTo(PeerKind::Server, "x", {1});
  edge.firstOnly = true;
  start(2, {edge});
  EXPECT_TRUE(send(1, {1}, {1}));
  EXPECT_TRUE(send(0, {2}, {1}));
  float x = 0;
  int64_t dims[] = {1};
  ASSERT_TRUE(server().receive(0, reinterpret_cast<char *>(&x), dims));
  EXPECT_EQ(x, 2);
  EXPECT_EQ(contexts[1]->messages().sent, 0);
}

TEST_F(MessagesTest, SendsToAllTrainers) {
  start(3, {edgeTo(PeerKind::Trainer, "variable w", {})});
  float w = 7, got = 0;
  ASSERT_TRUE(server().send(0, reinterpret_cast<const char *>(&w), nullptr));
  for (int64_t i = 0; i < 3; ++i) {
    got = 0;
    ASSERT_TRUE(
        contexts[static_cast<size_t>(i)]->receive(0, reinterpret_cast<char *>(&got), nullptr));
    EXPECT_EQ(got, 7);
  }
}

// Whoever waits for a process that ended does not wait for ever, and is not the one to blame.
TEST_F(MessagesTest, EndsAfterItsPeer) {
  start(1, {edgeTo(PeerKind::Server, "x", {1}), edgeTo(PeerKind::Trainer, "y", {1})});
  std::thread trainer([&] {
    contexts[0]->initialize([] { return true; });
    contexts[0]->execute(
        [&] { return contexts[0]->fail(absl::NotFoundError("x.csv: no such file")); });
  });
  float x[1];
  int64_t dims[] = {1};
  server().initialize([] { return true; });
  server().execute([&] { return server().receive(0, reinterpret_cast<char *>(x), dims); });
  trainer.join();
  EXPECT_TRUE(server().error().isConsequence);
  EXPECT_EQ(server().error().message, "'x': trainer 0 has finished");
  EXPECT_FALSE(contexts[0]->error().isConsequence);
  EXPECT_EQ(contexts[0]->error().message, "x.csv: no such file");
}

// Nor does whoever sends to it.
TEST_F(MessagesTest, DoesNotFillTheQueueOfADeadPeer) {
  start(1, {edgeTo(PeerKind::Server, "x", {1})});
  server().initialize([] { return true; });
  server().execute([] { return true; });
  EXPECT_TRUE(send(0, {1}, {1}));
  EXPECT_TRUE(send(0, {2}, {1}));
  EXPECT_FALSE(send(0, {3}, {1}));
  EXPECT_TRUE(contexts[0]->error().isConsequence);
}

TEST_F(MessagesTest, QueuesHoldTheirCapacity) {
  EdgeInfo queue = edgeTo(PeerKind::Server, "jobs", {-1});
  queue.fromKind = PeerKind::Server;
  queue.fromIndex = 0;
  start(1, {queue});
  float x[] = {1, 2}, y[2];
  int64_t one[] = {1}, two[] = {2};
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(server().enqueue(0, 2, reinterpret_cast<char *>(x), two));
    EXPECT_TRUE(server().enqueue(0, 2, reinterpret_cast<char *>(x), one));
    EXPECT_TRUE(server().dequeue(0, reinterpret_cast<char *>(y), two));
    EXPECT_EQ(y[1], 2);
    EXPECT_TRUE(server().dequeue(0, reinterpret_cast<char *>(y), one));
  }
  EXPECT_TRUE(server().enqueue(0, 2, reinterpret_cast<char *>(x), two));
  EXPECT_TRUE(server().enqueue(0, 2, reinterpret_cast<char *>(x), two));
  EXPECT_FALSE(server().enqueue(0, 2, reinterpret_cast<char *>(x), two));
  EXPECT_EQ(server().error().message,
            "queue 'jobs' is full: it holds 2, and nobody else takes from it");
}

TEST_F(MessagesTest, AloneHasNoPeers) {
  RunOptions options;
  options.isQuiet = true;
  auto alone = ExecutionContext::create({}, options).value();
  EXPECT_EQ(alone->replica(), 0);
  EXPECT_FALSE(alone->send(0, nullptr, nullptr));
  EXPECT_EQ(alone->error().message, "this process belongs to no cluster: it has no peers");
}

} // namespace
} // namespace pdg
