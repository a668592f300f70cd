// The table of readers.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/reader.h"

#include "runtime/base/text.h"
#include "runtime/data/csv_reader.h"
#include "runtime/data/idx_reader.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

namespace pdg {

namespace {

constexpr Reader kReaders[] = {
    {"csv", probeCsv, loadCsv},
    {"idx", probeIdx, loadIdx},
};

} // namespace

absl::StatusOr<const Reader *> findReader(const SourceInfo &source) {
  std::string known;
  for (const Reader &reader : kReaders) {
    if (reader.name == source.reader)
      return &reader;
    absl::StrAppend(&known, known.empty() ? "" : ", ", toAbsl(reader.name));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown data reader '", source.reader, "'; the readers are ", known));
}

absl::StatusOr<std::vector<std::string>> resolveSourceFiles(const SourceInfo &source,
                                                            const DataPaths &paths) {
  std::vector<std::string> found;
  for (const std::string &name : source.files) {
    absl::StatusOr<std::string> path = resolveDataFile(name, paths);
    if (!path.ok())
      return path.status();
    found.push_back(*std::move(path));
  }
  return found;
}

absl::StatusOr<SourceHeader> probeSource(const SourceInfo &source, const DataPaths &paths) {
  absl::StatusOr<const Reader *> reader = findReader(source);
  if (!reader.ok())
    return reader.status();
  absl::StatusOr<std::vector<std::string>> files = resolveSourceFiles(source, paths);
  if (!files.ok())
    return files.status();
  return (*reader)->probe({source, *files});
}

} // namespace pdg
