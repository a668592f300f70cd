// Looks data files up in the folders of a run.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/data_files.h"

#include "runtime/base/text.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace pdg {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> listCandidates(std::string_view name, const DataPaths &paths) {
  fs::path file{name};
  if (file.is_absolute())
    return {file};
  std::vector<fs::path> candidates = {fs::path(paths.scriptDir) / file};
  if (!paths.dataDir.empty())
    candidates.push_back(fs::path(paths.dataDir) / file);
  if (const char *folder = std::getenv("PDG_DATA"); folder && *folder)
    candidates.push_back(fs::path(folder) / file);
  candidates.push_back(fs::path(kSystemDataDir) / file);
  return candidates;
}

/// Says what stands at `path`, for a list of the places that were tried.
std::string describeCandidate(const fs::path &path, const fs::file_status &status) {
  std::string text = absl::StrCat("'", path.string(), "'");
  if (fs::is_directory(status))
    return text + " (a folder)";
  if (fs::exists(status))
    return text + " (not a regular file)";
  if (status.type() != fs::file_type::not_found)
    return text + " (not accessible)";
  return text;
}

} // namespace

absl::StatusOr<std::string> resolveDataFile(std::string_view name, const DataPaths &paths) {
  if (name.empty())
    return absl::InvalidArgumentError("the name of a data file is empty");
  std::vector<std::string> tried;
  for (const fs::path &candidate : listCandidates(name, paths)) {
    std::error_code error;
    fs::file_status status = fs::status(candidate, error);
    if (fs::is_regular_file(status))
      return candidate.string();
    tried.push_back(describeCandidate(candidate, status));
  }
  bool isAbsolute = fs::path(name).is_absolute();
  return absl::NotFoundError(absl::StrCat(
      "cannot find data file '", toAbsl(name), "'; looked for ", absl::StrJoin(tried, ", "),
      isAbsolute ? "" : "; give its folder with --data-dir or in $PDG_DATA"));
}

} // namespace pdg
