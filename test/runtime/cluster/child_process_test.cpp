// Processes are started, watched and ended.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cluster/child_process.h"

#include <gtest/gtest.h>

#include <csignal>

namespace pdg::test {
namespace {

constexpr std::chrono::milliseconds Long{10000};

TEST(ChildProcess, SaysHowItEnded) {
  auto child = ChildProcess::start({"/bin/sh", "-c", "exit 3"});
  ASSERT_TRUE(child.ok()) << child.status();
  ASSERT_TRUE(child->waitFor(Long));
  EXPECT_EQ(child->describeEnd(), "ended with exit code 3");
}

TEST(ChildProcess, SaysWhatKilledIt) {
  auto child = ChildProcess::start({"/bin/sh", "-c", "kill -9 $$"});
  ASSERT_TRUE(child.ok()) << child.status();
  ASSERT_TRUE(child->waitFor(Long));
  EXPECT_EQ(child->describeEnd(), "was killed by signal 9 (Killed)");
}

TEST(ChildProcess, IsGoneWhenItIsForgotten) {
  pid_t pid = 0;
  {
    auto child = ChildProcess::start({"/bin/sleep", "1000"});
    ASSERT_TRUE(child.ok()) << child.status();
    pid = child->pid();
    EXPECT_FALSE(child->waitFor(std::chrono::milliseconds(0)));
  }
  EXPECT_NE(kill(pid, 0), 0);
}

TEST(ChildProcess, ThatDoesNotExistIsAnError) {
  auto child = ChildProcess::start({"/no/such/program"});
  EXPECT_EQ(child.status().message(), "cannot start /no/such/program: No such file or directory");
}

} // namespace
} // namespace pdg::test
