// Places in texts, UTF-8, and names that are nearly the same.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/source.h"

#include "frontend/names.h"
#include <gtest/gtest.h>

namespace pdg {
namespace {

TEST(Source, LinesAndColumns) {
  SourceFile file("a", "ab\n\xC3\xA9x\r\n\nz");
  EXPECT_EQ(file.lineCount(), 4u);
  EXPECT_EQ(file.lineColumn(0), (LineColumn{1, 1}));
  EXPECT_EQ(file.lineColumn(2), (LineColumn{1, 3}));
  EXPECT_EQ(file.lineColumn(5), (LineColumn{2, 2})) << "a letter of two bytes is one column";
  EXPECT_EQ(file.lineColumn(9), (LineColumn{4, 1}));
  EXPECT_EQ(file.lineColumn(999), (LineColumn{4, 2}));
  EXPECT_EQ(file.lineText(2), "\xC3\xA9x");
  EXPECT_EQ(file.lineText(3), "");
  EXPECT_EQ(file.lineText(4), "z");
}

TEST(Source, FindsColumnsInLongLinesAtOnce) {
  constexpr uint32_t Letters = 200'000;
  std::string line;
  for (uint32_t i = 0; i < Letters; ++i)
    line += "\xC3\xA9";
  SourceFile file("a", "x\n" + line + "\n" + line);
  for (uint32_t i = 0; i < Letters; ++i) {
    ASSERT_EQ(file.lineColumn(2 + 2 * i), (LineColumn{2, i + 1}));
    ASSERT_EQ(file.lineColumn(3 + 2 * (Letters + i)), (LineColumn{3, i + 1}));
  }
}

TEST(Source, Utf8) {
  EXPECT_FALSE(findMalformedUtf8("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
  const char *bad[] = {"a\x80",
                       "a\xC3",
                       "a\xC0\x80",
                       "a\xE0\x80\x80",
                       "a\xED\xA0\x80",
                       "a\xF4\x90\x80\x80",
                       "a\xF5\x80\x80\x80",
                       "a\xE2\x82",
                       "a\xFF"};
  for (const char *text : bad)
    EXPECT_EQ(findMalformedUtf8(text), 1u) << testing::PrintToString(text);
  for (char32_t c : {U'a', U'\u00E9', U'\u20AC', U'\U0001F600'}) {
    std::string text;
    appendUtf8(c, text);
    size_t offset = 0;
    EXPECT_EQ(decodeUtf8(text, offset), c);
    EXPECT_EQ(offset, text.size());
    EXPECT_EQ(countCodePoints(text), 1u);
  }
}

TEST(Source, Files) {
  SourceManager sources;
  sources.addOverlay("x.pdg", "text");
  ASSERT_TRUE(sources.load("x.pdg").ok());
  EXPECT_TRUE(sources.exists("x.pdg"));
  EXPECT_EQ(sources.load("/nowhere").status().message(), "no such file");
  EXPECT_EQ(sources.load("/").status().message(), "is a folder");
  EXPECT_EQ(sources.load("/dev/zero").status().message(), "is not a regular file");
  EXPECT_EQ(sources.text({0, 1, 3}), "ex");
  EXPECT_EQ(sources.text({}), "");
}

TEST(Source, Cover) {
  EXPECT_EQ(cover({0, 3, 5}, {0, 1, 4}), (Span{0, 1, 5}));
  EXPECT_EQ(cover({}, {0, 1, 4}), (Span{0, 1, 4}));
}

TEST(Names, Distance) {
  EXPECT_EQ(editDistance("", "abc"), 3u);
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(editDistance("reul", "relu"), 1u) << "neighbours that are swapped are one slip";
  EXPECT_EQ(findNearest("reul", {"exp", "relu", "rule"}), "relu");
  EXPECT_EQ(findNearest("RELU", {"relu"}), "relu");
  EXPECT_EQ(findNearest("abc", {"xyz"}), "");
  EXPECT_EQ(findNearest("x", {"y", "z"}), "") << "any letter is as near";
  EXPECT_EQ(findNearest("ab", {"ac", "aa"}), "aa");
}

} // namespace
} // namespace pdg
