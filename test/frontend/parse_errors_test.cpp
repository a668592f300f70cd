// Texts that are wrong: which message they get, and that one mistake does not hide another.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/parse.h"

#include "test/frontend/harness.h"
#include <gtest/gtest.h>

namespace pdg::test {
namespace {

struct Case {
  const char *text;
  const char *place; // code, line and column
  const char *message;
};

void check(const Case &each) {
  auto run = parse(each.text);
  EXPECT_EQ(run->codes(), each.place) << each.text;
  std::string text = run->diagnostics.renderText();
  EXPECT_NE(text.find(each.message), std::string::npos) << each.text << "\n" << text;
}

TEST(ParseErrors, Characters) {
  const Case cases[] = {
      {"let a = \"abc\nlet b = 1", "PD0005 1:9", "expected '\"' before the end of the line"},
      {"let a = \"abc\\", "PD0005 1:9, PD0006 1:13", "'\\' is no escape"},
      {"f(\"\\q\")", "PD0006 1:4", "'\\q' is no escape"},
      {"f(\"\\u{110000}\")", "PD0006 1:4", "'\\u' is no escape"},
      {"let a = 'x'", "PD0004 1:9", "expected '\"' around a string, found '''"},
      {"let a = 1 $$$", "PD0004 1:11", "the character '$' means nothing here"},
      {"let a = 1 \x01", "PD0004 1:11", "a control character (code 1)"},
      {"let a = 12abc", "PD0007 1:9", "'12abc' is not a number"},
      {"let a = 1.2.3", "PD0007 1:9", "'1.2.3' is not a number"},
      {"let 3d = 1", "PD0007 1:5", "a name cannot start with a digit"},
      {"let a = 9223372036854775808", "PD0008 1:9", "a whole number that fits in 64 bits"},
      {"let a = 1e999", "PD0008 1:9", "a number that fits in 64 bits"},
      {"let a = \"\xFF\"", "PD0003 1:10", "expected UTF-8, found the byte 0xff"},
  };
  for (const Case &each : cases)
    check(each);
  check({"a\xC0\x80", "PD0003 1:2", "found the byte 0xc0"});
  auto binary = parse(std::string("\x7F"
                                  "ELF\0\0",
                                  6));
  EXPECT_EQ(binary->codes(), "PD0002");
  EXPECT_EQ(binary->file, nullptr);
}

TEST(ParseErrors, ExpectedAndFound) {
  const Case cases[] = {
      {"let x = = 3", "PD0021 1:9", "expected an expression, found '='"},
      {"let x = 1 +\nlet y = 2", "PD0021 1:12", "found the end of the line"},
      {"let x = 1 + # more\n2", "PD0021 1:12", "in the next line only inside ( ) or [ ]"},
      {"let = 3", "PD0020 1:5", "expected a name, '(' or '[', found '='"},
      {"let x", "PD0020 1:6", "found the end of the text"},
      {"f(a b)", "PD0020 1:5", "expected ')' or ',', found the name 'b'"},
      {"f(a b)", "PD0020 1:5", "a comma may be missing"},
      {"[1 2]", "PD0020 1:4", "a comma may be missing"},
      {"f(a = 3)", "PD0031 1:5", "a named argument is written name: value"},
      {"f(x[0:2])", "PD0020 1:6", "a part of an axis is written a..b"},
      {"f(x[:-1])", "PD0020 1:6", "a part of an axis is written a..b"},
      {"f(x[:2])", "PD0020 1:6", "a part of an axis is written a..b"},
      {"f(x[..., 0])", "PD0021 1:7", "an axis that stays whole is written ':'"},
      {"update w with f()", "PD0020 1:10", "an update needs its direction"},
      {"minimize(loss)", "PD0020 1:15", "a step needs an optimizer"},
      {"minimize a with f() over w", "PD0022 1:21", "the order is: minimize loss over"},
      {"let a = b ? c : d", "PD0004 1:11", "a choice is written if c { a } else { b }"},
      {"f(a: 1, 2)", "PD0031 1:9", "arguments by position come first"},
      {"f(a: 1, a: 2)", "PD0031 1:9", "the argument 'a' is given twice"},
      {"let a = 1 let b = 2", "PD0022 1:11", "expected the end of the statement"},
      {"def f(x) { }", "PD0022 1:5", "write block f(x) { ... }"},
      {"block f(x: 3) { }", "PD0020 1:12", "expected a type, found the number 3"},
      {"block f(x y) { }", "PD0020 1:11", "expected ')' or ',', found the name 'y'"},
      {"minimize loss", "PD0020 1:14", "expected 'over', 'via' or 'with'"},
      {"for i of x { }", "PD0020 1:7", "expected 'in' or ',', found the name 'of'"},
      {"net.layers.0", "PD0020 1:12", "an element of a list is written list[0]"},
      {"let r = 0..3", "PD0032 1:10", "a range stands after 'in' or inside an index"},
      {"print(\"a\", b)", "PD0020 1:10", "print takes one text or value"},
      {"for i in 0..3:\nf(i)", "PD0020 1:14", "stand between '{' and '}'"},
      {"for i in 0..3\n\n  {\nf(i)\n}", "PD0020 3:3", "expected '{' on the line before"},
      {"block f(x)\n{ if x\n{ y } }\nz", "PD0020 2:1, PD0020 3:1", "on a line of its own"},
      {"print(\"a {f(\"b\")}\")", "PD0020 1:14", "what stands in braces contains no quote signs"},
      {"import torch.nn as nn", "PD0022 1:13", "a module of the library has a plain name"},
      {"return a, b", "PD0022 1:9", "several values are written in parentheses: (a, b)"},
  };
  for (const Case &each : cases)
    check(each);
}

TEST(ParseErrors, CommonSlips) {
  const Case cases[] = {
      {"if a = b { c }", "PD0026 1:6", "expected '==' in a condition, found '='"},
      {"while f(x) = 3 { c }", "PD0026 1:12", "two values are compared with '=='"},
      {"let x = a && !b || c ^ 2", "PD0027 1:11, PD0027 1:14, PD0027 1:17, PD0027 1:22",
       "expected 'and', found '&&'"},
      {"x += 1", "PD0027 1:3", "write x = x + ..."},
      {"if a { b } elif c { d }", "PD0027 1:12", "expected 'else if', found 'elif'"},
      {"let c = a < b <= c", "PD0028 1:15", "write a < b and b < c"},
      {"f(x) = 3", "PD0029 1:1", "expected a name on the left of '='"},
      {"x[0] = 3", "PD0029 1:1", "elements of a tensor cannot be assigned"},
      {"let data = 3", "PD0025 1:5", "found the keyword 'data'"},
      {"data = 3", "PD0025 1:6", "'data' is a word of the language"},
      {"let y = input + 1", "PD0025 1:9", "expected an expression, found the keyword 'input'"},
  };
  for (const Case &each : cases)
    check(each);
}

TEST(ParseErrors, Brackets) {
  const Case cases[] = {
      {"let a = (1 + 2\nlet b = 3", "PD0023 1:9", "expected ')' to close this '('"},
      {"f(a, [b, c)", "PD0023 1:6", "this closes a bracket further out"},
      {"block f() { g(a }", "PD0023 1:14", "never closed"},
      {"let a = 1)", "PD0024 1:10", "no bracket is open that it closes"},
      {"}", "PD0024 1:1", "closes nothing"},
      {"block f() {\n    if c {\n        x\n}\nlet y = 2", "PD0023 2:10",
       "expected '}' to close this '{'"},
      {"block f() {\n", "PD0023 1:11", "expected '}' to close this '{'"},
      {"while x\n    y\n}\nz", "PD0020 1:8", "found the end of the line"},
  };
  for (const Case &each : cases)
    check(each);
}

TEST(ParseErrors, Templates) {
  const Case cases[] = {
      {"print(\"a {} b\")", "PD0030 1:10", "expected a value between '{' and '}'"},
      {"print(\"a } b\")", "PD0030 1:10", "found '}' without '{' before it"},
      {"print(\"a {x b\")", "PD0030 1:10", "expected '}' after the value"},
      {"print(\"{x:.q}\")", "PD0030 1:11", "expected a format such as .4, .4g or 8, found '.q'"},
      {"print(\"{x:}\")", "PD0030 1:11", "found ''"},
      {"print(\"{x:9999}\")", "PD0030 1:11", "found '9999'"},
      {"print(\"ä {1 +} b\")", "PD0021 1:14", "expected an expression"},
      {"print(\"{a b}\")", "PD0020 1:11", "expected the end of the text, found the name 'b'"},
  };
  for (const Case &each : cases)
    check(each);
}

TEST(ParseErrors, OneRunReportsAll) {
  auto run = parse(R"(let a = 1 +
block f(x) {
    let b = = 2
    let ok = 3
    return (b, )
    y +
}
for i i 0..3 { let swallowed = }
let c = g(1 2)
if c = 3 { let d = [1 2] }
print("{a} {b")
)");
  EXPECT_EQ(run->codes(), "PD0021 1:12, PD0021 3:13, PD0021 6:8, PD0020 8:7, PD0020 9:13, "
                          "PD0026 10:6, PD0020 10:23, PD0030 11:12");
  EXPECT_EQ(printAst(*run->file), "block f(x) {\n    let ok = 3\n    return (b,)\n}\n"
                                  "if (c == 3) {\n}\nprint(\"{a} \")\n");
}

TEST(ParseErrors, GoodStatementsAfterBadOnesAreKept) {
  auto run = parse("let a = )\nlet b = 2\nlet c = (3\nlet d = 4\n");
  EXPECT_EQ(run->codes(), "PD0024 1:9, PD0023 3:9");
  EXPECT_NE(printAst(*run->file).find("let b = 2\n"), std::string::npos);
  EXPECT_NE(printAst(*run->file).find("let d = 4\n"), std::string::npos);
}

} // namespace
} // namespace pdg::test
