// NumPy's files as data: .npy, one array per file, and .npz, several in one file. The first axis
// is the examples. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/data/reader.h"

namespace pdg {

/// Reads the headers: one field per group of .npy files.
absl::StatusOr<SourceHeader> probeNpy(const ReaderInput &input);

/// Opens .npy files, plain or packed.
absl::StatusOr<std::unique_ptr<ExampleReader>> openNpy(const ReaderInput &input);

/// Reads the headers of the arrays that the option `fields` names; all must be there.
absl::StatusOr<SourceHeader> probeNpz(const ReaderInput &input);

/// Reads those arrays of all files, which follow one another, into memory.
absl::StatusOr<std::unique_ptr<ExampleReader>> openNpz(const ReaderInput &input);

} // namespace pdg
