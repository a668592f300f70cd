// The examples of a source, in memory, in the order of the files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/worker/program_info.h"

#include <absl/status/statusor.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pdg {

/// Bytes whose number is not always known before they are read. Running out of memory is an error.
class GrowingBytes {
public:
  /// Makes room for at least `capacity` bytes, keeping what is there. New bytes have no defined
  /// value. Moves the bytes.
  absl::Status reserve(int64_t capacity);

  /// Makes room for one more piece of `size` bytes after the first `used`; doubles when it grows.
  absl::Status reserveMore(int64_t used, int64_t size);

  uint8_t *data() { return bytes_.get(); }
  const uint8_t *data() const { return bytes_.get(); }

private:
  struct Free {
    void operator()(uint8_t *bytes) const { std::free(bytes); }
  };
  std::unique_ptr<uint8_t, Free> bytes_;
  int64_t capacity_ = 0;
};

/// One field of all examples: [examples, dims...], row-major.
struct FieldColumn {
  FieldInfo info;
  int64_t exampleBytes = 0;
  GrowingBytes bytes;
};

/// All examples of a source.
struct ExampleTable {
  int64_t numExamples = 0;
  std::vector<FieldColumn> columns;
};

/// What the headers of a source's files say.
struct SourceHeader {
  std::vector<FieldInfo> fields;
  int64_t numExamples = kDynamicSize; ///< kDynamicSize if only reading everything would tell.
};

/// Makes a column without examples. Fails if one example is larger than memory.
absl::StatusOr<FieldColumn> makeColumn(const FieldInfo &info);

/// Returns the fields as the language writes a tuple: "(u8[28, 28], u8)".
std::string typeString(std::span<const FieldInfo> fields);

} // namespace pdg
