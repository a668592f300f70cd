// How the examples of a source are taken out of its files: one after another, from any place on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/data/example_table.h"

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace pdg {

/// Reads examples in the order of the files. Used by one thread at a time.
class ExampleReader {
public:
  /// What it costs to go to another place.
  enum class Access {
    Forward,  ///< Going back reads from the beginning again.
    Seekable, ///< A system call.
    InMemory, ///< Nothing.
  };

  virtual ~ExampleReader() = default;

  /// Copies the next up to `count` examples: field i of all of them, one behind the other, to
  /// fields[i]. Returns how many there were: fewer only at the end.
  virtual absl::StatusOr<int64_t> read(int64_t count, std::span<char *const> fields) = 0;

  /// Goes to example `index`, or to the end if there are fewer. Returns the index of the place.
  /// Requires: index >= 0.
  virtual absl::StatusOr<int64_t> seek(int64_t index) = 0;

  virtual Access access() const = 0;
};

/// Reads a table.
class TableReader : public ExampleReader {
public:
  explicit TableReader(ExampleTable table) : table_(std::move(table)) {}

  absl::StatusOr<int64_t> read(int64_t count, std::span<char *const> fields) override;
  absl::StatusOr<int64_t> seek(int64_t index) override;
  Access access() const override { return Access::InMemory; }

private:
  ExampleTable table_;
  int64_t next_ = 0;
};

/// The examples that a source takes of those in its files: [begin, end).
struct ExampleRange {
  int64_t begin = 0;
  int64_t end = kDynamicSize; ///< kDynamicSize: where the files end.

  friend bool operator==(const ExampleRange &, const ExampleRange &) = default;
};

/// Reads the examples of `range` that there are, unless they take more than `maxBytes`: then
/// nothing. Memory for header.numExamples, if that is known, is asked for at once.
absl::StatusOr<std::optional<ExampleTable>> readTable(ExampleReader &reader,
                                                      const SourceHeader &header,
                                                      ExampleRange range,
                                                      int64_t maxBytes = INT64_MAX);

/// The bytes of one example.
absl::StatusOr<int64_t> exampleBytes(const SourceHeader &header);

} // namespace pdg
