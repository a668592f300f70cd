// Which examples make up which batch, and copying them together. The one place to change when a
// process is to read only a share of the examples.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/base/tensor.h"
#include "runtime/data/example_reader.h"
#include "runtime/data/shuffle.h"

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace pdg {

/// A place in the data: a batch of a pass.
struct DataPosition {
  int64_t pass = 0;
  int64_t batch = 0;

  friend bool operator==(const DataPosition &, const DataPosition &) = default;
};

/// Makes the batches of a source one at a time, in any order. Once its buffers have grown, nothing
/// is allocated.
class BatchMaker {
public:
  /// Takes the examples of `range` in `reader`, whose fields `header` describes, and the options of
  /// `source` (batch, shuffle, window, seed). A source that is shuffled as a whole needs to know
  /// the end of the range.
  static absl::StatusOr<BatchMaker> create(const SourceInfo &source, uint64_t runSeed,
                                           std::unique_ptr<ExampleReader> reader,
                                           const SourceHeader &header, ExampleRange range);

  /// The number of examples, or kDynamicSize if nobody has counted them.
  int64_t numExamples() const {
    return range_.end == kDynamicSize ? kDynamicSize : range_.end - range_.begin;
  }
  int64_t numFields() const { return static_cast<int64_t>(exampleBytes_.size()); }

  /// The number of batches of every pass, or kDynamicSize; the last may be smaller than the others.
  int64_t numBatches() const;

  /// The bytes that field `i` takes in the largest batch; an error if no memory has so many.
  absl::StatusOr<int64_t> fieldBytes(int64_t i) const;

  /// Copies the examples of a batch to `fields`, one [n, example dims...] buffer per field of at
  /// least fieldBytes, and returns n; 0 if the pass has no such batch. Quickest when batches and
  /// passes come one after another.
  absl::StatusOr<int64_t> fill(DataPosition position, std::span<char *const> fields);

private:
  /// The examples of one window of a pass, and their order.
  struct Window {
    int64_t pass = -1;
    int64_t index = -1;
    ExampleTable table;
    std::vector<int64_t> order;
  };

  BatchMaker() = default;

  absl::StatusOr<int64_t> readInOrder(int64_t begin, int64_t count, std::span<char *const> fields);
  absl::StatusOr<int64_t> gather(int64_t pass, int64_t begin, int64_t count,
                                 std::span<char *const> fields);
  absl::StatusOr<int64_t> gatherFromWindows(int64_t pass, int64_t begin, int64_t count,
                                            std::span<char *const> fields);
  absl::Status loadWindow(const WindowOrder &windows, int64_t pass, int64_t index);

  std::unique_ptr<ExampleReader> reader_;
  ExampleRange range_;
  std::vector<int64_t> exampleBytes_; ///< Of each field.
  int64_t batch_ = 1;                 ///< At most the number of examples, if that is known.
  uint64_t runSeed_ = 0;
  int64_t seed_ = 0;
  bool isShuffled_ = false;
  int64_t windowSize_ = 0;
  HostTensor order_;       ///< Of a source that is shuffled as a whole: i64[examples].
  int64_t orderPass_ = -1; ///< The pass that order_ is of.
  Window window_;
  std::vector<char *> places_; ///< Scratch: where the next examples go.
};

} // namespace pdg
