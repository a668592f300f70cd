// The mixing functions are part of the meaning of programs: their values are fixed here.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/mix.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <string>
#include <vector>

namespace pdg {
namespace {

// Usable when compiling.
static_assert(mix(0) == 0xe220a8397b1dcdafu, "the first output of SplitMix64 with seed 0");
static_assert(combine(1, 2) != combine(2, 1));
static_assert(hashString("a") != hashString(""));
static_assert(drawBelow(1, 2, 1) == 0);

TEST(Mix, HasFixedValues) {
  EXPECT_EQ(combine(1, 2), 0xe06dd043328bd285u);
  EXPECT_EQ(hashString(""), 0xe220a8397b1dcdafu);
  EXPECT_EQ(hashString("net.hidden.W"), 0x570be05429d93dd1u);
  EXPECT_EQ(drawBelow(7, 3, 1000), 367u);
}

TEST(Mix, OneInputBitMovesHalfOfTheOutput) {
  for (int bit = 0; bit < 64; ++bit) {
    int moved = 0;
    for (uint64_t i = 0; i < 256; ++i)
      moved += std::popcount(mix(i) ^ mix(i ^ (uint64_t{1} << bit)));
    EXPECT_NEAR(moved / 256.0, 32, 2) << "bit " << bit;
  }
}

TEST(HashString, TellsTextsApart) {
  std::set<uint64_t> hashes;
  std::vector<std::string> texts;
  for (size_t length = 0; length < 40; ++length) {
    texts.push_back(std::string(length, '\0'));
    texts.push_back(std::string(length, 'x') + "y");
    texts.push_back("y" + std::string(length + 1, 'x'));
  }
  for (const std::string &text : texts)
    hashes.insert(hashString(text));
  EXPECT_EQ(hashes.size(), texts.size());
}

TEST(DrawBelow, IsUniform) {
  constexpr uint64_t kBound = 7, kDraws = 70000;
  std::vector<double> counts(kBound);
  for (uint64_t i = 0; i < kDraws; ++i)
    ++counts[drawBelow(11, i, kBound)];
  double chiSquare = 0;
  for (double count : counts)
    chiSquare += (count - 10000) * (count - 10000) / 10000;
  EXPECT_LT(chiSquare, 22.5) << "6 degrees of freedom: exceeded once in 1000";
}

TEST(DrawBelow, RejectsWhatWouldBiasALargeBound) {
  // Of a remainder without rejection, the lower half of this range would come twice as often.
  constexpr uint64_t kBound = 3u * (uint64_t{1} << 62);
  int low = 0;
  for (uint64_t i = 0; i < 3000; ++i) {
    uint64_t value = drawBelow(5, i, kBound);
    ASSERT_LT(value, kBound);
    low += value < uint64_t{1} << 62;
  }
  EXPECT_NEAR(low, 1000, 150);
}

} // namespace
} // namespace pdg
