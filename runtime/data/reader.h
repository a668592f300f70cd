// The formats of data sources. A reader says what is in the files (`probe`, quick, also called by
// the compiler) and reads it (`open`). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/data/data_files.h"
#include "runtime/data/example_reader.h"

#include <absl/status/statusor.h>

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdg {

/// What a reader is given: the description of the source and its files, found.
struct ReaderInput {
  const SourceInfo &source;
  /// One group for each name or pattern of SourceInfo::files.
  std::span<const std::vector<std::string>> files;
  const DataPaths &paths;                       ///< For files that options name.
  const std::atomic<bool> *cancelled = nullptr; ///< May be null; true ends reading early.

  /// All groups, one behind the other.
  std::vector<std::string> allFiles() const;

  /// The value of an option, or null.
  const OptionValue *option(std::string_view name) const;
};

/// An option of a reader, as a script writes it.
struct ReaderOption {
  std::string_view name;
  std::string_view expected; ///< What it takes, for messages.
  bool (*accepts)(const OptionValue &value);
};

/// A format of data files. Errors name the file, what was expected, what was found and where.
struct Reader {
  std::string_view name; ///< SourceInfo::reader.
  std::span<const ReaderOption> options;
  /// Reads only the headers of the files.
  absl::StatusOr<SourceHeader> (*probe)(const ReaderInput &input);
  /// Opens the files.
  absl::StatusOr<std::unique_ptr<ExampleReader>> (*open)(const ReaderInput &input);
};

/// All readers, by name.
std::span<const Reader> allReaders();

/// Finds the reader of `source`, or an error that lists all.
absl::StatusOr<const Reader *> findReader(const SourceInfo &source);

/// Finds the files of `source`, a group for each name or pattern.
absl::StatusOr<std::vector<std::vector<std::string>>> resolveSourceFiles(const SourceInfo &source,
                                                                         const DataPaths &paths);

/// Finds the files of `source` and reads their headers: the element types and shapes of its
/// examples and, if that is cheap, their number. `source.fields` is not looked at.
absl::StatusOr<SourceHeader> probeSource(const SourceInfo &source, const DataPaths &paths);

/// True if only the number of examples in the files says which of them `source` takes.
bool needsCount(const SourceInfo &source);

/// Applies skip, limit and share to files with `numExamples`, which may be kDynamicSize unless
/// needsCount. A share [from, to) of n examples is [round(from n), round(to n)), so shares that
/// meet have no example in common and leave none out. An error if nothing is left of something.
absl::StatusOr<ExampleRange> exampleRange(const SourceInfo &source, int64_t numExamples);

/// The texts of a list, or a text as the only one.
std::vector<std::string> textsOf(const OptionValue &value);

/// True for whole numbers that are at least 1, as text.
bool isPositiveNumber(const OptionValue &value);

} // namespace pdg
