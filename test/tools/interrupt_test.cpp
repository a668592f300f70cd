// Tests what Ctrl-C does: the first sets a flag, the second ends the process with exit code 130.
// SPDX-License-Identifier: Apache-2.0
#include "tools/driver.h"
#include "tools/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>

namespace pdg {
namespace {

// Both in a process of their own: the flag cannot be taken back.
TEST(InterruptDeathTest, TheFirstAsksAndTheSecondEnds) {
  auto once = [] {
    installInterruptHandler();
    bool before = interruptFlag();
    std::raise(SIGINT);
    std::_Exit(!before && interruptFlag() ? 7 : 1);
  };
  EXPECT_EXIT(once(), testing::ExitedWithCode(7), "");
  auto twice = [] {
    installInterruptHandler();
    std::raise(SIGTERM);
    std::raise(SIGINT);
  };
  EXPECT_EXIT(twice(), testing::ExitedWithCode(ExitInterrupted), "");
}

} // namespace
} // namespace pdg
