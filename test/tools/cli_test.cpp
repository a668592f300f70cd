// Tests how the command line is taken apart, and the exit codes of wrong usage.
// SPDX-License-Identifier: Apache-2.0
#include "tools/cli.h"

#include <gtest/gtest.h>

namespace pdg {
namespace {

TEST(ParseSet, SplitsAtTheFirstEquals) {
  std::pair<std::string, std::string> set;
  EXPECT_EQ(parseSet("name=a=b", set), "");
  EXPECT_EQ(set.first, "name");
  EXPECT_EQ(set.second, "a=b");
}

TEST(ParseSet, RefusesWhatIsNoName) {
  std::pair<std::string, std::string> set;
  for (const char *text : {"", "=", "=1", "x=", "x", "1x=2", "a.b=3", "a b=3"})
    EXPECT_NE(parseSet(text, set), "") << text;
}

TEST(ParseFeed, TakesArraysAndArchives) {
  FeedArgument feed;
  EXPECT_EQ(parseFeed("x=in.npy", feed), "");
  EXPECT_EQ(feed.name + "|" + feed.file + "|" + feed.array, "x|in.npy|");
  EXPECT_EQ(parseFeed("W=dir/all.npz:init.fc1.W", feed), "");
  EXPECT_EQ(feed.name + "|" + feed.file + "|" + feed.array, "W|dir/all.npz|init.fc1.W");
  EXPECT_EQ(parseFeed("dir/all.npz", feed), "");
  EXPECT_EQ(feed.name + "|" + feed.file + "|" + feed.array, "|dir/all.npz|");
}

TEST(ParseFeed, RefusesOtherForms) {
  FeedArgument feed;
  for (const char *text :
       {"", "x", "x=", "x=a.npz", "x=a.npz:", "x=.npz:a", "a.npy", ".npz", "x=a.txt", "1=a.npy"})
    EXPECT_NE(parseFeed(text, feed), "") << text;
}

int exitCodeOf(std::vector<const char *> arguments) {
  arguments.insert(arguments.begin(), "pdc");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  int code = runCommandLine(static_cast<int>(arguments.size()), arguments.data());
  testing::internal::GetCapturedStdout();
  testing::internal::GetCapturedStderr();
  return code;
}

TEST(CommandLine, WrongUsageIsTwo) {
  EXPECT_EQ(exitCodeOf({}), ExitWrongUsage);
  EXPECT_EQ(exitCodeOf({"walk"}), ExitWrongUsage);
  EXPECT_EQ(exitCodeOf({"run"}), ExitWrongUsage);
  EXPECT_EQ(exitCodeOf({"run", "a.pdg", "--speed", "3"}), ExitWrongUsage);
  EXPECT_EQ(exitCodeOf({"run", "a.pdg", "--seed", "three"}), ExitWrongUsage);
  EXPECT_EQ(exitCodeOf({"run", "a.pdg", "--isa", "sse"}), ExitWrongUsage);
  EXPECT_EQ(exitCodeOf({"emit", "a.pdg"}), ExitWrongUsage);
  for (const char *option : {"--save", "--fetch", "--load"})
    for (const char *name : {"", "x.txt", ".npz", "npz"})
      EXPECT_EQ(exitCodeOf({"run", "a.pdg", option, name}), ExitWrongUsage) << option << name;
  for (const char *only : {"", ",", "a,", ",a", "a,,b", ".a", "a."})
    EXPECT_EQ(exitCodeOf({"run", "a.pdg", "--load", "x.npz", "--only", only}), ExitWrongUsage)
        << only;
  EXPECT_EQ(exitCodeOf({"explain", "nonsense"}),
            exitCodeOf({"explain"}) == ExitDone ? ExitWrongUsage : ExitWorldFailed);
}

TEST(CommandLine, HelpAndVersionAreNoErrors) {
  EXPECT_EQ(exitCodeOf({"--help"}), ExitDone);
  EXPECT_EQ(exitCodeOf({"--version"}), ExitDone);
  for (const char *command : {"run", "check", "emit", "explain"})
    EXPECT_EQ(exitCodeOf({command, "--help"}), ExitDone) << command;
}

} // namespace
} // namespace pdg
