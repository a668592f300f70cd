// Codes, and the collection of messages. How one message looks is in diagnostics_render.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/diagnostics.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "frontend/paths.h"
#include "runtime/base/text.h"
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <tuple>
#include <unistd.h>

namespace pdg {

namespace {
struct CodeInfo {
  const char *name;
  Severity severity;
  const char *title;
};
constexpr CodeInfo Codes[] = {
#define PDG_DIAGNOSTIC(code, severity, title) {#code, Severity::severity, title},
#include "frontend/diagnostics.def"
#undef PDG_DIAGNOSTIC
};
} // namespace

static const CodeInfo &info(DiagCode code) { return Codes[static_cast<size_t>(code)]; }

const char *codeName(DiagCode code) { return info(code).name; }
const char *codeTitle(DiagCode code) { return info(code).title; }
Severity codeSeverity(DiagCode code) { return info(code).severity; }

std::optional<DiagCode> findCode(std::string_view name) {
  for (size_t i = 0; i < std::size(Codes); ++i)
    if (absl::EqualsIgnoreCase(toAbsl(name), Codes[i].name))
      return static_cast<DiagCode>(i);
  return std::nullopt;
}

Diagnostic &Diagnostic::withLabel(std::string text) {
  label = std::move(text);
  return *this;
}

Diagnostic &Diagnostic::withSecondary(Span place, std::string text) {
  secondary.push_back({place, std::move(text)});
  return *this;
}

Diagnostic &Diagnostic::withNote(std::string text) {
  notes.push_back(std::move(text));
  return *this;
}

Diagnostic &Diagnostic::withHint(std::string text) {
  hint = std::move(text);
  return *this;
}

RenderOptions RenderOptions::forTerminal(int fileDescriptor) {
  const char *noColor = std::getenv("NO_COLOR");
  return {.useColor = isatty(fileDescriptor) != 0 && (!noColor || !*noColor)};
}

Diagnostic &DiagnosticEngine::report(DiagCode code, Span span, std::string message) {
  Diagnostic diagnostic{.code = code,
                        .severity = codeSeverity(code),
                        .span = span,
                        .message = std::move(message),
                        .label = {},
                        .secondary = {},
                        .notes = {},
                        .hint = {}};
  errorCount_ += diagnostic.severity == Severity::Error;
  if (span.isValid())
    starts_.insert({span.file, span.begin});
  diagnostics_.push_back(std::move(diagnostic));
  return diagnostics_.back();
}

std::vector<Diagnostic> DiagnosticEngine::takeFrom(size_t first) {
  std::vector<Diagnostic> taken(std::make_move_iterator(diagnostics_.begin() + first),
                                std::make_move_iterator(diagnostics_.end()));
  diagnostics_.resize(first);
  for (const Diagnostic &each : taken)
    errorCount_ -= each.severity == Severity::Error;
  return taken;
}

void DiagnosticEngine::clear() {
  diagnostics_.clear();
  starts_.clear();
  errorCount_ = 0;
}

std::vector<Diagnostic> DiagnosticEngine::sorted() const {
  std::vector<Diagnostic> result = diagnostics_;
  // What a warning is about may be the consequence of an error.
  if (hasErrors())
    std::erase_if(result, [](const auto &each) { return each.severity == Severity::Warning; });
  auto place = [](const Diagnostic &d) {
    return std::tuple(d.span.file, d.span.begin, d.span.end, d.code, d.message);
  };
  std::sort(result.begin(), result.end(),
            [&](const auto &a, const auto &b) { return place(a) < place(b); });
  auto isSame = [&](const auto &a, const auto &b) {
    return a.code == b.code && a.span == b.span && (a.span.isValid() || a.message == b.message);
  };
  result.erase(std::unique(result.begin(), result.end(), isSame), result.end());
  return result;
}

std::string DiagnosticEngine::renderText(const RenderOptions &options) const {
  std::vector<Diagnostic> all = sorted();
  std::string out;
  for (size_t i = 0; i < std::min(all.size(), MaxShown); ++i)
    absl::StrAppend(&out, renderDiagnostic(all[i], *sources_, options), "\n");
  if (all.size() > MaxShown)
    absl::StrAppend(&out, "... and ", all.size() - MaxShown, " more messages\n");
  return out;
}

std::string DiagnosticEngine::renderJson() const {
  std::string out;
  for (const Diagnostic &diagnostic : sorted())
    absl::StrAppend(&out, renderDiagnosticJson(diagnostic, *sources_), "\n");
  return out;
}

std::optional<std::string> findErrorPage(std::string_view code) {
  std::optional<DiagCode> known = findCode(code);
  if (!known)
    return std::nullopt;
  std::string folder = findSharedFolder("PDG_ERRORS", "errors", "docs/errors");
  std::ifstream file(absl::StrCat(folder, "/", codeName(*known), ".md"), std::ios::binary);
  if (!file)
    return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

} // namespace pdg
