// Collects the manual: from the files of the library and from the tables of built-in names.
// SPDX-License-Identifier: Apache-2.0
#include "tools/manual.h"

#include "frontend/builtins.h"
#include "frontend/lexemes.h"
#include "frontend/parse.h"
#include "frontend/paths.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace fs = std::filesystem;

namespace pdg {

//===- Modules -------------------------------------------------------------===//

/// A comment without its marks and the spaces around it.
static std::string commentText(std::string_view comment) {
  size_t begin = comment.find_first_not_of("# \t");
  if (begin == std::string_view::npos)
    return "";
  return std::string(comment.substr(begin, comment.find_last_not_of(" \t\r") + 1 - begin));
}

/// The `##` lines at the start of a file that an empty line ends: they are about the whole file.
static std::string moduleText(const std::vector<Lexeme> &lexemes) {
  std::string text;
  size_t at = 0;
  for (; at + 1 < lexemes.size() && lexemes[at].kind == LexemeKind::DocComment; at += 2)
    absl::StrAppend(&text, commentText(lexemes[at].text), "\n");
  bool isEnded = at < lexemes.size() && lexemes[at].kind == LexemeKind::Newline;
  return isEnded ? text : "";
}

/// Where each section begins: comments between two comments of dashes.
static std::vector<std::pair<size_t, std::string>> sectionsOf(const std::vector<Lexeme> &lexemes,
                                                              const std::string &text) {
  std::vector<std::pair<size_t, std::string>> sections;
  auto isRule = [](const Lexeme &lexeme) {
    return lexeme.kind == LexemeKind::Comment && lexeme.text.starts_with("# ---");
  };
  for (size_t i = 0; i + 4 < lexemes.size(); ++i)
    if (isRule(lexemes[i]) && lexemes[i + 2].kind == LexemeKind::Comment && isRule(lexemes[i + 4]))
      sections.emplace_back(lexemes[i].text.data() - text.data(), commentText(lexemes[i + 2].text));
  return sections;
}

/// A block or a constant with its comment; nothing for other statements.
static std::optional<ManualEntry> entryOf(const Stmt &stmt, const std::string &module,
                                          const SourceManager &sources) {
  if (stmt.doc.empty())
    return std::nullopt;
  Span header = stmt.span;
  std::string name;
  if (auto *block = dynAs<BlockStmt>(&stmt)) {
    name = block->decl.name;
    header.end = block->body.span.begin;
  } else if (auto *decl = dynAs<DeclStmt>(&stmt); decl && decl->pattern->isName()) {
    name = decl->decl().name;
  } else {
    return std::nullopt;
  }
  std::string signature(sources.text(header));
  signature.erase(signature.find_last_not_of(" \n") + 1);
  return ManualEntry{absl::StrCat(module, ".", name), signature, stmt.doc, ""};
}

ManualPage readModule(const std::string &name, const std::string &text) {
  SourceManager sources;
  FileId file = sources.add(name + ".pdg", text);
  std::string kept(sources.file(file).text());
  std::vector<Lexeme> lexemes = splitLexemes(kept);
  ManualPage page{name, absl::StrCat("Module ", name), moduleText(lexemes), {{"", {}}}};
  auto sections = sectionsOf(lexemes, kept);
  DiagnosticEngine ignored(sources);
  std::unique_ptr<FileAst> ast = parseFile(sources, file, ignored);
  auto next = sections.begin();
  if (ast)
    for (const StmtPtr &stmt : ast->stmts) {
      for (; next != sections.end() && next->first < stmt->span.begin; ++next)
        page.sections.push_back({next->second, {}});
      if (std::optional<ManualEntry> entry = entryOf(*stmt, name, sources))
        page.sections.back().entries.push_back(*std::move(entry));
    }
  std::erase_if(page.sections, [](const ManualSection &each) { return each.entries.empty(); });
  return page;
}

//===- Built-in functions --------------------------------------------------===//

static ManualEntry entryOf(const Builtin &builtin) {
  return {builtin.name, absl::StrCat(builtin.name, "(", builtin.signature, ")"), builtin.doc,
          builtin.example};
}

static ManualPage functionsPage() {
  ManualPage page{"functions",
                  "Built-in functions",
                  "Every script knows these. An argument with a question mark may be left out; "
                  "arguments may be given by name.",
                  {}};
  const std::pair<const char *, std::vector<llvm::ArrayRef<Builtin>>> groups[] = {
      {"Element by element", {elementwiseBuiltins(), mathBuiltins()}},
      {"Reductions", {reductionBuiltins(), statisticsBuiltins()}},
      {"Shapes and new tensors", {shapeBuiltins(), layoutBuiltins(), matrixBuiltins()}},
      {"Order, gathers and running sums", {orderBuiltins()}},
      {"Products and gradients", {productBuiltins()}},
      {"Windows", {windowBuiltins()}},
      {"Random numbers", {randomBuiltins()}},
  };
  std::set<std::string> shown;
  for (const auto &[title, parts] : groups) {
    page.sections.push_back({title, {}});
    for (llvm::ArrayRef<Builtin> part : parts)
      for (const Builtin &builtin : part)
        if (shown.insert(builtin.name).second)
          page.sections.back().entries.push_back(entryOf(builtin));
  }
  ManualSection others{"Others", {}};
  for (const auto &[name, builtin] : allBuiltins())
    if (!shown.contains(name))
      others.entries.push_back(entryOf(*builtin));
  if (!others.entries.empty())
    page.sections.push_back(std::move(others));
  return page;
}

//===- The whole -----------------------------------------------------------===//

absl::StatusOr<Manual> loadManual() {
  fs::path folder = findSharedFolder("PDG_STDLIB", "stdlib", "stdlib");
  std::vector<fs::path> files;
  std::error_code failed;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, failed))
    if (entry.path().extension() == ".pdg")
      files.push_back(entry.path());
  if (files.empty())
    return absl::NotFoundError(
        absl::StrCat("no library in '", folder.string(), "' (set PDG_STDLIB to its folder)"));
  std::sort(files.begin(), files.end());
  Manual manual;
  for (const fs::path &path : files) {
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file)
      return absl::NotFoundError(absl::StrCat(path.string(), ": cannot be read"));
    manual.pages.push_back(readModule(path.stem().string(), text));
  }
  manual.pages.push_back(functionsPage());
  return manual;
}

std::vector<const ManualEntry *> findEntries(const Manual &manual, const std::string &name) {
  std::vector<const ManualEntry *> exact, tails;
  for (const ManualPage &page : manual.pages)
    for (const ManualSection &section : page.sections)
      for (const ManualEntry &entry : section.entries) {
        if (entry.name == name || "ops." + entry.name == name)
          exact.push_back(&entry);
        else if (entry.name.ends_with("." + name))
          tails.push_back(&entry);
      }
  exact.insert(exact.end(), tails.begin(), tails.end());
  return exact;
}

std::string firstSentence(const std::string &text) {
  size_t end = 0;
  while (end < text.size()) {
    bool isDots = text[end] == '.' && end > 0 && text[end - 1] == '.'; // a, b, ...
    bool isStop = (text[end] == '.' && !isDots) || text[end] == ':' || text[end] == ';';
    bool isLast = end + 1 == text.size() || text[end + 1] == ' ' || text[end + 1] == '\n';
    if ((isStop && isLast) || text.compare(end, 2, "\n\n") == 0)
      break;
    ++end;
  }
  std::string line = text.substr(0, end);
  std::replace(line.begin(), line.end(), '\n', ' ');
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

} // namespace pdg
