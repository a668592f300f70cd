// The manual of the library, read from the text of a module.
// SPDX-License-Identifier: Apache-2.0
#include "tools/manual.h"

#include <gtest/gtest.h>

namespace pdg {
namespace {

const char *module = R"(## What it is for.
##
## And more.

import ops

# ----
# Layers
# ----

## A layer: x W.
## With [N, I].
block layer(x: T[N, I],
            units: int) -> T[N, units] {
    return x
}

block hidden() { return 1 }

# ----
# Empty
# ----

# ----
# Numbers
# ----

## How many.
const count = 3
)";

TEST(Manual, ReadsModules) {
  ManualPage page = readModule("mine", module);
  EXPECT_EQ(page.title, "Module mine");
  EXPECT_EQ(page.text, "What it is for.\n\nAnd more.\n");
  ASSERT_EQ(page.sections.size(), 2u) << "without the one that has no entries";
  EXPECT_EQ(page.sections[0].title, "Layers");
  ASSERT_EQ(page.sections[0].entries.size(), 1u) << "what has no comment is left out";
  const ManualEntry &layer = page.sections[0].entries[0];
  EXPECT_EQ(layer.name, "mine.layer");
  EXPECT_EQ(layer.signature, "block layer(x: T[N, I],\n            units: int) -> T[N, units]");
  EXPECT_EQ(layer.text, "A layer: x W.\nWith [N, I].\n");
  EXPECT_EQ(page.sections[1].title, "Numbers");
  EXPECT_EQ(page.sections[1].entries[0].signature, "const count = 3");
}

TEST(Manual, CommentsOfTheFirstStatementAreNotOfTheModule) {
  ManualPage page = readModule("mine", "## A block.\nblock f() { return 1 }\n");
  EXPECT_EQ(page.text, "");
  ASSERT_EQ(page.sections.size(), 1u);
  EXPECT_EQ(page.sections[0].entries[0].text, "A block.\n");
}

TEST(Manual, FindsByFullNameFirst) {
  Manual manual;
  manual.pages.push_back(readModule("a", "## One.\nblock f() { return 1 }\n"));
  manual.pages.push_back({"functions", "Functions", "", {{"", {{"f", "f(x)", "Two.", ""}}}}});
  std::vector<const ManualEntry *> found = findEntries(manual, "f");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]->name, "f");
  EXPECT_EQ(found[1]->name, "a.f");
  EXPECT_EQ(findEntries(manual, "a.f").size(), 1u);
  EXPECT_EQ(findEntries(manual, "ops.f").size(), 1u);
  EXPECT_TRUE(findEntries(manual, "g").empty());
}

TEST(Manual, FirstSentences) {
  EXPECT_EQ(firstSentence("One\nand two. Three."), "One and two");
  EXPECT_EQ(firstSentence("A layer: x W."), "A layer");
  EXPECT_EQ(firstSentence("1.5 of it; more"), "1.5 of it");
  EXPECT_EQ(firstSentence("a, .. and z. More."), "a, .. and z");
  EXPECT_EQ(firstSentence("no end"), "no end");
  EXPECT_EQ(firstSentence(""), "");
}

TEST(Manual, PagesAreEscapedAndLinked) {
  Manual manual;
  manual.pages.push_back(readModule("a", "## x < y, see `a.g` and `z`.\nblock f() { return 1 }\n"
                                         "## G.\nblock g() { return 1 }\n"));
  std::string html = pageHtml(manual, manual.pages[0]);
  EXPECT_NE(html.find("<h3 id=\"a.f\">"), std::string::npos) << html;
  EXPECT_NE(html.find("x &lt; y, see <a href=\"a.html#a.g\"><code>a.g</code></a> and "
                      "<code>z</code>."),
            std::string::npos)
      << html;
  EXPECT_NE(indexHtml(manual).find("<a href=\"a.html#a.g\">"), std::string::npos);
}

} // namespace
} // namespace pdg
