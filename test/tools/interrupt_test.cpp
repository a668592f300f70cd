// Tests what Ctrl-C does: while a program is compiled it ends the process with exit code 130; then
// the first calls the action and the second ends the process.
// SPDX-License-Identifier: Apache-2.0
#include "tools/driver.h"
#include "tools/interrupt.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>

namespace pdg {
namespace {

// All in processes of their own: signals are the whole process's.
std::atomic<int> calls{0};

void countCalls(void *argument) { calls += *static_cast<int *>(argument); }

TEST(InterruptDeathTest, TheFirstCallsTheAction) {
  auto once = [] {
    installInterruptHandler();
    clearInterrupt(/*patience=*/2);
    int weight = 3;
    setInterruptAction(countCalls, &weight);
    bool before = isInterrupted();
    std::raise(SIGINT);
    std::_Exit(!before && isInterrupted() ? 10 + calls : 1);
  };
  EXPECT_EXIT(once(), testing::ExitedWithCode(13), "");
}

TEST(InterruptDeathTest, AnActionThatComesLateIsCalledAtOnce) {
  auto late = [] {
    installInterruptHandler();
    clearInterrupt(/*patience=*/2);
    std::raise(SIGINT);
    int weight = 4;
    setInterruptAction(countCalls, &weight);
    std::_Exit(10 + calls);
  };
  EXPECT_EXIT(late(), testing::ExitedWithCode(14), "");
}

TEST(InterruptDeathTest, TheSecondEndsTheProcess) {
  auto twice = [] {
    installInterruptHandler();
    clearInterrupt(/*patience=*/2);
    std::raise(SIGTERM);
    std::raise(SIGINT);
    std::_Exit(1);
  };
  EXPECT_EXIT(twice(), testing::ExitedWithCode(ExitInterrupted), "");
}

TEST(InterruptDeathTest, TheFirstEndsACompilation) {
  auto compiling = [] {
    installInterruptHandler();
    std::raise(SIGINT);
    std::_Exit(1);
  };
  EXPECT_EXIT(compiling(), testing::ExitedWithCode(ExitInterrupted), "interrupted");
}

TEST(InterruptDeathTest, WhatStoppedIsForgotten) {
  auto patient = [] {
    installInterruptHandler();
    clearInterrupt(/*patience=*/3);
    std::raise(SIGINT);
    std::raise(SIGINT);
    bool before = isInterrupted();
    clearInterrupt(/*patience=*/2);
    bool after = isInterrupted() || isTerminated();
    std::raise(SIGTERM);
    std::_Exit(before && !after && isInterrupted() && isTerminated() ? 10 : 1);
  };
  EXPECT_EXIT(patient(), testing::ExitedWithCode(10), "");
}

} // namespace
} // namespace pdg
