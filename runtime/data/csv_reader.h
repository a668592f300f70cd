// CSV files: the first line names the columns, every other line is an example, all values are f32.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/data/reader.h"

namespace pdg {

/// Reads the first line. Without a target an example is one field f32[columns]; with SourceInfo's
/// `target` it is the other columns, in their order, and the target, a scalar.
absl::StatusOr<SourceHeader> probeCsv(const ReaderInput &input);

/// Reads the file. Errors begin with file:line:column.
absl::StatusOr<ExampleTable> loadCsv(const ReaderInput &input);

} // namespace pdg
