// The canonical layout: what it looks like, that it settles at once, and that it changes no tree.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/format.h"

#include "frontend/lexemes.h"
#include "test/frontend/harness.h"
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>

namespace pdg::test {
namespace {

/// The layout of a text; what is wrong with it if there are errors.
std::string laidOut(const std::string &text) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  absl::StatusOr<std::string> result =
      formatFile(sources, sources.add("test.pdg", text), diagnostics);
  if (result.ok())
    return *result;
  return std::string(result.status().message()) + "\n" + diagnostics.renderText();
}

/// All scripts of the project that have no syntax errors.
std::vector<std::string> scripts() {
  std::vector<std::string> texts = samples();
  for (const char *folder : {"stdlib", "examples", "test"})
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(std::string(PDG_SOURCE_DIR "/") + folder)) {
      if (entry.path().extension() != ".pdg")
        continue;
      std::ifstream file(entry.path());
      std::string text{std::istreambuf_iterator<char>(file), {}};
      if (parse(text)->diagnostics.empty())
        texts.push_back(std::move(text));
    }
  return texts;
}

/// The same words with other spaces, other line breaks inside brackets, and some comments more.
std::string respaced(const std::string &text, std::mt19937 &random) {
  std::string out;
  std::vector<char> open;
  size_t end = 0;
  bool isHintLine = false, isFirst = true, isComment = false;
  for (const Lexeme &lexeme : splitLexemes(text)) {
    size_t begin = static_cast<size_t>(lexeme.text.data() - text.data());
    bool isInBrackets = !open.empty() && open.back() != '{';
    if (isFirst)
      isHintLine = lexeme.is("@");
    bool getsComment = !isComment && random() % 8 == 0;
    // A keyword at the start of a line would end what is open.
    if (isInBrackets && lexeme.kind != LexemeKind::Keyword && random() % 4 == 0)
      out += getsComment ? " # c\n # d\n" : "\n";
    else if (lexeme.kind == LexemeKind::Newline && getsComment)
      out += " # e";
    isComment = lexeme.isComment();
    out.append(begin != end ? 1 + random() % 3 : 0, ' ');
    out += lexeme.text;
    end = begin + lexeme.text.size();
    if (lexeme.kind == LexemeKind::Open)
      open.push_back(lexeme.text[0]);
    if (lexeme.kind == LexemeKind::Close && !open.empty())
      open.pop_back();
    isFirst = lexeme.kind == LexemeKind::Newline;
    if (isFirst && !isHintLine && random() % 4 == 0)
      out += "\n\n";
  }
  return out;
}

TEST(Format, SettlesAtOnceForAllScripts) {
  std::vector<std::string> texts = scripts();
  ASSERT_GT(texts.size(), 10u);
  for (const std::string &text : texts) {
    std::string once = laidOut(text);
    ASSERT_TRUE(parse(once)->diagnostics.empty()) << once;
    EXPECT_EQ(reprint(once), reprint(text));
    EXPECT_EQ(laidOut(once), once);
  }
}

TEST(Format, SettlesAtOnceForOtherSpaces) {
  std::mt19937 random(7);
  for (const std::string &text : scripts())
    for (int i = 0; i != 3; ++i) {
      std::string other = respaced(text, random);
      ASSERT_TRUE(parse(other)->diagnostics.empty()) << other;
      std::string once = laidOut(other);
      ASSERT_EQ(reprint(once), reprint(other)) << other;
      ASSERT_EQ(laidOut(once), once) << other;
    }
}

TEST(Format, NarrowLinesSettleToo) {
  // Long names make everything break that can.
  std::mt19937 random(8);
  for (std::string text : scripts()) {
    std::string longer;
    for (const Lexeme &lexeme : splitLexemes(text)) {
      longer += lexeme.text;
      if (lexeme.kind == LexemeKind::Name)
        longer.append(random() % 40, 'x');
      longer += lexeme.kind == LexemeKind::Newline ? "" : " ";
    }
    std::string once = laidOut(longer);
    ASSERT_EQ(reprint(once), reprint(longer)) << longer;
    ASSERT_EQ(laidOut(once), once) << longer;
  }
}

TEST(Format, Spaces) {
  const std::pair<const char *, const char *> cases[] = {
      {"let  x=-a**-b*c", "let x = -a ** -b * c\n"},
      {"let x = a-1+ - 3", "let x = a - 1 + -3\n"},
      {"x=f ( a,b:1 , ) [ 0 ]", "x = f(a, b: 1)[0]\n"},
      {"y = x[ : ,0 .. n,..=2 , - 1]", "y = x[:, 0..n, ..=2, -1]\n"},
      {"let (a , b)=(c,)", "let (a, b) = (c,)\n"},
      {"for  i ,(x,y)in  d{print ( x )}", "for i, (x, y) in d { print(x) }\n"},
      {"minimize max(x)over max via with with with(lr:1)",
       "minimize max(x) over max via with with with(lr: 1)\n"},
      {"while c max(n) { }", "while c max (n) { }\n"},
      {"block f( x,*,n:int=1 ){return x*n}", "block f(x, *, n: int = 1) { return x * n }\n"},
      {"block f( x:T[ N,2*I ]=1 )->( f32[N], f32 )lazy{return(x,x)}",
       "block f(x: T[N, 2 * I] = 1) -> (f32[N], f32) lazy { return (x, x) }\n"},
      {"@on ( \"a\" )@replicate   param W:f32[ 2 ]", "@on(\"a\") @replicate param W: f32[2]\n"},
      {"@stage(1)\n  use n=f()", "@stage(1)\nuse n = f()\n"},
      {"a;b ; ; c", "a\nb\nc\n"},
      {"import   a as b,\"c.pdg\"", "import a as b, \"c.pdg\"\n"},
      {"eval[a,b]", "eval [a, b]\n"},
      {"x = not(a and-b)", "x = not (a and -b)\n"},
      {"\xEF\xBB\xBF"
       "a\r\n\r\nb   \n\n\n",
       "a\n\nb\n"},
      {"", ""},
      {"\n\n", ""},
  };
  for (auto [text, expected] : cases)
    EXPECT_EQ(laidOut(text), expected) << text;
}

