// The IDX format of the MNIST family: one tensor per file, big-endian, the first axis the examples.
//
//   00 00 | type code | rank | rank sizes of 4 bytes | elements, row-major
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/data/reader.h"

namespace pdg {

/// Reads the headers: one field per group of files.
absl::StatusOr<SourceHeader> probeIdx(const ReaderInput &input);

/// Opens the files. 16-bit integers become i32.
absl::StatusOr<std::unique_ptr<ExampleReader>> openIdx(const ReaderInput &input);

} // namespace pdg
