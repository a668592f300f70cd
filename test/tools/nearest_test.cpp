// Tests the edit distance behind "did you mean".
// SPDX-License-Identifier: Apache-2.0
#include "tools/nearest.h"

#include <gtest/gtest.h>

namespace pdg {
namespace {

TEST(EditDistance, CountsSingleCharacterEdits) {
  EXPECT_EQ(editDistance("", ""), 0u);
  EXPECT_EQ(editDistance("", "abc"), 3u);
  EXPECT_EQ(editDistance("abc", ""), 3u);
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(editDistance("rnu", "run"), 2u);
}

TEST(Nearest, KeepsToTheLimit) {
  std::vector<std::string> names = {"run", "check", "emit"};
  EXPECT_EQ(nearest("chek", names, 2), "check");
  EXPECT_EQ(nearest("train", names, 2), "");
  EXPECT_EQ(nearest("rum", {"rut", "run"}, 1), "rut");
}

} // namespace
} // namespace pdg
