// `pdc fmt`: files in, files out. The layout itself is in frontend/format*.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/format.h"
#include "runtime/checkpoint/file.h"
#include "tools/driver.h"
#include "tools/driver_report.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>

namespace fs = std::filesystem;

namespace pdg {

/// Adds the scripts that `name` means: itself, or all in and below a folder, in order.
static absl::Status addFiles(const std::string &name, std::vector<std::string> &files) {
  std::error_code failed;
  if (!fs::is_directory(name, failed)) {
    files.push_back(name);
    return absl::OkStatus();
  }
  size_t begin = files.size();
  auto folder =
      fs::recursive_directory_iterator(name, fs::directory_options::skip_permission_denied, failed);
  for (; !failed && folder != fs::recursive_directory_iterator(); folder.increment(failed)) {
    // Hidden folders hold what belongs to other tools.
    if (folder->path().filename().string().starts_with("."))
      folder.disable_recursion_pending();
    else if (folder->is_regular_file(failed) && folder->path().extension() == ".pdg")
      files.push_back(folder->path().string());
  }
  std::sort(files.begin() + static_cast<std::ptrdiff_t>(begin), files.end());
  return failed ? absl::ErrnoToStatus(failed.value(), absl::StrCat(name, ": cannot be listed"))
                : absl::OkStatus();
}

/// Replaces a file, or what a link leads to, by a new text. Its permissions stay.
static absl::Status replaceFile(const std::string &name, const std::string &text) {
  std::error_code failed;
  fs::path path = fs::canonical(name, failed);
  if (failed)
    return absl::ErrnoToStatus(failed.value(), absl::StrCat(name, ": cannot be written"));
  fs::perms permissions = fs::status(path, failed).permissions();
  absl::StatusOr<AtomicFile> file = AtomicFile::create(path.string());
  if (!file.ok())
    return file.status();
  if (absl::Status status = file->append(text); !status.ok())
    return status;
  if (absl::Status status = file->commit(); !status.ok())
    return status;
  fs::permissions(path, permissions, failed);
  return absl::OkStatus();
}

namespace {

/// Lays out one file after the other and keeps the worst exit code.
class Formatter {
public:
  explicit Formatter(bool isCheck) : isCheck_(isCheck) {}

  void run(const std::string &name) {
    bool isFilter = name == "-";
    SourceManager sources;
    absl::StatusOr<FileId> file =
        isFilter ? absl::StatusOr<FileId>(sources.add("<stdin>", readStandardInput()))
                 : sources.load(name);
    if (!file.ok())
      return fail(
          absl::Status(file.status().code(), absl::StrCat(name, ": ", file.status().message())));
    DiagnosticEngine diagnostics(sources);
    absl::StatusOr<std::string> text = formatFile(sources, *file, diagnostics);
    if (diagnostics.hasErrors())
      return keep(reportDiagnostics(diagnostics, ReportFormat::Text));
    if (!text.ok())
      return fail(text.status());
    bool isSame = *text == sources.file(*file).text();
    if (isCheck_) {
      if (!isSame) {
        std::printf("%s\n", isFilter ? "<stdin>" : name.c_str());
        keep(ExitWrongInput);
      }
    } else if (isFilter) {
      std::fwrite(text->data(), 1, text->size(), stdout);
    } else if (!isSame) {
      if (absl::Status status = replaceFile(name, *text); !status.ok())
        return fail(status);
      std::fprintf(stderr, "laid out %s\n", name.c_str());
    }
  }

  void fail(const absl::Status &status) { keep(reportStatus(status, ReportFormat::Text)); }
  int exitCode() const { return exitCode_; }

private:
  static std::string readStandardInput() {
    return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  }
  void keep(int exitCode) { exitCode_ = std::max(exitCode_, exitCode); }

  bool isCheck_;
  int exitCode_ = ExitDone;
};

} // namespace

int formatCommand(const FormatArguments &options) {
  Formatter formatter(options.isCheck);
  std::vector<std::string> files;
  for (const std::string &name : options.files)
    if (absl::Status status = addFiles(name, files); !status.ok())
      formatter.fail(status);
  if (options.files.empty())
    files.push_back("-");
  for (const std::string &file : files)
    formatter.run(file);
  return formatter.exitCode();
}

} // namespace pdg
