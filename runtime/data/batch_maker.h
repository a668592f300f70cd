// Which examples make up which batch, and copying them together. The one place to change when a
// process is to read only a share of the examples.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/base/tensor.h"
#include "runtime/data/example_table.h"

#include <absl/status/statusor.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace pdg {

/// A place in the data: a batch of a pass.
struct DataPosition {
  int64_t pass = 0;
  int64_t batch = 0;

  friend bool operator==(const DataPosition &, const DataPosition &) = default;
};

/// Makes the batches of a source one at a time, in any order. Allocates nothing after create.
class BatchMaker {
public:
  /// Takes the examples and the options of `source` (batch, shuffle, seed).
  static absl::StatusOr<BatchMaker> create(const SourceInfo &source, uint64_t runSeed,
                                           ExampleTable table);

  int64_t numExamples() const { return table_.numExamples; }
  int64_t numFields() const { return static_cast<int64_t>(table_.columns.size()); }

  /// The number of batches of every pass; the last may be smaller than the others.
  int64_t numBatches() const;

  /// The bytes that field `i` takes in the largest batch.
  int64_t fieldBytes(int64_t i) const {
    return std::min(batch_, numExamples()) * table_.columns[i].exampleBytes;
  }

  /// Copies the examples of a batch to `fields`, one [n, example dims...] buffer per field of at
  /// least fieldBytes, and returns n; 0 if the pass has no such batch. Quickest when passes come
  /// one after another: a change of pass recomputes the order.
  int64_t fill(DataPosition position, std::span<char *const> fields);

private:
  BatchMaker() = default;

  ExampleTable table_;
  int64_t batch_ = 1; ///< At most the number of examples.
  uint64_t runSeed_ = 0;
  int64_t seed_ = 0;
  HostTensor order_; ///< Of a shuffled source: i64[examples].
  bool isShuffled_ = false;
  int64_t orderPass_ = -1; ///< The pass that order_ is of.
};

} // namespace pdg
