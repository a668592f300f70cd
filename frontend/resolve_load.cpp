// Finds, reads and parses a script and what it imports, each file once.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/resolve.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "frontend/foreign.h"
#include "frontend/names.h"
#include "frontend/parse.h"
#include "frontend/paths.h"
#include "runtime/base/text.h"
#include <algorithm>
#include <filesystem>
#include <system_error>

namespace pdg {

namespace fs = std::filesystem;

namespace {

/// Longer chains of imports are a mistake, and loading is recursive.
constexpr size_t MaxImportDepth = 100;

class Loader {
public:
  Loader(SourceManager &sources, const LoadOptions &options, DiagnosticEngine &diagnostics)
      : sources_(sources), options_(options), diagnostics_(diagnostics),
        program_(std::make_unique<Program>()) {}

  std::unique_ptr<Program> run(FileId script) {
    if (!add(script, ""))
      return nullptr;
    // Files are resolved when all are there; the script last, so that its imports are complete.
    for (size_t i = program_->files.size(); i-- > 0;)
      resolveFile(*program_->files[i], i == 0, options_, diagnostics_);
    return std::move(program_);
  }

private:
  /// An import that is being followed.
  struct Step {
    std::string path;
    Span span;
  };

  FileAst *add(FileId file, const std::string &module);
  void follow(ImportStmt &stmt, const FileAst &importer);
  void followItem(ImportItem &item, const FileAst &importer);
  void reportCycle(ImportItem &item, const std::string &path);
  void reportUnknown(const ImportItem &item, const FileAst &importer);
  bool checkLocalName(const ImportItem &item);
  std::string locate(const ImportItem &item, const FileAst &importer) const;
  bool isBuiltinModule(const std::string &name) const;
  std::vector<std::string> knownModules() const;