TEST(Format, Bodies) {
  EXPECT_EQ(laidOut("if a{b}else{c}"), "if a { b } else { c }\n");
  EXPECT_EQ(laidOut("if a { b;c; }"), "if a { b; c }\n");
  EXPECT_EQ(laidOut("if a { b; c\n}"), "if a {\n    b\n    c\n}\n");
  EXPECT_EQ(laidOut("if a { b } else {\nc }"), "if a {\n    b\n} else {\n    c\n}\n");
  EXPECT_EQ(laidOut("block f() {\n\n\n  a\n\n\n\n  b\n\n}"), "block f() {\n    a\n\n    b\n}\n");
  EXPECT_EQ(laidOut("while c {\n}"), "while c { }\n");
  EXPECT_EQ(laidOut("let y = f(if a {\n b }\n else { c }, d)"),
            "let y = f(\n    if a {\n        b\n    } else {\n        c\n    },\n    d,\n)\n");
}

TEST(Format, CommentsStayWhereTheyWere) {
  const char *text = "# first\n"
                     "\n"
                     "## doc\n"
                     "block f(\n"
                     "    x,  # the value\n"
                     "    # how much\n"
                     "    y: int = 1,\n"
                     "    # the end\n"
                     ") {  # body\n"
                     "    # own\n"
                     "    a = 1    # one\n"
                     "    bcd = 2  # two\n"
                     "    # last\n"
                     "}  # after\n"
                     "if a {\n"
                     "    b\n"
                     "}  # why\n"
                     "# or\n"
                     "else {\n"
                     "    c\n"
                     "}\n"
                     "let z = f(\n"
                     "    # only\n"
                     ")\n";
  EXPECT_EQ(laidOut(text), text);
  EXPECT_EQ(laidOut("f(a # one\n , b\n # two\n + c # three\n)"),
            "f(\n    a,  # one\n    b\n        # two\n        + c,  # three\n)\n");
}

TEST(Format, LongLinesBreakAtBrackets) {
  std::string a(30, 'a'), b(30, 'b'), c(40, 'c');
  EXPECT_EQ(laidOut("let x = f(" + a + ", " + b + ", " + c + ")"),
            "let x = f(" + a + ", " + b + ",\n          " + c + ")\n");
  EXPECT_EQ(laidOut("let x = f(\n" + a + ", " + b + ",\n " + c + ")"),
            "let x = f(\n    " + a + ", " + b + ",\n    " + c + ",\n)\n");
  EXPECT_EQ(laidOut("let x = f(g(" + a + ", " + b + ", " + c + "))"),
            "let x = f(g(" + a + ", " + b + ",\n            " + c + "))\n");
  EXPECT_EQ(laidOut("let x = mean(" + a + " * 2 + " + b + " - " + c + ")"),
            "let x = mean(" + a + " * 2 + " + b + "\n             - " + c + ")\n");
  EXPECT_EQ(laidOut("let " + c + c + " = f(" + a + ", 1)"),
            "let " + c + c + " = f(\n    " + a + ", 1,\n)\n");
  EXPECT_EQ(laidOut("let x = [\n[1, 2],\n[3, 4],\n]"), "let x = [\n    [1, 2],\n    [3, 4],\n]\n")
      << "a comma before the line of the closing bracket keeps it open";
  EXPECT_EQ(laidOut("let x = [\n1, 2,\n3]"), "let x = [1, 2, 3]\n");
}

TEST(Format, LeavesErrorsAlone) {
  EXPECT_NE(laidOut("let = 1").find("error[PD00"), std::string::npos);
}

TEST(Format, NamesOfTargetsDoNotDependOnSpaces) {
  auto run = parse("eval [a+b,  x[ 0 ,1]\n,\n f(y)\n  * 2]");
  ASSERT_TRUE(run->file && run->diagnostics.empty());
  const auto &targets = as<EvalStmt>(*run->file->stmts[0]).targets;
  ASSERT_EQ(targets.size(), 3u);
  EXPECT_EQ(targets[0].name, "a + b");
  EXPECT_EQ(targets[1].name, "x[0, 1]");
  EXPECT_EQ(targets[2].name, "f(y) * 2");
}

TEST(Format, DeepAndLongTextsEnd) {
  std::string deep = "x = " + std::string(150, '[') + "1";
  for (int i = 0; i != 3000; ++i)
    deep += ",1";
  deep += std::string(150, ']');
  std::string once = laidOut(deep);
  EXPECT_EQ(laidOut(once), once);
  std::string targets = "eval a(1, 2, 3, 4)";
  for (int i = 0; i != 3000; ++i)
    targets += ", a(1, 2, 3, 4)";
  once = laidOut(targets);
  EXPECT_EQ(laidOut(once), once);
}

} // namespace
} // namespace pdg::test
