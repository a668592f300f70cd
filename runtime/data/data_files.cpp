// Looks data files up in the folders of a run.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/data_files.h"

#include "runtime/base/text.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <glob.h>

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

bool isPattern(std::string_view name) { return name.find_first_of("*?[") != name.npos; }

/// The regular files that match `pattern`, sorted by their bytes.
std::vector<std::string> listMatches(const std::string &pattern) {
  std::vector<std::string> files;
  glob_t found = {};
  if (glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; ++i) {
      std::error_code error;
      if (fs::is_regular_file(found.gl_pathv[i], error))
        files.emplace_back(found.gl_pathv[i]);
    }
  globfree(&found);
  std::sort(files.begin(), files.end());
  return files;
}

/// A folder in front of a pattern stands for itself, whatever characters it has.
std::string escapePattern(const std::string &folder) {
  std::string escaped;
  for (char each : folder) {
    if (each == '*' || each == '?' || each == '[' || each == '\\')
      escaped += '\\';
    escaped += each;
  }
  return escaped;
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

absl::StatusOr<std::vector<std::string>> resolveDataFiles(std::string_view name,
                                                          const DataPaths &paths) {
  absl::StatusOr<std::string> file = resolveDataFile(name, paths);
  if (file.ok())
    return std::vector<std::string>{*std::move(file)};
  if (!isPattern(name))
    return file.status();
  std::vector<std::string> tried;
  for (const fs::path &folder : listCandidates("", paths)) {
    fs::path pattern = fs::path(escapePattern(folder.string())) / fs::path(name);
    if (std::vector<std::string> found = listMatches(pattern.string()); !found.empty())
      return found;
    tried.push_back(absl::StrCat("'", (folder / fs::path(name)).string(), "'"));
    if (fs::path(name).is_absolute())
      break;
  }
  return absl::NotFoundError(absl::StrCat("no file matches the pattern '", toAbsl(name),
                                          "'; looked for ", absl::StrJoin(tried, ", ")));
}

} // namespace pdg
