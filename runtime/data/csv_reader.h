// CSV files: every line is an example. The options of a source say which columns make up which
// field, and of which type. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/data/reader.h"

namespace pdg {

/// True for the names of element types that a column may have.
bool isCsvType(std::string_view name);

/// Reads the first line of every file; all must have the same columns. Without options an example
/// is one field f32[columns].
absl::StatusOr<SourceHeader> probeCsv(const ReaderInput &input);

/// Opens the files, which follow one another. Errors begin with file:line:column.
absl::StatusOr<std::unique_ptr<ExampleReader>> openCsv(const ReaderInput &input);

} // namespace pdg
