// The formats of data sources. A reader says what is in the files (`probe`, quick, also called by
// the compiler) and reads it (`load`). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/data/data_files.h"
#include "runtime/data/example_table.h"

#include <absl/status/statusor.h>

#include <atomic>
#include <span>
#include <string>
#include <string_view>

namespace pdg {

/// What a reader is given: the description of the source and its files, found.
struct ReaderInput {
  const SourceInfo &source;
  std::span<const std::string> paths;
  const std::atomic<bool> *cancelled = nullptr; ///< May be null; true ends loading early.
};

/// A format of data files. Errors name the file, what was expected, what was found and where.
struct Reader {
  std::string_view name; ///< SourceInfo::reader.
  /// Reads only the headers of the files.
  absl::StatusOr<SourceHeader> (*probe)(const ReaderInput &input);
  /// Reads everything.
  absl::StatusOr<ExampleTable> (*load)(const ReaderInput &input);
};

/// Finds the reader of `source`, or an error that lists all.
absl::StatusOr<const Reader *> findReader(const SourceInfo &source);

/// Finds the files of `source`.
absl::StatusOr<std::vector<std::string>> resolveSourceFiles(const SourceInfo &source,
                                                            const DataPaths &paths);

/// Finds the files of `source` and reads their headers: the element types and shapes of its
/// examples and, if that is cheap, their number. `source.fields` is not looked at.
absl::StatusOr<SourceHeader> probeSource(const SourceInfo &source, const DataPaths &paths);

} // namespace pdg
