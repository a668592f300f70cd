// Where data files are: the search order for the names that a script writes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

namespace pdg {

/// The system's folder of data sets; Debian's dataset-* packages install there.
inline constexpr std::string_view kSystemDataDir = "/usr/share/datasets";

/// The folders of one run in which data files are looked up.
struct DataPaths {
  std::string scriptDir; ///< The folder of the script; empty: the current one.
  std::string dataDir;   ///< `--data-dir`; empty: not given.
};

/// Finds the file `name` of a script: an absolute name is itself; a relative one is looked up
/// beside the script, then in `--data-dir`, in $PDG_DATA and in kSystemDataDir. The first regular
/// file wins. The error lists every place that was tried.
absl::StatusOr<std::string> resolveDataFile(std::string_view name, const DataPaths &paths);

/// Finds the files that a name or a pattern (*, ?, [...] as in a shell) stands for, sorted by their
/// bytes. A pattern is looked up in the same folders; the first in which a regular file matches
/// wins. At least one file; a name that is a file counts as a name, whatever it is made of.
absl::StatusOr<std::vector<std::string>> resolveDataFiles(std::string_view name,
                                                          const DataPaths &paths);

} // namespace pdg
