// Random scripts on random clusters have the bits of one process that computes as many slices: R1,
// R13 (control flow crosses the cut), R15, R18 (prints in the graph), R19 (eval).
// More than the suite runs: PDG_CLUSTERS="1000 500" runs 500 scripts from seed 1000.
// SPDX-License-Identifier: Apache-2.0
#include "test/run/cluster_programs.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

// The slow tests are this file with other numbers.
#ifndef PDG_CLUSTER_SEEDS
#define PDG_CLUSTER_SEEDS 0
#define PDG_CLUSTER_COUNT 8
#define PDG_CLUSTER_NATIVE_COUNT 0
#endif

namespace pdg {
namespace {

class ClusterPrograms : public testing::Test {
protected:
  void SetUp() override {
    path = testing::TempDir() + "pdg_cluster_" + std::to_string(getpid());
    writeClusterData(path + ".npz");
  }
  void TearDown() override {
    std::remove((path + ".npz").c_str());
    std::remove((path + ".pdg").c_str());
  }

  /// Runs scripts in one process and on clusters, until a few differ.
  void compare(uint64_t first, uint64_t count, bool isNative) {
    if (const char *range = std::getenv("PDG_CLUSTERS"))
      std::sscanf(range, "%lu %lu", &first, &count);
    int failures = 0;
    for (uint64_t seed = first; seed < first + count && failures < 3; ++seed)
      failures += !agree(seed, isNative);
  }

  bool agree(uint64_t seed, bool isNative) {
    std::string script = makeClusterScript(seed, path + ".npz");
    std::ofstream(path + ".pdg") << script;
    auto trainers = static_cast<int64_t>(1 + seed % 4);
    auto servers = static_cast<int64_t>(1 + seed / 4 % 3);
    ClusterOutcome plain = runClusterCase({path + ".pdg", trainers, 0, isNative, seed});
    ClusterOutcome cut = runClusterCase({path + ".pdg", trainers, servers, isNative, seed});
    EXPECT_EQ(plain.error, "") << "seed " << seed << "\n" << script;
    EXPECT_EQ(plain.differenceTo(cut), "")
        << "seed " << seed << ", " << trainers << " trainers, " << servers << " servers\n"
        << script;
    return plain.error.empty() && plain == cut;
  }

  std::string path;
};

TEST_F(ClusterPrograms, HaveTheBitsOfOneProcess) {
  compare(PDG_CLUSTER_SEEDS, PDG_CLUSTER_COUNT, /*isNative=*/false);
}

TEST_F(ClusterPrograms, HaveTheBitsOfOneProcessNatively) {
  if (PDG_CLUSTER_NATIVE_COUNT == 0)
    GTEST_SKIP() << "compiling takes long: a slow test";
  compare(PDG_CLUSTER_SEEDS, PDG_CLUSTER_NATIVE_COUNT, /*isNative=*/true);
}

} // namespace
} // namespace pdg
