// The progress bar, with a clock of the test's own.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/progress.h"

#include <gtest/gtest.h>

#include <vector>

namespace pdg {
namespace {

class ProgressBar : public testing::Test {
protected:
  Progress::Terminal terminal() {
    return {.write = [this](std::string_view text) { written.emplace_back(text); },
            .now = [this] { return now; }};
  }

  double now = 100;
  std::vector<std::string> written;
};

const std::string kErase = "\r\x1b[K";

TEST_F(ProgressBar, ShowsStepsRateTimeAndLoss) {
  Progress progress(terminal());
  progress.beginPass("train", 200);
  progress.setLoss("0.1234");
  for (int i = 0; i < 50; ++i) {
    now += 0.0025;
    progress.step();
  }
  ASSERT_EQ(written.size(), 1u);
  now += 0.875;
  progress.step();
  ASSERT_EQ(written.size(), 2u);
  EXPECT_EQ(written[1], kErase + "train [======                  ] 51/200  51 steps/s  0:03 left"
                                 "  loss 0.1234");
}

TEST_F(ProgressBar, DrawsTenTimesASecond) {
  Progress progress(terminal());
  progress.beginPass("train", 10000);
  for (int i = 0; i < 10000; ++i) {
    now += 1e-4;
    progress.step();
  }
  EXPECT_GE(written.size(), 8u);
  EXPECT_LE(written.size(), 10u);
}

TEST_F(ProgressBar, ClearsOnlyWhatIsDrawn) {
  Progress progress(terminal());
  progress.beginPass("train", 10);
  progress.clear();
  EXPECT_TRUE(written.empty());
  now += 1;
  progress.step();
  progress.clear();
  progress.clear();
  ASSERT_EQ(written.size(), 2u);
  EXPECT_EQ(written[1], kErase);
}

TEST_F(ProgressBar, FitsTheTerminal) {
  Progress::Terminal narrow = terminal();
  narrow.columns = 20;
  Progress progress(std::move(narrow));
  progress.beginPass("train", 10);
  now += 1;
  progress.step();
  EXPECT_EQ(written[0].size(), kErase.size() + 19);
}

TEST_F(ProgressBar, ColorsTheBar) {
  Progress::Terminal colored = terminal();
  colored.hasColors = true;
  Progress progress(std::move(colored));
  progress.beginPass("d", 1);
  now += 4000;
  progress.step();
  EXPECT_EQ(written[0], kErase + "d [\x1b[36m========================\x1b[0m] 1/1  0.0 steps/s"
                                 "  0:00 left");
}

TEST_F(ProgressBar, IsSilentElsewhere) {
  Progress progress = Progress::onStandardError(/*isQuiet=*/true);
  progress.beginPass("train", 10);
  progress.step();
  progress.clear();
  progress = Progress();
  progress.beginPass("train", 10);
  progress.step();
}

} // namespace
} // namespace pdg
