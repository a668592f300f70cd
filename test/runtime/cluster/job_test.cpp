// Jobs of real processes: what they print and return, and what is said when something goes wrong.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cluster/leader.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace pdg::test {
namespace {

constexpr int64_t Trainers = 2;

std::string bytesOf(const char *path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

EdgeInfo edge(std::string name, PeerKind from, PeerKind to) {
  EdgeInfo info;
  info.name = std::move(name);
  info.dtype = DType::I64;
  info.fromKind = from;
  info.fromIndex = from == PeerKind::Server ? 0 : kAllOfKind;
  info.toKind = to;
  info.toIndex = to == PeerKind::Server ? 0 : kAllOfKind;
  info.place = "job.pdg:3:1";
  return info;
}

/// The module of a role; the code's instruction set is only a name here.
std::string moduleOf(PeerKind role, const std::vector<EdgeInfo> &edges) {
  Module module;
  module.cluster = "a cluster";
  module.role = role;
  module.trainers = Trainers;
  module.servers = 1;
  module.info.edges = edges;
  bool isTrainer = role == PeerKind::Trainer;
  if (isTrainer) {
    module.info.texts = {{{"total ", ""}, {{DType::I64}}, "", "job.pdg:4:1", ""},
                         {{"value ", " is wrong"}, {{DType::I64}}, "PD2001", "job.pdg:5:1", ""}};
    module.info.fetches = {{"total", DType::I64, {}}};
  } else {
    module.info.variables = {{"total", DType::I64, {}, false}};
  }
  std::string code = bytesOf(isTrainer ? PDG_TRAINER_CODE : PDG_SERVER_CODE);
  module.code = {{"avx2", code}, {"avx512", code}};
  return writeModule(module).value();
}

struct Outcome {
  JobResult result;
  std::vector<std::string> lines;
};

Outcome runJob(uint64_t seed) {
  Outcome outcome;
  JobOptions options;
  options.topology = {Trainers,
                      1,
                      {edge("part", PeerKind::Trainer, PeerKind::Server),
                       edge("total", PeerKind::Server, PeerKind::Trainer)}};
  options.worker = PDG_WORKER;
  options.modules = {{{PeerKind::Trainer, 0}, moduleOf(PeerKind::Trainer, options.topology.edges)},
                     {{PeerKind::Server, 0}, moduleOf(PeerKind::Server, options.topology.edges)}};
  options.seed = seed;
  options.sendsVariables = true;
  options.print = [&](std::string_view line) { outcome.lines.emplace_back(line); };
  auto job = Job::create(std::move(options));
  EXPECT_TRUE(job.ok()) << job.status();
  if (job.ok())
    outcome.result = (*job)->run();
  return outcome;
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

// 1 + 2 = 3; 3 + (3 + 1) = 7; 7 + (7 + 1) = 15.
TEST(Job, ReturnsWhatItComputed) {
  Outcome outcome = runJob(0);
  ASSERT_EQ(outcome.result.error.exitCode, 0) << outcome.result.error.message;
  EXPECT_EQ(outcome.lines, std::vector<std::string>{"total 15"});
  ASSERT_EQ(outcome.result.fetched.size(), 1u);
  EXPECT_EQ(outcome.result.fetched[0].name, "total");
  EXPECT_EQ(outcome.result.fetched[0].tensor.data<int64_t>()[0], 15);
  ASSERT_EQ(outcome.result.variables.size(), 1u);
  EXPECT_EQ(outcome.result.variables[0].tensor.data<int64_t>()[0], 15);
}

TEST(Job, NamesWhoWasKilled) {
  RunError error = runJob(1).result.error;
  EXPECT_EQ(error.exitCode, 3);
  EXPECT_TRUE(contains(error.message, "trainer 1")) << error.message;
  EXPECT_TRUE(contains(error.message, "was killed by signal 9 (Killed)")) << error.message;
}

TEST(Job, ReportsTheErrorOfTheProgram) {
  RunError error = runJob(2).result.error;
  EXPECT_EQ(error.exitCode, 1);
  EXPECT_EQ(error.code, "PD2001");
  EXPECT_EQ(error.location, "job.pdg:5:1");
  EXPECT_EQ(error.message, "value 4 is wrong");
}

TEST(Job, NamesWhoIsFrozen) {
  RunError error = runJob(3).result.error;
  EXPECT_EQ(error.exitCode, 3);
  EXPECT_TRUE(contains(error.message, "trainer 1")) << error.message;
}

TEST(Job, WithoutItsWorkerIsAnError) {
  JobOptions options;
  options.topology = {1, 0, {}};
  options.worker = "/no/such/worker";
  options.modules = {{{PeerKind::Trainer, 0}, moduleOf(PeerKind::Trainer, {})}};
  auto job = Job::create(std::move(options));
  ASSERT_TRUE(job.ok()) << job.status();
  RunError error = (*job)->run().error;
  EXPECT_EQ(error.message, "cannot start /no/such/worker: No such file or directory");
  EXPECT_NE(error.exitCode, 0);
}

} // namespace
} // namespace pdg::test
