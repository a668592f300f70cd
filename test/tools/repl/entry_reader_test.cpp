// Tests where an entry of a session ends.
// SPDX-License-Identifier: Apache-2.0
#include "tools/repl/entry_reader.h"

#include <gtest/gtest.h>

#include <deque>

namespace pdg {
namespace {

/// Lines that are there already; "^C" is an interrupt.
class Lines final : public LineReader {
public:
  Lines(std::deque<std::string> lines, bool isInteractive)
      : lines_(std::move(lines)), isInteractive_(isInteractive) {}

  Result read(const std::string &prompt, std::string &line) override {
    if (takePutBack(line))
      return Result::Line;
    prompts += prompt;
    if (lines_.empty())
      return Result::End;
    line = lines_.front();
    lines_.pop_front();
    return line == "^C" ? Result::Interrupted : Result::Line;
  }
  bool hasMore() override { return isPasted; }
  bool isInteractive() const override { return isInteractive_; }

  std::string prompts;
  bool isPasted = false;

private:
  std::deque<std::string> lines_;
  bool isInteractive_;
};

/// All entries, each in angle brackets.
std::string entriesOf(std::deque<std::string> lines, bool isInteractive, bool isPasted = false) {
  Lines reader(std::move(lines), isInteractive);
  reader.isPasted = isPasted;
  std::string all, entry;
  for (;;) {
    LineReader::Result result = readEntry(reader, "> ", ". ", entry);
    if (result == LineReader::Result::End)
      return all;
    all += result == LineReader::Result::Interrupted ? "^C" : "<" + entry + ">";
  }
}

TEST(EntryReader, GoesOnWhileBracketsAreOpen) {
  EXPECT_EQ(entriesOf({"let x = 1", "f(a,", "b)", "y"}, true), "<let x = 1\n><f(a,\nb)\n><y\n>");
  EXPECT_EQ(entriesOf({"block f() {", "  g([", "])", "}", "y"}, true),
            "<block f() {\n  g([\n])\n}\n><y\n>");
  EXPECT_EQ(entriesOf({"print(\"(\") # {", "y"}, true), "<print(\"(\") # {\n><y\n>");
  EXPECT_EQ(entriesOf({"print(\"\\\"(\")", "y"}, true), "<print(\"\\\"(\")\n><y\n>");
  EXPECT_EQ(entriesOf({"f)", "y"}, true), "<f)\n><y\n>");
}

TEST(EntryReader, ASignAtTheEndOfALineDoesNotContinueIt) {
  EXPECT_EQ(entriesOf({"let x = 1 +", "2"}, true), "<let x = 1 +\n><2\n>");
}

TEST(EntryReader, ADocCommentBelongsToWhatFollows) {
  EXPECT_EQ(entriesOf({"## Doubles.", "block f(x) { return 2 * x }"}, true),
            "<## Doubles.\nblock f(x) { return 2 * x }\n>");
}

TEST(EntryReader, AnEmptyLineEndsWhatIsTypedAndNotWhatIsPasted) {
  std::deque<std::string> lines{"block f() {", "", "return 1", "}"};
  EXPECT_EQ(entriesOf(lines, true), "<block f() {\n\n><return 1\n><}\n>");
  EXPECT_EQ(entriesOf(lines, true, /*isPasted=*/true), "<block f() {\n\nreturn 1\n}\n>");
}

TEST(EntryReader, ElseContinuesTheIfInAPipe) {
  std::deque<std::string> lines{"if a { b }", "else { c }", "if a { b }", "elsewhere", "}"};
  EXPECT_EQ(entriesOf(lines, false), "<if a { b }\nelse { c }\n><if a { b }\n><elsewhere\n><}\n>");
  EXPECT_EQ(entriesOf({"if a { b }", "else { c }"}, true), "<if a { b }\n><else { c }\n>");
}

TEST(EntryReader, CommandsAreOneLine) {
  EXPECT_EQ(entriesOf({"  :load a(b ", "", "x"}, true), "<:load a(b><><x\n>");
}

TEST(EntryReader, InterruptsForgetAndTheEndKeeps) {
  EXPECT_EQ(entriesOf({"f(", "^C", "x", "f("}, true), "^C<x\n><f(\n>");
}

TEST(EntryReader, PromptsSayWhatIsAsked) {
  Lines reader({"f(", "1)"}, true);
  std::string entry;
  readEntry(reader, "1> ", ".> ", entry);
  EXPECT_EQ(reader.prompts, "1> .> ");
}

} // namespace
} // namespace pdg
