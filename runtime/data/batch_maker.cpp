// Gathers the examples of a batch.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/batch_maker.h"

#include "runtime/data/shuffle.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>

namespace pdg {

namespace {

/// Copies the examples `rows` of `column` to `to`, one behind the other.
void gatherRows(const FieldColumn &column, std::span<const int64_t> rows, char *to) {
  size_t size = static_cast<size_t>(column.exampleBytes);
  const uint8_t *from = column.bytes.data();
  for (int64_t row : rows) {
    std::memcpy(to, from + row * column.exampleBytes, size);
    to += size;
  }
}

} // namespace

absl::StatusOr<BatchMaker> BatchMaker::create(const SourceInfo &source, uint64_t runSeed,
                                              ExampleTable table) {
  if (source.batch < 1)
    return absl::InvalidArgumentError(
        absl::StrCat("expects a batch of at least 1 example, found ", source.batch));
  BatchMaker maker;
  maker.batch_ = std::min(source.batch, std::max<int64_t>(table.numExamples, 1));
  maker.runSeed_ = runSeed;
  maker.seed_ = source.seed;
  maker.isShuffled_ = source.shuffle;
  if (source.shuffle) {
    absl::StatusOr<HostTensor> order = HostTensor::create(DType::I64, {table.numExamples});
    if (!order.ok())
      return order.status();
    maker.order_ = *std::move(order);
  }
  maker.table_ = std::move(table);
  return maker;
}

int64_t BatchMaker::numBatches() const { return (numExamples() + batch_ - 1) / batch_; }

int64_t BatchMaker::fill(DataPosition position, std::span<char *const> fields) {
  if (position.batch >= numBatches())
    return 0;
  if (isShuffled_ && position.pass != orderPass_) {
    shuffleOrder(runSeed_, seed_, position.pass, order_.values<int64_t>());
    orderPass_ = position.pass;
  }
  int64_t begin = position.batch * batch_;
  int64_t count = std::min(batch_, numExamples() - begin);
  for (size_t i = 0; i < table_.columns.size(); ++i) {
    const FieldColumn &column = table_.columns[i];
    if (isShuffled_)
      gatherRows(column, order_.values<int64_t>().subspan(begin, count), fields[i]);
    else
      std::memcpy(fields[i], column.bytes.data() + begin * column.exampleBytes,
                  count * column.exampleBytes);
  }
  return count;
}

} // namespace pdg
