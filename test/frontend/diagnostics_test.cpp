// How messages are collected and shown, and that every code has a page whose examples are true.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/diagnostics.h"

#include "test/frontend/harness.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace pdg::test {
namespace {

TEST(Diagnostics, Text) {
  SourceManager sources;
  FileId file = sources.add("a.pdg", "let x = 1\n\tlet 名前 = é + yy\r\n");
  DiagnosticEngine engine(sources);
  engine.report(DiagCode::PD0040, {file, 29, 31}, "unknown name 'yy'")
      .withLabel("not declared")
      .withSecondary({file, 4, 5}, "a name is declared here")
      .withNote("names are case-sensitive")
      .withHint("did you mean 'x'?");
  EXPECT_EQ(engine.renderText(), R"(error[PD0040]: unknown name 'yy'
 --> a.pdg:2:15
  |
2 |     let 名前 = é + yy
  |                    ^^ not declared
note: a name is declared here
 --> a.pdg:1:5
  |
1 | let x = 1
  |     -
note: names are case-sensitive
hint: did you mean 'x'?

)");
}

TEST(Diagnostics, LongLinesAreCut) {
  SourceManager sources;
  FileId file = sources.add("a.pdg", std::string(100000, 'a') + "?" + std::string(100000, 'b'));
  DiagnosticEngine engine(sources);
  engine.report(DiagCode::PD0004, {file, 100000, 100001}, "stray");
  std::string text = engine.renderText();
  EXPECT_LT(text.size(), 700u);
  size_t source = text.find("1 | ..."), mark = text.find('^');
  ASSERT_NE(source, std::string::npos);
  size_t sourceLine = text.rfind('\n', source) + 1, markLine = text.rfind('\n', mark) + 1;
  EXPECT_EQ(text[sourceLine + (mark - markLine)], '?');
}

TEST(Diagnostics, Colours) {
  SourceManager sources;
  DiagnosticEngine engine(sources);
  engine.report(DiagCode::PD0001, {}, "gone");
  EXPECT_EQ(engine.renderText({.useColor = true}),
            "\033[1;31merror[PD0001]\033[0m\033[1m: gone\033[0m\n\n");
  EXPECT_FALSE(RenderOptions::forTerminal(-1).useColor);
}

TEST(Diagnostics, SortedAndOnce) {
  SourceManager sources;
  FileId file = sources.add("a.pdg", "abcdef");
  DiagnosticEngine engine(sources);
  engine.report(DiagCode::PD0041, {file, 3, 4}, "second");
  engine.report(DiagCode::PD0042, {file, 1, 2}, "first");
  engine.report(DiagCode::PD0041, {file, 3, 4}, "second");
  auto all = engine.sorted();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].message, "first");
  EXPECT_EQ(engine.errorCount(), 3u);
  engine.clear();
  EXPECT_FALSE(engine.hasErrors());
  EXPECT_TRUE(engine.empty());
}

TEST(Diagnostics, WarningsShowWithoutErrors) {
  SourceManager sources;
  FileId file = sources.add("a.pdg", "abcdef");
  DiagnosticEngine engine(sources);
  engine.report(DiagCode::PD0090, {file, 1, 2}, "unused");
  ASSERT_EQ(engine.sorted().size(), 1u);
  EXPECT_EQ(engine.sorted()[0].severity, Severity::Warning);
  size_t before = engine.count();
  engine.report(DiagCode::PD0041, {file, 3, 4}, "twice");
  ASSERT_EQ(engine.sorted().size(), 1u);
  EXPECT_EQ(engine.sorted()[0].message, "twice");
  EXPECT_EQ(engine.takeFrom(before).size(), 1u);
  EXPECT_FALSE(engine.hasErrors());
  EXPECT_EQ(engine.sorted()[0].message, "unused");
}

TEST(Diagnostics, Json) {
  SourceManager sources;
  FileId file = sources.add("a.pdg", "ab\ncd");
  DiagnosticEngine engine(sources);
  engine.report(DiagCode::PD0041, {file, 3, 5}, "twice \xFF \"q\"")
      .withSecondary({file, 0, 2}, "first")
      .withHint("h");
  std::string line = engine.renderJson();
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["code"], "PD0041");
  EXPECT_EQ(json["severity"], "error");
  EXPECT_EQ(json["file"], "a.pdg");
  EXPECT_EQ(json["line"], 2);
  EXPECT_EQ(json["endColumn"], 3);
  EXPECT_EQ(json["secondary"][0]["text"], "first");
  EXPECT_EQ(json["secondary"][0]["line"], 1);
  EXPECT_EQ(json["hint"], "h");
}

/// The fenced examples of a section of a page; empty if the section shows something else than pdg.
std::string example(const std::string &page, const std::string &section) {
  size_t begin = page.find("## " + section + "\n\n```pdg\n");
  if (begin == std::string::npos)
    return "";
  begin = page.find("```pdg\n", begin) + 7;
  return page.substr(begin, page.find("```", begin) - begin);
}

TEST(Diagnostics, EveryCodeHasAPageWithTrueExamples) {
  setenv("PDG_ERRORS", PDG_SOURCE_DIR "/docs/errors", 1);
  for (DiagCode code : {
#define PDG_DIAGNOSTIC(code, severity, title) DiagCode::code,
#include "frontend/diagnostics.def"
#undef PDG_DIAGNOSTIC
       }) {
    std::optional<std::string> page = findErrorPage(codeName(code));
    ASSERT_TRUE(page) << codeName(code);
    EXPECT_EQ(page->rfind(std::string("# ") + codeName(code) + ": ", 0), 0u) << codeName(code);
    // Codes from PD0100 on come from elaboration and are tried by its tests.
    if (std::string(codeName(code)) >= "PD0100")
      continue;
    if (std::string wrong = example(*page, "Wrong"); !wrong.empty()) {
      std::string found = load(wrong, true)->codes();
      EXPECT_NE(found.find(codeName(code)), std::string::npos) << codeName(code) << ": " << found;
    }
    if (std::string right = example(*page, "Right"); !right.empty()) {
      EXPECT_EQ(load(right, true)->codes().find(codeName(code)), std::string::npos) << right;
      EXPECT_FALSE(load(right)->diagnostics.hasErrors())
          << right << load(right)->diagnostics.renderText();
    }
  }
  EXPECT_FALSE(findErrorPage("PD9999"));
  EXPECT_FALSE(findErrorPage("../README"));
  EXPECT_TRUE(findErrorPage("pd0040"));
}

} // namespace
} // namespace pdg::test
