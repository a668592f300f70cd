// Files that hold one array each, the first axis the examples: what IDX and .npy files are behind
// their headers. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/data/input_file.h"
#include "runtime/data/reader.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pdg {

/// What the header of a file says.
struct ArrayFile {
  std::string path;
  DType dtype = DType::F32;   ///< In memory.
  std::vector<int64_t> shape; ///< With the axis of the examples.
  int64_t begin = 0;          ///< The byte where the elements begin.
  int64_t elementSize = 0;    ///< In the file; 2 for 16-bit integers, which become i32.
  bool isBigEndian = false;
  bool isColumnMajor = false; ///< The examples are not one behind the other: it is read whole.

  /// The array as the language writes its type.
  std::string typeText() const;
};

/// Reads the header of a file; leaves the file at the first element. Checks no sizes.
using ReadArrayHeader = absl::StatusOr<ArrayFile> (*)(InputFile &file);

/// Reads the headers of all files: each group is a field, its files follow one another. All fields
/// have the same number of examples, and those of several files are cut in the same places.
absl::StatusOr<SourceHeader> probeArrays(const ReaderInput &input, ReadArrayHeader readHeader);

/// Opens the files; each must be exactly as long as its header says.
absl::StatusOr<std::unique_ptr<ExampleReader>> openArrays(const ReaderInput &input,
                                                          ReadArrayHeader readHeader);

} // namespace pdg
