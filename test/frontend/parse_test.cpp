// Texts that are right: what tree they give.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/parse.h"

#include "test/frontend/harness.h"
#include <gtest/gtest.h>

namespace pdg::test {
namespace {

TEST(Parse, PrintedTreesReadBack) {
  for (const std::string &sample : samples()) {
    std::string once = reprint(sample);
    ASSERT_EQ(once.find("error["), std::string::npos) << once;
    EXPECT_EQ(reprint(once), once);
  }
}

TEST(Parse, Precedence) {
  const std::pair<const char *, const char *> cases[] = {
      {"a + b * c", "(a + (b * c))"},
      {"a - b - c", "((a - b) - c)"},
      {"a ** b ** c", "(a ** (b ** c))"},
      {"-a ** b", "(-(a ** b))"},
      {"-2 ** 2", "(-(2 ** 2))"},
      {"a ** -b * c", "((a ** (-b)) * c)"},
      {"-a * b", "((-a) * b)"},
      {"a * b // c % d / e", "((((a * b) // c) % d) / e)"},
      {"a + b < c * d", "((a + b) < (c * d))"},
      {"not a == b", "(not (a == b))"},
      {"not a and b or c and d", "(((not a) and b) or (c and d))"},
      {"-a.b[c](d)", "(-a.b[c](d))"},
      {"(a < b) == (c < d)", "((a < b) == (c < d))"},
      {"a or not b and c", "(a or ((not b) and c))"},
  };
  for (auto [text, tree] : cases)
    EXPECT_EQ(reprint(text), std::string(tree) + "\n") << text;
  EXPECT_EQ(reprint("x = if a { b } else { c } + d"),
            "x = (if a {\n    b\n} else {\n    c\n} + d)\n");
}

TEST(Parse, Numbers) {
  EXPECT_EQ(reprint("f(-9223372036854775808, 1_000, 1e-3, 2.50, - 3)"),
            "f(-9223372036854775808, 1000, 0.001, 2.5, -3)\n");
}

TEST(Parse, StatementsEndWithTheLine) {
  EXPECT_EQ(reprint("a\nb"), "a\nb\n");
  EXPECT_EQ(reprint("a; b;; c\n;\n\n"), "a\nb\nc\n");
  EXPECT_EQ(reprint("f(\n  a,\n\n  b\n)\n[1,\n2,\n]"), "f(a, b)\n[1, 2]\n");
  EXPECT_EQ(reprint("if a {\n b\n}\n\nelse {\n c }"), "if a {\n    b\n} else {\n    c\n}\n");
  EXPECT_EQ(reprint("a\r\nb\r\n"), "a\nb\n");
  EXPECT_EQ(reprint("\xEF\xBB\xBF"
                    "a"),
            "a\n")
      << "a byte order mark is skipped";
  EXPECT_EQ(reprint(""), "");
  EXPECT_EQ(reprint("# only a comment"), "");
}

TEST(Parse, BodiesInsideParenthesesHaveLines) {
  EXPECT_EQ(reprint("f(if a {\n  b\n  c\n} else { d },\n e)"),
            "f(if a {\n    b\n    c\n} else {\n    d\n}, e)\n");
}

TEST(Parse, DocCommentsBelongToTheStatementBelow) {
  auto run = parse("## one\n##two\nblock f() { }\n## lost\n\nlet x = 1 # no doc\n# no\nlet y = 2");
  ASSERT_TRUE(run->file && run->diagnostics.empty());
  EXPECT_EQ(run->file->stmts[0]->doc, "one\ntwo\n");
  EXPECT_EQ(run->file->stmts[1]->doc, "");
  EXPECT_EQ(run->file->stmts[2]->doc, "");
}

TEST(Parse, AStarStandsOnceBeforeNamedArguments) {
  EXPECT_EQ(reprint("block f(x, *, n: int = 1, m) { }"), "block f(x, *, n: int = 1, m) {\n}\n");
  EXPECT_EQ(reprint("block f(*, n) { }"), "block f(*, n) {\n}\n");
  EXPECT_EQ(parse("block f(*, n, *, m) { }")->codes(), "PD0020 1:15");
  EXPECT_EQ(parse("block f(n, *) { }")->codes(), "PD0020 1:12");
  EXPECT_EQ(parse("block f(*) { }")->codes(), "PD0020 1:9");
}

TEST(Parse, SoftKeywordsAreNames) {
  EXPECT_EQ(reprint("max = over + via(with, by: as) ** lazy"),
            "max = (over + (via(with, by: as) ** lazy))\n");
}

TEST(Parse, SpansCoverTheirText) {
  auto run = parse("let é = \"ä\"\nlet value = f(x) + net.hidden[0]\n");
  ASSERT_TRUE(run->file && run->file->stmts.size() == 1u) << "é is no letter of names";
  auto good = parse("# é\nlet value = f(\"ä\") + net.hidden[0]\n");
  auto &let = as<DeclStmt>(*good->file->stmts.at(0));
  auto &sum = as<BinaryExpr>(*let.init);
  EXPECT_EQ(good->sources.text(let.pattern->decl.span), "value");
  EXPECT_EQ(good->sources.text(sum.lhs->span), "f(\"ä\")");
  EXPECT_EQ(good->sources.text(sum.opSpan), "+");
  EXPECT_EQ(good->sources.text(sum.rhs->span), "net.hidden[0]");
  EXPECT_EQ(good->sources.text(let.span), "let value = f(\"ä\") + net.hidden[0]");
}

TEST(Parse, TemplatesAreTakenApart) {
  auto run = parse("print(\"a{{{x + 1:8.2}}}\\t{f(a: 1)[:, 0]}{if a { 1 } else { 2 }:.3g}\")");
  ASSERT_TRUE(run->file && run->diagnostics.empty()) << run->diagnostics.renderText();
  auto &parts = as<PrintStmt>(*run->file->stmts.at(0)).text.parts;
  ASSERT_EQ(parts.size(), 5u);
  EXPECT_EQ(parts[0].text, "a{");
  EXPECT_EQ(run->sources.text(parts[1].expr->span), "x + 1");
  EXPECT_EQ(parts[1].format.width, 8);
  EXPECT_EQ(parts[1].format.precision, 2);
  EXPECT_EQ(parts[2].text, "}\t");
  EXPECT_EQ(printAst(*parts[3].expr), "f(a: 1)[:, 0]");
  EXPECT_FALSE(parts[3].format.width);
  EXPECT_EQ(parts[4].expr->kind, ExprKind::If);
  EXPECT_TRUE(parts[4].format.isGeneral);
}

TEST(Parse, EvalNamesItsTargets) {
  auto run = parse("eval [net.hidden.W, a + b], c as total");
  ASSERT_TRUE(run->file && run->diagnostics.empty());
  auto &targets = as<EvalStmt>(*run->file->stmts.at(0)).targets;
  ASSERT_EQ(targets.size(), 3u);
  EXPECT_EQ(targets[0].name, "net.hidden.W");
  EXPECT_EQ(targets[1].name, "a + b");
  EXPECT_EQ(targets[2].name, "total");
}

TEST(Parse, IncompleteEntriesAskForMore) {
  EXPECT_TRUE(isIncompleteEntry("block f(x) {\n"));
  EXPECT_TRUE(isIncompleteEntry("f(a,"));
  EXPECT_FALSE(isIncompleteEntry("let x = 1 +"));
  EXPECT_FALSE(isIncompleteEntry("f(a)"));
  EXPECT_FALSE(isIncompleteEntry(")"));
}

} // namespace
} // namespace pdg::test
