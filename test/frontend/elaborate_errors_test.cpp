// Messages of elaboration: every code has a page with true examples; errors are independent of each
// other; nothing crashes. SPDX-License-Identifier: Apache-2.0
#include "elaborate_harness.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

namespace pdg::test {

static std::string example(const std::string &page, const std::string &heading) {
  size_t begin = page.find("## " + heading + "\n\n```pdg\n");
  if (begin == std::string::npos)
    return "";
  begin = page.find("```pdg\n", begin) + 7;
  return page.substr(begin, page.find("```", begin) - begin);
}

TEST(ElaborateErrors, PagesHaveTrueExamples) {
  setenv("PDG_ERRORS", PDG_SOURCE_DIR "/docs/errors", 1);
  ElaborateOptions running;
  running.needsInputs = true;
  for (DiagCode code : {
#define PDG_DIAGNOSTIC(code, severity, title) DiagCode::code,
#include "frontend/diagnostics.def"
#undef PDG_DIAGNOSTIC
       }) {
    std::string name = codeName(code);
    if (name < "PD0100" || name >= "PD1000")
      continue; // tried by the tests of resolution, or of what comes after elaboration
    std::string page = findErrorPage(name).value_or("");
    if (std::string wrong = example(page, "Wrong"); !wrong.empty())
      EXPECT_EQ(codesOf(wrong, running).substr(0, 6), name) << wrong;
    if (std::string right = example(page, "Right"); !right.empty())
      EXPECT_EQ(codesOf(right, running), "") << right << messageOf(right);
  }
}

/// A code is produced by the example of its page, or by a file of test/errors: one that has its
/// name, or that of the places in a cluster.
TEST(ElaborateErrors, EveryCodeIsProducedByATest) {
  setenv("PDG_ERRORS", PDG_SOURCE_DIR "/docs/errors", 1);
  for (std::string name : {
#define PDG_DIAGNOSTIC(code, severity, title) #code,
#include "frontend/diagnostics.def"
#undef PDG_DIAGNOSTIC
       }) {
    std::string page = findErrorPage(name).value_or("");
    ASSERT_NE(page, "") << name;
    if (name < "PD1000" && !example(page, "Wrong").empty())
      continue; // PagesHaveTrueExamples runs it, or the test of the pages of resolution
    if (page.find(" error=" + name) != std::string::npos)
      continue; // the check of the documents runs its examples, which need a cluster
    if (name == "PD0126")
      continue; // says that the compiler is wrong, so no script should produce it
    std::string text;
    // What concerns a cluster is tried together.
    for (const std::string &stem :
         {name + ".test", name + ".pdg", std::string("cluster_places.test")})
      if (std::ifstream file(PDG_SOURCE_DIR "/test/errors/" + stem); file)
        text.append(std::istreambuf_iterator<char>(file), {});
    EXPECT_NE(text.find("error[" + name + "]"), std::string::npos)
        << "no test produces " << name << "; write test/errors/" << name << ".pdg";
  }
}

TEST(ElaborateErrors, OneErrorDoesNotCauseOthers) {
  EXPECT_EQ(codesOf(R"(import nn
let a = ones([2]) + ones([3])
let b = a * 2
for i in 0..3 { print(b) }
use net = nn.dense(units: b)
print(net(a))
let (c, d) = a
print(if a > 0 { c } else { d })
print(ones([2], f31 + 1)))"),
            "PD0040 9:17");
  EXPECT_EQ(codesOf(R"(let a = ones([2]) + ones([3])
let b = a * 2
var c = b
for i in 0..3 { c = c + b }
let (d, e) = c
print(if d > 0 { d } else { e })
let f = 1 // 0
print(f + 1))"),
            "PD0101 1:9, PD0104 7:9");
}

TEST(ElaborateErrors, HugeThingsAreRefused) {
  EXPECT_EQ(codesOf("print(zeros([1000000000000, 1000000000000]))"), "PD0101 1:7");
  EXPECT_EQ(codesOf("print(pad(ones([2]), axis: 0, before: -1))"), "PD0111 1:7");
  EXPECT_EQ(codesOf("print(ones([4])[9223372036854775807..])"), "PD0111 1:17");
  std::string lists = "let a0 = (1, 1)\n";
  for (int i = 0; i < 60; ++i)
    lists += "let a" + std::to_string(i + 1) + " = (a" + std::to_string(i) + ", a" +
             std::to_string(i) + ")\n";
  EXPECT_EQ(codesOf(lists), "PD0109 16:12");
  std::string blocks = "block f0(x) { return x + 1 }\n";
  for (int i = 0; i < 40; ++i)
    blocks += "block f" + std::to_string(i + 1) + "(x) { return f" + std::to_string(i) + "(f" +
              std::to_string(i) + "(x)) }\n";
  EXPECT_EQ(codesOf(blocks + "print(f40(1.0))").substr(0, 6), "PD0109");
}

/// What follows a jump is inside of a condition: there is an end to this too.
TEST(ElaborateErrors, ManyJumpsAreRefused) {
  std::string jumps;
  for (int i = 0; i < 5000; ++i)
    jumps += "if n > " + std::to_string(i) + " { continue }\n";
  EXPECT_EQ(codesOf("state n: i64 = 1\nfor i in 0..3 {\n" + jumps + "print(i) }"), "PD0009 252:1");
  EXPECT_EQ(codesOf("state n: i64 = 1\nfor i in [1, 2] {\n" + jumps + "print(i) }"),
            "PD0009 253:1");
}

/// Words that stand in scripts.
static const char *const kWords[] = {"x",
                                     "y",
                                     "n",
                                     "1",
                                     "0",
                                     "-1",
                                     "2.5",
                                     "true",
                                     "[1, 2]",
                                     "(1, x)",
                                     "ones([2, 3])",
                                     "x[0]",
                                     "x[:, 0..n]",
                                     "sum(x)",
                                     "x + y",
                                     "x ** n",
                                     "x == y",
                                     "not x",
                                     "f(x)",
                                     "f(x, n)",
                                     "net(x)",
                                     "net.W",
                                     "net",
                                     "f",
                                     "nn.relu",
                                     "nn.dense(units: n)",
                                     "grad(sum(x), W)",
                                     "W",
                                     "s",
                                     "d",
                                     "shape(x)",
                                     "reshape(x, [n, -1])",
                                     "if n > 0 { x } else { y }",
                                     "argmax(x, axis: n)",
                                     "mean(net(x))",
                                     "concat([x, y], axis: n)",
                                     "f32(x)",
                                     "i64(y)",
                                     "\"text\"",
                                     "f32",
                                     "matmul(x, W)"};

/// Words in a random order: whatever comes out, it must not crash.
TEST(ElaborateErrors, RandomScriptsDoNotCrash) {
  std::mt19937 random(1);
  auto pick = [&] { return std::string(kWords[random() % std::size(kWords)]); };
  for (int round = 0; round < 200; ++round) {
    std::string script = "import nn, optim\nblock f(x, n: int = 1) { return x * n }\n"
                         "use net = nn.dense(units: 3)\ninput x: f32[N, 4]\nvar y = " +
                         pick() + "\nlet n = " + pick() +
                         "\nparam W: f32[4, 2] = nn.glorot()\nstate s = " + pick() +
                         "\nlet d = " + pick() + "\n";
    for (int i = 0; i < 4; ++i)
      switch (random() % 8) {
      case 0:
        script += "y = " + pick() + "\n";
        break;
      case 1:
        script += "for i in 0.." + pick() + " { y = " + pick() + " }\n";
        break;
      case 2:
        script += "if " + pick() + " { y = " + pick() + " } else { s = " + pick() + " }\n";
        break;
      case 3:
        script += "minimize " + pick() + " with optim.adam(lr: " + pick() + ")\n";
        break;
      case 4:
        script += "for i, e in " + pick() + " { print(e) }\n";
        break;
      case 5:
        script += "while " + pick() + " max " + pick() + " { y = " + pick() + "; if " + pick() +
                  " { break }\ny = " + pick() + " }\n";
        break;
      case 6:
        script += "for e in " + pick() + " { if " + pick() + " { continue } else { y = " + pick() +
                  " }\nlet z = e; print(z + y) }\n";
        break;
      default:
        script += "let (a" + std::to_string(i) + ", b" + std::to_string(i) + ") = " + pick() + "\n";
        break;
      }
    Elaboration run(script + "print(" + pick() + ")\neval y, " + pick());
    EXPECT_TRUE(run.module || run.diagnostics.hasErrors()) << script;
    EXPECT_EQ(run.codes().find("PD0126"), std::string::npos) << script << run.text();
  }
}

} // namespace pdg::test
