// Batches are consecutive pieces of the order of their pass, in whatever sequence they are asked
// for. SPDX-License-Identifier: Apache-2.0
#include "runtime/data/batch_maker.h"

#include "runtime/data/shuffle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace pdg {
namespace {

constexpr int64_t kExamples = 10;

/// A table of one i64 field whose examples are their own numbers.
ExampleTable makeTable() {
  ExampleTable table;
  table.numExamples = kExamples;
  table.columns.push_back(makeColumn({DType::I64, {}}).value());
  EXPECT_TRUE(table.columns[0].bytes.reserve(kExamples * 8).ok());
  for (int64_t i = 0; i < kExamples; ++i)
    std::memcpy(table.columns[0].bytes.data() + i * 8, &i, 8);
  return table;
}

absl::StatusOr<BatchMaker> makeMaker(const SourceInfo &source, uint64_t runSeed) {
  return BatchMaker::create(source, runSeed, std::make_unique<TableReader>(makeTable()),
                            {{{DType::I64, {}}}, kExamples}, {0, kExamples});
}

TEST(BatchMaker, CutsTheShuffledOrderIntoBatches) {
  SourceInfo source;
  source.batch = 4;
  source.shuffle = true;
  source.seed = 3;
  BatchMaker maker = makeMaker(source, 1).value();
  EXPECT_EQ(maker.numBatches(), 3);
  EXPECT_EQ(maker.fieldBytes(0).value(), 4 * 8);
  // Forwards and backwards, so that the pass changes at every call as well.
  std::vector<DataPosition> positions;
  for (int64_t pass = 0; pass < 3; ++pass)
    for (int64_t batch = 0; batch < 4; ++batch)
      positions.push_back({pass, batch});
  std::vector<DataPosition> reversed(positions.rbegin(), positions.rend());
  positions.insert(positions.end(), reversed.begin(), reversed.end());
  for (DataPosition position : positions) {
    std::vector<int64_t> order(kExamples), found(4);
    shuffleOrder(1, 3, position.pass, order);
    char *field = reinterpret_cast<char *>(found.data());
    int64_t n = maker.fill(position, {&field, 1}).value();
    ASSERT_EQ(n, std::clamp<int64_t>(kExamples - 4 * position.batch, 0, 4));
    for (int64_t i = 0; i < n; ++i)
      EXPECT_EQ(found[i], order[4 * position.batch + i]);
  }
}

TEST(BatchMaker, RefusesABatchOfNothing) {
  SourceInfo source;
  source.batch = 0;
  EXPECT_EQ(makeMaker(source, 0).status().message(),
            "expects a batch of at least 1 example, found 0");
}

} // namespace
} // namespace pdg
