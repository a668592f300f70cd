// Tests units and modes of clusters, and what the command line makes of them.
// SPDX-License-Identifier: Apache-2.0
#include "tools/cluster.h"

#include <gtest/gtest.h>

namespace pdg {
namespace {

TEST(ClusterUnits, AreRead) {
  std::string wrong;
  EXPECT_EQ(parseMemory("16GiB", wrong), int64_t{16} << 30);
  EXPECT_EQ(parseMemory("1.5 KiB", wrong), 1536);
  EXPECT_EQ(parseMemory("2MB", wrong), 2'000'000);
  EXPECT_DOUBLE_EQ(*parseBandwidth("10Gbit/s", wrong), 1.25e9);
  EXPECT_DOUBLE_EQ(*parseBandwidth("100MB/s", wrong), 1e8);
  EXPECT_DOUBLE_EQ(*parseDuration("50us", wrong), 50e-6);
  EXPECT_DOUBLE_EQ(*parseDuration("50µs", wrong), 50e-6);
  EXPECT_DOUBLE_EQ(*parseDuration("0ms", wrong), 0);
  EXPECT_EQ(wrong, "");
}

TEST(ClusterUnits, RefuseOthers) {
  for (const char *text : {"", "16", "GiB", "16gib", "-1GiB", "1e3B", "1..5GiB", "0B", "0.1B",
                           "9999999999TiB", "16GiB ", "16  GiBs", "infB", "nanB"}) {
    std::string wrong;
    EXPECT_FALSE(parseMemory(text, wrong)) << text;
    EXPECT_NE(wrong, "") << text;
  }
  std::string wrong;
  EXPECT_FALSE(parseBandwidth("10gbit/s", wrong));
  EXPECT_EQ(wrong,
            "expects a number with a unit such as \"10Gbit/s\", got \"10gbit/s\"; did you mean "
            "'Gbit/s'?");
  EXPECT_FALSE(parseBandwidth("0bit/s", wrong));
  EXPECT_FALSE(parseDuration("50", wrong));
}

TEST(ClusterModes, AreReadAsTheyAreWritten) {
  for (const char *text : {"sync", "async", "bounded:1", "local:16", "all-reduce"}) {
    std::optional<ClusterModeSpec> mode = parseClusterMode(text);
    ASSERT_TRUE(mode) << text;
    EXPECT_EQ(mode->str(), text);
  }
  for (const char *text : {"", "syn", "sync:2", "bounded", "bounded:", "bounded:0", "bounded:-1",
                           "bounded:01", "local:x", "local:99999999999999999999", "all_reduce"})
    EXPECT_FALSE(parseClusterMode(text)) << text;
}

TEST(ClusterBytes, AreShort) {
  EXPECT_EQ(bytesText(0), "0 B");
  EXPECT_EQ(bytesText(1023), "1023 B");
  EXPECT_EQ(bytesText(1536), "1.5 KiB");
  EXPECT_EQ(bytesText(3.0 * 0x1p30), "3.0 GiB");
}

/// What a file with this text describes, and how many errors it has.
std::pair<std::optional<Cluster>, size_t> readText(std::string text) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  FileId file = sources.add("cluster.toml", std::move(text));
  std::optional<Cluster> cluster = readClusterFile(file, sources, diagnostics);
  return {cluster, diagnostics.errorCount()};
}

TEST(ClusterFile, IsReadWhole) {
  auto [cluster, errors] = readText("mode = 'bounded:4'\nrestart = 3\n"
                                    "[servers]\nhosts = ['a', 'b:70']\nmemory = '1KiB'\n"
                                    "[trainers]\nhosts = ['c', 'd', '[::1]:70']\n"
                                    "devices = ['cuda:0', 'cuda:1']\nmemory = '2KiB'\n"
                                    "[network]\nbandwidth = '8bit/s'\nlatency = '1s'\n"
                                    "wire = 'bf16'\n[launch]\nby = 'ssh'\ntls = 'certs'\n");
  ASSERT_TRUE(cluster);
  EXPECT_EQ(errors, 0u);
  EXPECT_EQ(cluster->mode.str(), "bounded:4");
  EXPECT_EQ(cluster->restart, 3);
  EXPECT_EQ(cluster->servers.count, 2);
  EXPECT_EQ(cluster->trainers.count, 3);
  EXPECT_EQ(cluster->devices(), 2);
  EXPECT_EQ(cluster->servers.memory, 1024);
  EXPECT_EQ(cluster->trainers.memory, 2048);
  EXPECT_DOUBLE_EQ(cluster->network.bandwidth, 1);
  EXPECT_DOUBLE_EQ(cluster->network.latency, 1);
  EXPECT_EQ(cluster->network.wire + cluster->launch + cluster->tls, "bf16sshcerts");
}

TEST(ClusterFile, NoTextCrashesIt) {
  std::string text = "mode = \"sync\"\n[servers]\nhosts = [\"a\"]\n[trainers]\nhosts = [\"é\"]\n";
  for (size_t length = 0; length <= text.size(); ++length)
    (void)readText(text.substr(0, length));
  for (size_t at = 0; at < text.size(); ++at)
    for (char c : {'\0', '"', '[', '\n', '\xff', '='}) {
      std::string changed = text;
      changed[at] = c;
      auto [cluster, errors] = readText(changed);
      EXPECT_EQ(cluster.has_value(), errors == 0) << changed;
    }
}

} // namespace
} // namespace pdg
