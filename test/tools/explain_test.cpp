// Tests how codes are read.
// SPDX-License-Identifier: Apache-2.0
#include "tools/explain.h"

#include <gtest/gtest.h>

namespace pdg {
namespace {

TEST(CanonicalCode, AcceptsShortForms) {
  EXPECT_EQ(canonicalCode("PD0123"), "PD0123");
  EXPECT_EQ(canonicalCode("pd123"), "PD0123");
  EXPECT_EQ(canonicalCode("7"), "PD0007");
}

TEST(CanonicalCode, RefusesWhatIsNoCode) {
  for (const char *text : {"", "P", "PD", "PD12345", "PDx", "1.5", "-1", "../PD01"})
    EXPECT_EQ(canonicalCode(text), "") << text;
}

} // namespace
} // namespace pdg
