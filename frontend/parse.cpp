// Drives the generated parser: checks the text, makes tokens, parses fast and, if that fails,
// again with error recovery.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/parse.h"

#include "absl/strings/str_cat.h"
#include "frontend/parse_internal.h"

namespace pdg {

TextMap::TextMap(FileId file, std::string_view text, uint32_t base)
    : file_(file), base_(base), size_(text.size()) {
  bool isAscii = std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
  if (isAscii)
    return;
  for (size_t offset = 0; offset < text.size(); decodeUtf8(text, offset))
    offsets_.push_back(static_cast<uint32_t>(offset));
}

uint32_t TextMap::byte(size_t codePoint) const {
  size_t offset = codePoint;
  if (!offsets_.empty())
    offset = codePoint < offsets_.size() ? offsets_[codePoint] : size_;
  return base_ + static_cast<uint32_t>(std::min(offset, size_));
}

Span TextMap::span(const antlr4::Token &token) const {
  // The stop index is inclusive; it may be one before the start, also before zero.
  size_t begin = token.getStartIndex();
  return span(begin, std::max(begin, token.getStopIndex() + 1));
}

Span TextMap::span(const antlr4::ParserRuleContext &context) const {
  Span begin = span(*context.start);
  return context.stop ? cover(begin, span(*context.stop)) : begin;
}

namespace {

/// One run of lexer and parser over a piece of a file.
class ParseRun {
public:
  ParseRun(const SourceManager &sources, Span piece, DiagnosticEngine &diagnostics)
      : text_(sources.text(piece)), map_(piece.file, text_, piece.begin), diagnostics_(diagnostics),
        input_(text_), lexer_(&input_) {
    lexer_.removeErrorListeners();
    prepared_ = prepareTokens(lexer_.getAllTokens(), map_, diagnostics);
    source_ = std::make_unique<antlr4::ListTokenSource>(std::move(prepared_.tokens));
    stream_ = std::make_unique<antlr4::CommonTokenStream>(source_.get());
    parser_ = std::make_unique<PdgParser>(stream_.get());
    parser_->removeErrorListeners();
  }

  const TextMap &map() const { return map_; }
  const PreparedTokens &prepared() const { return prepared_; }
  bool hasErrors() const { return hasErrors_; }

  /// Parses with the rule `start`. The first attempt looks at less context, which is enough for
  /// nearly all texts, and stops at the first error; the second one is exact and recovers.
  template <typename Context>
  Context *parse(Context *(PdgParser::*start)(), std::vector<std::string> &brokenNames) {
    auto *simulator = parser_->getInterpreter<antlr4::atn::ParserATNSimulator>();
    try {
      simulator->setPredictionMode(antlr4::atn::PredictionMode::SLL);
      parser_->setErrorHandler(std::make_shared<antlr4::BailErrorStrategy>());
      return (parser_.get()->*start)();
    } catch (const antlr4::ParseCancellationException &) {
    }
    hasErrors_ = true;
    stream_->seek(0);
    parser_->reset();
    simulator->setPredictionMode(antlr4::atn::PredictionMode::LL);
    parser_->setErrorHandler(
        std::make_shared<ErrorStrategy>(map_, prepared_, diagnostics_, brokenNames));
    return (parser_.get()->*start)();
  }

private:
  std::string text_;
  TextMap map_;
  DiagnosticEngine &diagnostics_;
  antlr4::ANTLRInputStream input_;
  PdgLexer lexer_;
  PreparedTokens prepared_;
  std::unique_ptr<antlr4::ListTokenSource> source_;
  std::unique_ptr<antlr4::CommonTokenStream> stream_;
  std::unique_ptr<PdgParser> parser_;
  bool hasErrors_ = false;
};

/// Reports a text that is no text. Returns true if it is one.
bool checkText(const SourceFile &file, FileId id, DiagnosticEngine &diagnostics) {
  std::string_view text = file.text();
  if (size_t zero = text.find('\0'); zero != std::string_view::npos) {
    diagnostics.report(DiagCode::PD0002, {}, absl::StrCat(file.path(), " is not a text file"))
        .withNote(absl::StrCat("byte ", zero, " is zero, which no text contains"));
    return false;
  }
  if (std::optional<size_t> bad = findMalformedUtf8(text)) {
    auto at = static_cast<uint32_t>(*bad);
    std::string hex =
        absl::StrCat(absl::Hex(static_cast<unsigned char>(text[at]), absl::kZeroPad2));
    diagnostics
        .report(DiagCode::PD0003, {id, at, at + 1},
                absl::StrCat("expected UTF-8, found the byte 0x", hex))
        .withLabel("not UTF-8")
        .withHint("save the file with the encoding UTF-8");
    return false;
  }
  return true;
}

} // namespace

std::unique_ptr<FileAst> parseFile(const SourceManager &sources, FileId file,
                                   DiagnosticEngine &diagnostics) {
  const SourceFile &source = sources.file(file);
  if (!checkText(source, file, diagnostics))
    return nullptr;
  uint32_t begin = source.text().substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;
  ParseRun run(sources, {file, begin, static_cast<uint32_t>(source.text().size())}, diagnostics);
  if (run.prepared().isTooDeep)
    return nullptr;
  auto ast = std::make_unique<FileAst>();
  ast->file = file;
  ast->path = source.path();
  PdgParser::FileContext *tree = run.parse(&PdgParser::file, ast->brokenNames);
  Builder builder(sources, run.map(), run.prepared(), diagnostics, ast->brokenNames,
                  run.hasErrors());
  ast->stmts = builder.statements(tree->statements());
  return ast;
}

ExprPtr parseInterpolation(const SourceManager &sources, Span span, DiagnosticEngine &diagnostics,
                           std::vector<std::string> &brokenNames) {
  ParseRun run(sources, span, diagnostics);
  if (run.prepared().isTooDeep)
    return nullptr;
  PdgParser::InterpolationContext *tree = run.parse(&PdgParser::interpolation, brokenNames);
  if (run.hasErrors())
    return nullptr;
  Builder builder(sources, run.map(), run.prepared(), diagnostics, brokenNames, false);
  return builder.expr(tree->expr());
}

bool isIncompleteEntry(std::string_view text) {
  SourceManager sources;
  DiagnosticEngine ignored(sources);
  std::string copy(text);
  if (findMalformedUtf8(copy))
    return false;
  antlr4::ANTLRInputStream input(copy);
  PdgLexer lexer(&input);
  lexer.removeErrorListeners();
  TextMap map(0, copy, 0);
  return prepareTokens(lexer.getAllTokens(), map, ignored).isIncomplete;
}

std::vector<std::string> grammarWords() {
  antlr4::ANTLRInputStream nothing("");
  PdgLexer lexer(&nothing);
  const auto &vocabulary = lexer.getVocabulary();
  std::vector<std::string> words;
  for (size_t type = 0; type <= vocabulary.getMaxTokenType(); ++type) {
    std::string name = vocabulary.getLiteralName(type); // 'import', with its quotes
    if (name.size() > 2 && name[1] >= 'a' && name[1] <= 'z')
      words.push_back(name.substr(1, name.size() - 2));
  }
  return words;
}

} // namespace pdg
