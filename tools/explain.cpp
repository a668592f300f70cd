// Reads and prints the pages of docs/errors.
// SPDX-License-Identifier: Apache-2.0
#include "tools/explain.h"
#include "tools/driver.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace fs = std::filesystem;

namespace pdg {

std::string errorPagesFolder() {
  if (const char *folder = std::getenv("PDG_ERRORS"); folder && *folder)
    return folder;
  std::error_code failed;
  fs::path program = fs::read_symlink("/proc/self/exe", failed);
  return (program.parent_path().parent_path() / "share/pdg/errors").string();
}

std::string canonicalCode(const std::string &text) {
  size_t start = text.size() >= 2 && std::toupper(static_cast<unsigned char>(text[0])) == 'P' &&
                         std::toupper(static_cast<unsigned char>(text[1])) == 'D'
                     ? 2
                     : 0;
  std::string digits = text.substr(start);
  auto isDigit = [](unsigned char c) { return std::isdigit(c); };
  if (digits.empty() || digits.size() > 4 || !std::all_of(digits.begin(), digits.end(), isDigit))
    return "";
  return "PD" + std::string(4 - digits.size(), '0') + digits;
}

static std::string readFile(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The codes that have a page, in order.
static std::vector<std::string> listCodes(const fs::path &folder) {
  std::vector<std::string> codes;
  std::error_code failed;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, failed)) {
    std::string code = entry.path().stem().string();
    if (entry.path().extension() == ".md" && canonicalCode(code) == code)
      codes.push_back(code);
  }
  std::sort(codes.begin(), codes.end());
  return codes;
}

/// The title of a page: its first line without the heading mark and the code.
static std::string titleOf(const fs::path &page, const std::string &code) {
  std::ifstream file(page);
  std::string line;
  std::getline(file, line);
  for (const std::string &prefix : {std::string("# "), code, std::string(":"), std::string(" ")})
    if (line.starts_with(prefix))
      line.erase(0, prefix.size());
  return line;
}

static int listAll(const fs::path &folder, const std::vector<std::string> &codes) {
  for (const std::string &code : codes)
    std::printf("%s  %s\n", code.c_str(), titleOf(folder / (code + ".md"), code).c_str());
  return ExitDone;
}

/// The existing code whose number is nearest; empty if none is near.
static std::string nearestCode(const std::string &code, const std::vector<std::string> &codes) {
  auto number = [](const std::string &c) { return std::atoi(c.c_str() + 2); };
  constexpr int MaxDistance = 99;
  std::string nearest = *std::min_element(codes.begin(), codes.end(), [&](auto &a, auto &b) {
    return std::abs(number(a) - number(code)) < std::abs(number(b) - number(code));
  });
  return std::abs(number(nearest) - number(code)) <= MaxDistance ? nearest : "";
}

int explainCommand(const std::string &folder, const std::string &text) {
  std::vector<std::string> codes = listCodes(folder);
  if (codes.empty()) {
    std::fprintf(stderr, "pdc explain: no error pages in %s (set PDG_ERRORS to their folder)\n",
                 folder.c_str());
    return ExitWorldFailed;
  }
  if (text.empty())
    return listAll(folder, codes);
  std::string code = canonicalCode(text);
  if (code.empty()) {
    std::fprintf(stderr, "pdc explain: expects an error code such as %s, got '%s'\n",
                 codes.front().c_str(), text.c_str());
    return ExitWrongUsage;
  }
  if (!std::binary_search(codes.begin(), codes.end(), code)) {
    std::string near = nearestCode(code, codes);
    std::string rest = near.empty() ? "`pdc explain` lists all"
                                    : "the nearest is " + near + " (" +
                                          titleOf(fs::path(folder) / (near + ".md"), near) + ")";
    std::fprintf(stderr, "pdc explain: there is no error %s; %s\n", code.c_str(), rest.c_str());
    return ExitWrongUsage;
  }
  std::string page = readFile(fs::path(folder) / (code + ".md"));
  std::fwrite(page.data(), 1, page.size(), stdout);
  return ExitDone;
}

} // namespace pdg
