// What the compiler has to say about a program: collected while it works, then sorted and shown as
// text with the source line underlined, or as JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "absl/container/flat_hash_set.h"
#include "frontend/source.h"
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pdg {

enum class Severity { Error, Warning };

/// The code of a message, as users see it: `DiagCode::PD0040` is "PD0040".
enum class DiagCode {
#define PDG_DIAGNOSTIC(code, severity, title) code,
#include "frontend/diagnostics.def"
#undef PDG_DIAGNOSTIC
};

const char *codeName(DiagCode code);
const char *codeTitle(DiagCode code);
Severity codeSeverity(DiagCode code);

/// The code with this name, in any case of letters; nothing if there is none.
std::optional<DiagCode> findCode(std::string_view name);

/// Another place that explains a message: "first defined here".
struct SecondarySpan {
  Span span;
  std::string text;
};

/// One message. `message` says in a lower-case phrase what is wrong, with what was expected and
/// found; `label` stands under the underlined text; the hint says what to do.
struct Diagnostic {
  DiagCode code;
  Severity severity = Severity::Error;
  Span span;
  std::string message;
  std::string label;
  std::vector<SecondarySpan> secondary;
  std::vector<std::string> notes;
  std::string hint;

  Diagnostic &withLabel(std::string text);
  Diagnostic &withSecondary(Span place, std::string text);
  Diagnostic &withNote(std::string text);
  Diagnostic &withHint(std::string text);
};

/// How messages are shown.
struct RenderOptions {
  bool useColor = false;

  /// Colours if `fileDescriptor` is a terminal and NO_COLOR is not set.
  static RenderOptions forTerminal(int fileDescriptor);
};

/// Collects messages. Not thread-safe.
class DiagnosticEngine {
public:
  explicit DiagnosticEngine(const SourceManager &sources) : sources_(&sources) {}

  /// Adds a message with the severity of its code. The reference is valid until the next report.
  Diagnostic &report(DiagCode code, Span span, std::string message);

  bool hasErrors() const { return errorCount_ != 0; }
  size_t errorCount() const { return errorCount_; }

  /// True if a message starts at the place where `span` does.
  bool hasMessageAt(Span span) const { return starts_.contains({span.file, span.begin}); }

  bool empty() const { return diagnostics_.empty(); }

  /// All messages by place; messages with the same code at the same place are given once.
  std::vector<Diagnostic> sorted() const;

  /// The first `maxShown` messages as text, with a closing line that counts the others.
  std::string renderText(const RenderOptions &options = {}) const;

  /// The messages as JSON objects, one on each line.
  std::string renderJson() const;

  size_t count() const { return diagnostics_.size(); }

  /// Takes back the messages from number `first` on, in the order in which they came.
  std::vector<Diagnostic> takeFrom(size_t first);

  /// Forgets all messages (an entry of the REPL is done).
  void clear();

  static constexpr size_t MaxShown = 50;

private:
  const SourceManager *sources_;
  std::vector<Diagnostic> diagnostics_;
  absl::flat_hash_set<std::pair<FileId, uint32_t>> starts_;
  size_t errorCount_ = 0;
};

/// One message as text: header, underlined source, second places, notes, hint.
std::string renderDiagnostic(const Diagnostic &diagnostic, const SourceManager &sources,
                             const RenderOptions &options);

/// The place of `span` and its source line with the span underlined, as they stand in a message.
/// Requires: `span` is valid.
std::string renderSnippet(Span span, const SourceManager &sources, const RenderOptions &options);

/// One message as one line of JSON.
std::string renderDiagnosticJson(const Diagnostic &diagnostic, const SourceManager &sources);

/// The page of `code` (docs/errors), looked up in $PDG_ERRORS, beside the program
/// (../share/pdg/errors) and in the folder of the sources; nothing if it is not found.
std::optional<std::string> findErrorPage(std::string_view code);

} // namespace pdg
