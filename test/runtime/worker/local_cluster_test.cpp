// Threads of a cluster that keep pace, and errors of several of them: the least one counts.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/local_cluster.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pdg {
namespace {

std::unique_ptr<ExecutionContext> makeContext() {
  ProgramInfo program;
  program.texts.push_back({{"first"}, {}, "PD2000", "m.pdg:1:1", ""});
  program.texts.push_back({{"second"}, {}, "PD2000", "m.pdg:2:1", ""});
  RunOptions options;
  options.isQuiet = true;
  return ExecutionContext::create(program, options).value();
}

/// A cluster of trainers that run `program`.
std::unique_ptr<LocalCluster> makeCluster(Topology topology, std::optional<uint64_t> seed,
                                          int64_t sessions,
                                          std::function<bool(LocalProcess &)> program) {
  auto cluster = LocalCluster::create(std::move(topology), seed, sessions).value();
  for (int64_t i = 0; i < cluster->topology().trainers * sessions; ++i) {
    LocalProcess &process = cluster->add(makeContext());
    process.initialize = [&process] { return process.context->initialize([] { return true; }); };
    process.execute = [&process, program] {
      return process.context->execute([&] { return program(process); });
    };
  }
  return cluster;
}

TEST(LocalCluster, KeepsPace) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    std::vector<int64_t> steps(3);
    LocalCluster *running = nullptr;
    int64_t most = 0;
    auto cluster = makeCluster({}, seed, 3, [&](LocalProcess &process) {
      // Each takes every third batch.
      for (int64_t batch = 0; batch < 30; ++batch) {
        running->awaitOthers(process, batch);
        steps[static_cast<size_t>(process.number)] = batch / 3;
        auto [least, largest] = std::minmax_element(steps.begin(), steps.end());
        most = std::max(most, *largest - *least);
        running->yield(process);
      }
      return true;
    });
    running = cluster.get();
    cluster->keepPace(2);
    EXPECT_EQ(cluster->run([] { return absl::OkStatus(); }), nullptr);
    EXPECT_LE(most, 2);
    EXPECT_GT(most, 0);
  }
}

TEST(LocalCluster, ReportsTheLeastError) {
  Topology topology;
  topology.trainers = 3;
  for (std::optional<uint64_t> seed : {std::optional<uint64_t>(), std::optional<uint64_t>(5)}) {
    auto cluster = makeCluster(topology, seed, 1, [&](LocalProcess &process) {
      // Statement 1 on trainers 0 and 1, statement 0, which comes first, on trainer 2.
      return process.context->fail(process.peer.index == 2 ? 0 : 1, nullptr, nullptr);
    });
    ExecutionContext *stopped = cluster->run([] { return absl::OkStatus(); });
    ASSERT_NE(stopped, nullptr);
    EXPECT_EQ(stopped->error().message, "first");
    EXPECT_EQ(stopped->replica(), 2);
  }
}

TEST(LocalCluster, StopsWhenNothingCanBeLoaded) {
  bool hasRun = false;
  auto cluster = makeCluster({}, {}, 1, [&](LocalProcess &) { return hasRun = true; });
  ExecutionContext *stopped = cluster->run([] { return absl::NotFoundError("no such file"); });
  ASSERT_NE(stopped, nullptr);
  EXPECT_EQ(stopped->error().message, "no such file");
  EXPECT_FALSE(hasRun);
}

} // namespace
} // namespace pdg