  SourceManager &sources_;
  const LoadOptions &options_;
  DiagnosticEngine &diagnostics_;
  std::unique_ptr<Program> program_;
  absl::flat_hash_map<std::string, FileAst *> loaded_; // null: being loaded, or failed
  std::vector<Step> steps_;
};

std::string normalize(const std::string &path) {
  return fs::path(path).lexically_normal().string();
}

FileAst *Loader::add(FileId file, const std::string &module) {
  std::string path = normalize(sources_.file(file).path());
  loaded_[path] = nullptr;
  std::unique_ptr<FileAst> ast = parseFile(sources_, file, diagnostics_);
  if (!ast)
    return nullptr;
  FileAst *result = ast.get();
  result->module = module;
  program_->files.push_back(std::move(ast));
  steps_.push_back({path, {}});
  for (StmtPtr &stmt : result->stmts)
    if (auto *import = dynAs<ImportStmt>(stmt.get()))
      follow(*import, *result);
  steps_.pop_back();
  loaded_[path] = result;
  return result;
}

void Loader::follow(ImportStmt &stmt, const FileAst &importer) {
  for (std::unique_ptr<ImportItem> &item : stmt.items) {
    steps_.back().span = item->span;
    followItem(*item, importer);
  }
}

std::string Loader::locate(const ImportItem &item, const FileAst &importer) const {
  if (!item.isFile)
    return options_.stdlibFolder + "/" + item.path + ".pdg";
  return (fs::path(importer.path).parent_path() / item.path).string();
}

void Loader::followItem(ImportItem &item, const FileAst &importer) {
  if (!checkLocalName(item))
    return;
  std::string path = normalize(locate(item, importer));
  auto isStep = [&](const Step &step) { return step.path == path; };
  if (std::any_of(steps_.begin(), steps_.end(), isStep) || steps_.size() > MaxImportDepth)
    return reportCycle(item, path);
  if (auto known = loaded_.find(path); known != loaded_.end()) {
    item.decl.module = known->second;
    item.decl.isBroken = !known->second;
    return;
  }
  if (!sources_.exists(path)) {
    if (item.isFile || !isBuiltinModule(item.path))
      reportUnknown(item, importer);
    item.decl.isBroken = item.isFile || !isBuiltinModule(item.path);
    return;
  }
  absl::StatusOr<FileId> file = sources_.load(path);
  if (file.ok()) {
    item.decl.module = add(*file, item.isFile ? "" : item.path);
  } else {
    diagnostics_.report(DiagCode::PD0001, item.span,
                        absl::StrCat(path, " ", file.status().message()));
  }
  item.decl.isBroken = !item.decl.module;
}

bool Loader::checkLocalName(const ImportItem &item) {
  const std::string &name = item.decl.name;
  auto isLetter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
  };
  bool isWord = !name.empty() && std::all_of(name.begin(), name.end(), isLetter) &&
                !(name[0] >= '0' && name[0] <= '9');
  if (isWord)
    return true;
  diagnostics_
      .report(DiagCode::PD0046, item.span,
              absl::StrCat("expected 'as' and a name, because '", name, "' cannot be one"))
      .withHint("write import \"file.pdg\" as name");
  return false;
}

void Loader::reportCycle(ImportItem &item, const std::string &path) {
  Diagnostic &error = diagnostics_.report(
      DiagCode::PD0047, item.span,
      steps_.size() > MaxImportDepth ? "imports follow each other too far"
                                     : absl::StrCat(path, " imports itself through this import"));
  item.decl.isBroken = true;
  bool isPart = false;
  for (size_t i = 0; i + 1 < steps_.size() && error.secondary.size() < 8; ++i) {
    isPart = isPart || steps_[i].path == path;
    if (isPart)
      error.withSecondary(steps_[i].span, absl::StrCat(steps_[i].path, " imports the next file"));
  }
  error.withHint("move what both files need into a third one");
}

void Loader::reportUnknown(const ImportItem &item, const FileAst &importer) {
  if (item.isFile) {
    diagnostics_.report(DiagCode::PD0046, item.span,
                        absl::StrCat("there is no file ", normalize(locate(item, importer))));
    return;
  }
  // `import torch.nn`: the error at the point is the one to mend.
  const std::vector<std::string> &broken = importer.brokenNames;
  if (std::find(broken.begin(), broken.end(), item.path) != broken.end())
    return;
  Diagnostic &error = diagnostics_.report(
      DiagCode::PD0046, item.span, absl::StrCat("the library has no module '", item.path, "'"));
  std::vector<std::string> known = knownModules();
  std::string beside = (fs::path(importer.path).parent_path() / (item.path + ".pdg")).string();
  if (std::string nearest = findNearest(item.path, known); !nearest.empty())
    error.withHint(absl::StrCat("did you mean '", nearest, "'?"));
  else if (std::string hint = hintForForeignModule(item.path); !hint.empty())
    error.withHint(hint);
  else if (sources_.exists(beside))
    error.withHint(absl::StrCat("a file beside this one is imported as \"", item.path, ".pdg\""));
  else
    error.withHint("the library has nn, optim and io; a file is imported as \"folder/name.pdg\"");
  if (known.empty())
    error.withNote("no library was found; $PDG_STDLIB names its folder");
}

bool Loader::isBuiltinModule(const std::string &name) const {
  return std::any_of(options_.builtins.functions.begin(), options_.builtins.functions.end(),
                     [&](const std::string &each) { return absl::StartsWith(each, name + "."); });
}

std::vector<std::string> Loader::knownModules() const {
  std::vector<std::string> result;
  for (const std::string &name : options_.builtins.functions)
    if (size_t dot = name.find('.'); dot != std::string::npos)
      result.push_back(name.substr(0, dot));
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(options_.stdlibFolder, error))
    if (entry.path().extension() == ".pdg")
      result.push_back(entry.path().stem().string());
  return result;
}

} // namespace

std::string defaultStdlibFolder() { return findSharedFolder("PDG_STDLIB", "stdlib", "stdlib"); }

std::unique_ptr<Program> loadProgram(SourceManager &sources, const std::string &path,
                                     const LoadOptions &options, DiagnosticEngine &diagnostics) {
  absl::StatusOr<FileId> file = sources.load(path);
  if (!file.ok()) {
    diagnostics.report(DiagCode::PD0001, {}, absl::StrCat(path, ": ", file.status().message()));
    return nullptr;
  }
  return Loader(sources, options, diagnostics).run(*file);
}

std::unique_ptr<Program> loadProgramText(SourceManager &sources, const std::string &path,
                                         const std::string &text, const LoadOptions &options,
                                         DiagnosticEngine &diagnostics) {
  FileId file = sources.add(path, text);
  return Loader(sources, options, diagnostics).run(file);
}

} // namespace pdg
