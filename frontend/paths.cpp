// Where files that belong to the compiler are found at run time.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/paths.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace pdg {

std::string findSharedFolder(const char *variable, const std::string &shared,
                             const std::string &inSources) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (const char *folder = std::getenv(variable); folder && *folder)
    return folder;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    fs::path folder = program.parent_path().parent_path() / "share" / "pdg" / shared;
    if (fs::is_directory(folder, error))
      return folder.string();
  }
  fs::path folder = fs::path(PDG_SOURCE_DIR) / inSources;
  return fs::is_directory(folder, error) ? folder.string() : "";
}

} // namespace pdg
