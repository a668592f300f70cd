// The data order: a permutation, fixed by seeds and pass, unbiased, and the same for ever.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/shuffle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace pdg {
namespace {

std::vector<int64_t> orderOf(uint64_t runSeed, int64_t sourceSeed, int64_t pass, size_t n) {
  std::vector<int64_t> order(n);
  shuffleOrder(runSeed, sourceSeed, pass, order);
  return order;
}

TEST(ShuffleOrder, IsAPermutationOfEverySize) {
  for (size_t n : {0, 1, 2, 3, 17, 1000}) {
    std::vector<int64_t> order = orderOf(1, 2, 3, n);
    std::sort(order.begin(), order.end());
    for (size_t i = 0; i < n; ++i)
      ASSERT_EQ(order[i], static_cast<int64_t>(i));
  }
}

TEST(ShuffleOrder, DependsOnSeedsAndPassOnly) {
  std::vector<int64_t> order = orderOf(1, 2, 3, 100);
  EXPECT_EQ(orderOf(1, 2, 3, 100), order);
  EXPECT_NE(orderOf(0, 2, 3, 100), order);
  EXPECT_NE(orderOf(1, 0, 3, 100), order);
  EXPECT_NE(orderOf(1, 2, 4, 100), order);
  EXPECT_NE(orderOf(2, 1, 3, 100), order);
}

TEST(ShuffleOrder, NeverChanges) {
  EXPECT_EQ(orderOf(0, 7, 0, 10), (std::vector<int64_t>{3, 6, 8, 9, 1, 7, 4, 0, 5, 2}));
  EXPECT_EQ(orderOf(0, 7, 1, 10), (std::vector<int64_t>{6, 0, 3, 8, 7, 5, 2, 1, 4, 9}));
  EXPECT_EQ(orderOf(1, 7, 0, 10), (std::vector<int64_t>{6, 7, 5, 1, 9, 4, 8, 2, 0, 3}));
  EXPECT_EQ(orderOf(0, -1, 0, 10), (std::vector<int64_t>{6, 5, 9, 7, 3, 1, 4, 8, 0, 2}));
}

TEST(ShuffleOrder, GivesEveryPermutationEqually) {
  std::map<std::vector<int64_t>, int> counts;
  for (int64_t pass = 0; pass < 24000; ++pass)
    ++counts[orderOf(0, 0, pass, 4)];
  EXPECT_EQ(counts.size(), 24u);
  double chiSquare = 0;
  for (const auto &[order, count] : counts)
    chiSquare += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chiSquare, 49.7) << "23 degrees of freedom: exceeded once in 1000";
}

TEST(WindowOrder, WindowsFollowOneAnother) {
  for (int64_t size : {1, 2, 10, 1000})
    for (int64_t pass = 0; pass < 20; ++pass) {
      WindowOrder windows(1, 2, pass, size);
      EXPECT_LE(windows.beginOf(1), size);
      EXPECT_GE(windows.beginOf(1), 1);
      for (int64_t window = 0; window < 5; ++window) {
        EXPECT_EQ(windows.windowOf(windows.beginOf(window)), window);
        EXPECT_EQ(windows.windowOf(windows.beginOf(window + 1) - 1), window);
      }
    }
}

TEST(WindowOrder, NeverChanges) {
  WindowOrder windows(0, 7, 3, 6);
  std::vector<int64_t> order(6);
  windows.shuffle(2, order);
  EXPECT_EQ(windows.beginOf(1), 6);
  EXPECT_EQ(order, (std::vector<int64_t>{4, 1, 0, 2, 5, 3}));
  EXPECT_EQ(WindowOrder(0, 7, 4, 6).beginOf(1), 3);
}

TEST(WindowOrder, HasNoEnd) {
  WindowOrder windows(0, 0, 0, INT64_MAX);
  EXPECT_EQ(windows.beginOf(3), INT64_MAX);
  EXPECT_EQ(windows.windowOf(0), 0);
}

} // namespace
} // namespace pdg
