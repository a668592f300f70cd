// Arenas: alignment, zeroed memory, ownership, refusals.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/arena.h"

#include <gtest/gtest.h>

namespace pdg {
namespace {

TEST(Arena, IsAlignedAndZero) {
  for (int64_t size : {int64_t{1}, int64_t{4096}, Arena::kAlignment, Arena::kAlignment + 1}) {
    absl::StatusOr<Arena> arena = Arena::create(size);
    ASSERT_TRUE(arena.ok()) << arena.status();
    EXPECT_EQ(arena->size(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(arena->data()) % Arena::kAlignment, 0u);
    EXPECT_EQ(arena->data()[0], 0);
    EXPECT_EQ(arena->data()[size - 1], 0);
    arena->data()[size - 1] = 1;
  }
}

TEST(Arena, EmptyHasNoMemory) {
  absl::StatusOr<Arena> arena = Arena::create(0);
  ASSERT_TRUE(arena.ok());
  EXPECT_EQ(arena->data(), nullptr);
}

TEST(Arena, MovesItsMemory) {
  absl::StatusOr<Arena> made = Arena::create(100);
  ASSERT_TRUE(made.ok());
  char *address = made->data();
  Arena moved = *std::move(made);
  EXPECT_EQ(moved.data(), address);
  EXPECT_EQ(made->data(), nullptr);
  Arena assigned;
  assigned = std::move(moved);
  EXPECT_EQ(assigned.data(), address);
}

TEST(Arena, RefusesImpossibleSizes) {
  EXPECT_FALSE(Arena::create(-1).ok());
  EXPECT_FALSE(Arena::create(INT64_MAX).ok());
}

} // namespace
} // namespace pdg
