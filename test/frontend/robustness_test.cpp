// No text crashes the front end: damaged scripts, deep nesting, long chains, huge literals.
// SPDX-License-Identifier: Apache-2.0
#include "test/frontend/harness.h"
#include <gtest/gtest.h>

#include <random>

namespace pdg::test {
namespace {

std::string repeat(const std::string &text, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i)
    result += text;
  return result;
}

/// Loads, and renders whatever comes of it. Returns true if there was an error.
bool survive(const std::string &text) {
  auto run = load(text, /*warnsUnused=*/true);
  bool hasErrors = run->diagnostics.hasErrors();
  EXPECT_TRUE(run->program || hasErrors);
  run->diagnostics.renderText();
  run->diagnostics.renderJson();
  if (run->program)
    printAst(run->program->main());
  return hasErrors;
}

/// Damages a text in one of the ways in which texts get damaged.
void mutate(std::string &text, std::mt19937 &random) {
  static const char *const Pieces[] = {
      "(",  ")",        "[",    "]",     "{",    "}",      "\n",     "\"",   "=",  ",", ":",
      "..", "if ",      "for ", "else ", "let ", "block ", "not ",   "-",    "**", "@", "#",
      "\\", "\xC3\xA9", "\xFF", "eval ", ";",    " as ",   "print(", "1.5e", "&&", "'"};
  auto pick = [&](size_t n) { return n == 0 ? 0 : random() % n; };
  size_t at = pick(text.size());
  switch (random() % 4) {
  case 0:
    text.erase(at, 1 + pick(8));
    break;
  case 1:
    text.insert(at, Pieces[pick(std::size(Pieces))]);
    break;
  case 2:
    text.insert(at, text.substr(pick(text.size()), pick(40)));
    break;
  default:
    if (!text.empty())
      text[at] = static_cast<char>(random());
  }
}

TEST(Robustness, DamagedScripts) {
  std::mt19937 random(7);
  size_t errors = 0;
  for (int round = 0; round < 250; ++round) {
    std::string text = samples()[round % samples().size()];
    for (size_t i = 0, count = 1 + random() % 6; i < count; ++i)
      mutate(text, random);
    errors += survive(text);
  }
  EXPECT_GT(errors, 150u);
}

TEST(Robustness, TextsThatStopAnywhere) {
  const std::string &text = samples()[1];
  for (size_t length = 0; length < text.size(); length += 7)
    survive(text.substr(0, length));
}

TEST(Robustness, DeepNestingIsAnError) {
  const std::string open[] = {"(",
                              "[",
                              "f(",
                              "{",
                              "x[",
                              "if a {",
                              "-",
                              "not ",
                              "if ",
                              "a ** ",
                              "a ** -",
                              "- not ",
                              "(-",
                              "block f() {",
                              "for i in x {",
                              "@f(",
                              "let (",
                              "print(\"{",
                              "+-",
                              "not - a + ",
                              "while ",
                              "if a { } else if "};
  for (const std::string &each : open) {
    EXPECT_TRUE(survive(repeat(each, 20000))) << each;
    EXPECT_TRUE(survive("let a = 1\nlet y = " + repeat(each, 3000))) << each;
  }
  auto run = parse(repeat("(", 201) + "1" + repeat(")", 201));
  EXPECT_EQ(run->codes(), "PD0009 1:201");
}

TEST(Robustness, NestingWithinTheLimitIsFine) {
  EXPECT_EQ(parse(repeat("(", 190) + "1" + repeat(")", 190))->codes(), "");
  EXPECT_EQ(parse(repeat("-", 190) + "x")->codes(), "");
  EXPECT_EQ(parse(repeat("if a {", 95) + repeat("}", 95))->codes(), "");
  EXPECT_EQ(parse("x = 0" + repeat(" - 1", 900))->codes(), "");
  EXPECT_EQ(parse("x = [" + repeat("- 1 + -1, ", 5000) + "]")->codes(), "");
  EXPECT_EQ(parse("if a { }" + repeat(" else if a { }", 5000))->codes(), "");
}

TEST(Robustness, LongChainsAreAnError) {
  EXPECT_EQ(parse("x = a" + repeat(" + a", 100000))->codes(), "PD0009 1:5");
  EXPECT_EQ(parse("x = a" + repeat(".b", 20000))->codes(), "PD0009 1:5");
  EXPECT_EQ(parse("x = a" + repeat("(1)", 20000))->codes(), "PD0009 1:5");
  EXPECT_EQ(parse("x = a" + repeat(" and not a", 20000))->codes(), "PD0009 1:5");
  // The limit holds for chains in chains too.
  std::string nested = "a";
  for (int i = 0; i < 10; ++i)
    nested = "(" + nested + repeat(" + a", 150) + ")";
  EXPECT_NE(parse("x = " + nested)->codes().find("PD0009"), std::string::npos);
}

TEST(Robustness, HugeLiterals) {
  EXPECT_EQ(parse("x = " + repeat("9", 100000))->codes(), "PD0008 1:5");
  EXPECT_EQ(parse("x = 0." + repeat("1", 100000))->codes(), "");
  EXPECT_EQ(parse("x = \"" + repeat("a", 100000) + "\"")->codes(), "");
  EXPECT_EQ(parse(repeat("a", 100000))->codes(), "");
  EXPECT_TRUE(survive(repeat("a", 100000)));
}

TEST(Robustness, ManyErrorsAreCounted) {
  auto run = load(repeat("let x = unknown_name +\n", 2000));
  std::string text = run->diagnostics.renderText();
  EXPECT_NE(text.find("... and 1950 more messages"), std::string::npos);
}

} // namespace
} // namespace pdg::test
