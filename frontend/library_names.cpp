// Which modules of the library offer a name.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/library_names.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/text.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

namespace pdg {

namespace fs = std::filesystem;

std::string findInLibrary(const std::string &folder, std::string_view name) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".pdg")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end()); // the same answer on every machine
  for (const fs::path &path : files) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      constexpr std::string_view Keyword = "block ";
      size_t open = line.find('(');
      if (!line.starts_with(Keyword) || open == std::string::npos)
        continue;
      std::string found = line.substr(Keyword.size(), open - Keyword.size());
      if (absl::EqualsIgnoreCase(found, toAbsl(name)))
        return absl::StrCat(path.stem().string(), ".", found);
    }
  }
  return "";
}

} // namespace pdg
