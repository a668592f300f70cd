// Expressions, types, control flow and outputs, from script to IR.
// SPDX-License-Identifier: Apache-2.0
#include "elaborate_harness.h"

namespace pdg::test {

TEST(Elaborate, ConstantsFoldAndTakeTheTypeOfWhatTheyMeet) {
  expectInOrder(
      irOf("input x: f64[3]\nconst a = 2 ** 10 - 1\nprint(x * 0.1)\nprint(a // 2)\nprint(1 / 3)"),
      {"dense<1.000000e-01> : tensor<f64>", "dense<511> : tensor<i64>",
       "dense<0.333333343> : tensor<f32>"});
  EXPECT_EQ(codesOf("print(2 ** 63)"), "PD0104 1:7");
  EXPECT_EQ(codesOf("print(1 % 0)"), "PD0104 1:7");
}

TEST(Elaborate, IntegersWidenAndDivideTruly) {
  expectInOrder(irOf("input a: u8[3]\ninput b: i32[3]\nprint(a + b)\nprint(a / 2)\nprint(a // 2)"),
                {"pdg.cast", "to i32", "pdg.add", "to f32", "pdg.div", "pdg.floordiv", "ui8"});
  EXPECT_EQ(codesOf("input a: i32[3]\nprint(a + 0.5)"), "PD0100 2:7");
  EXPECT_EQ(codesOf("input a: f32[3]\ninput b: f64[3]\nprint(a + b)"), "PD0100 3:7");
  EXPECT_EQ(codesOf("input a: u8[3]\nprint(a + 256)"), "PD0121 2:11");
}

TEST(Elaborate, OnlyOnesAreRepeated) {
  expectInOrder(irOf("input a: f32[N, 3]\ninput b: f32[3]\ninput c: f32[N, 1]\nprint(a * b + c)"),
                {"pdg.broadcast", "to [%", ", 3] : tensor<3xf32>", "pdg.mul", "pdg.broadcast",
                 "tensor<?x1xf32>", "pdg.add"});
  std::string message = messageOf("input a: f32[N, 3]\ninput b: f32[4]\nprint(a + b)");
  expectInOrder(message, {"PD0101", "this is f32[N, 3]", "this is f32[4]"});
}

TEST(Elaborate, PowersOfConstantsAreProducts) {
  std::string ir = irOf("input x: f32[3]\nprint(x ** 5)\nprint(x ** 0.5)\nprint(2 ** x)");
  EXPECT_EQ(countOf(ir, "pdg.mul"), 3u);
  EXPECT_EQ(countOf(ir, "pdg.pow"), 2u);
}

TEST(Elaborate, ConditionsKnownWhenCompilingLeaveNoBranch) {
  std::string ir =
      irOf("const deep = false\nlet x = if deep { undefined(1) } else { 2.5 }\nprint(x)");
  EXPECT_NE(ir.find("PD0040"), std::string::npos) << "names are resolved everywhere";
  ir = irOf("const deep = false\nlet x = if deep { ones([3]) } else { 2.5 }\nprint(x)");
  EXPECT_EQ(countOf(ir, "pdg.if"), 0u);
  expectInOrder(ir, {"dense<2.500000e+00>", "pdg.print"});
}

TEST(Elaborate, BranchesOfTheRunYieldWhatTheyAssign) {
  expectInOrder(irOf(R"(state n: i64 = 1
var a = 1.0
var b = 2
if n > 0 { a = a + 1 } else if n < -5 { b = 7 }
print(a); print(b))"),
                {":2 = pdg.if", "-> tensor<f32>, tensor<i64>", "pdg.add", "pdg.yield", "else",
                 "pdg.if", "pdg.yield", "pdg.print"});
  expectInOrder(
      irOf("state n: i64 = 1\nlet (a, b) = if n > 0 { (1, 2.0) } else { (n, 3) }\nprint(a + n)"),
      {"-> tensor<i64>, tensor<f32>"});
  EXPECT_EQ(codesOf("state n: i64 = 1\nlet a = if n > 0 { 1.5 } else { n }\nprint(a)"),
            "PD0100 2:9");
  EXPECT_EQ(codesOf("state n: i64 = 1\nlet a = if n > 0 { 1.5 }\nprint(a)"), "PD0112 2:9");
}

TEST(Elaborate, LoopsCarryTheirVars) {
  expectInOrder(irOf(R"(input x: f32[N, 4]
var h = x
var unused = 1
for i in 1..=3 { h = tanh(h) * f32(i) }
print(h))"),
                {"dense<1> : tensor<i64>", "dense<4> : tensor<i64>", "pdg.for",
                 "carry(%0 : tensor<?x4xf32>) -> tensor<?x4xf32>", "pdg.tanh", "pdg.yield"});
  EXPECT_EQ(codesOf("var x = ones([1])\nfor i in 0..3 { x = concat([x, x]) }\nprint(x)"),
            "PD0113 1:5");
  EXPECT_EQ(codesOf("input x: f32[N]\nvar y = x\nfor i in 0..3 { y = concat([y, y]) }\nprint(y)"),
            "PD0113 2:5");
}

TEST(Elaborate, LoopsCarryListsOfTensors) {
  std::string ir = irOf(R"(var pair = (ones([2]), [0, 1.5])
for i in 0..5 {
    let [n, x] = pair[1]
    if sum(pair[0]) > 3 { break }
    pair = (pair[0] * x, [n + i, 2])
}
print(pair))");
  expectInOrder(ir, {"pdg.for ", "tensor<2xf32>, tensor<i64>, tensor<f32>", "pdg.if", "pdg.yield"});
  EXPECT_EQ(codesOf("var g = [i for i in 0..2000]\nfor i in 0..3 { g = [i for i in 0..2000] }"),
            "PD0109 2:1");
  EXPECT_EQ(codesOf("var g = [f32(1)]\ng = ones([2])\nlet y: f32[2] = g"), "");
}

TEST(Elaborate, WhileIsALoopThatItsConditionEnds) {
  std::string ir = irOf("var n = 5\nwhile n > 0 { n = n - 2 }\nprint(n)");
  expectInOrder(ir, {"dense<9223372036854775807>", "pdg.for", "carry", "pdg.gt", "pdg.if",
                     "pdg.sub", "else", "pdg.yield", "while %"});
  EXPECT_EQ(countOf(ir, "pdg.gt"), 1u) << "the condition is built once";
  ir = irOf("var n = 5\nwhile n > 0 max 7 { n = n - 2 }\nprint(n)");
  expectInOrder(ir, {"dense<7>", "pdg.for"});
  ir = irOf("var n = 5\nwhile true { n = n - 2\nprint(n) }");
  EXPECT_EQ(countOf(ir, "pdg.if"), 0u);
  EXPECT_EQ(countOf(ir, "while %"), 0u);
}

TEST(Elaborate, JumpsMakeTheRestConditional) {
  // The condition itself says whether the rest runs.
  std::string ir = irOf("state n: i64 = 1\nfor i in 0..9 { if n == i { break }\nprint(i) }");
  expectInOrder(ir, {"pdg.eq", "pdg.not", "pdg.if", "pdg.if", "pdg.print", "while %"});
  EXPECT_EQ(countOf(ir, "-> tensor<i1>"), 0u);
  ir = irOf("state n: i64 = 1\nfor i in 0..9 { if n == i { continue }\nprint(i) }");
  EXPECT_EQ(countOf(ir, "while %"), 0u);
  // Nothing is left to decide.
  ir = irOf("const skip = true\nfor i in 0..9 { if skip { continue }\nprint(i) }");
  EXPECT_EQ(countOf(ir, "pdg.if") + countOf(ir, "pdg.print") + countOf(ir, "while %"), 0u);
  // In a loop that is unrolled: two rounds are built, of which the last always breaks.
  ir = irOf("for i in 0..9 { print([4, 5, 6, 7, 8, 9, 10, 11, 12][i])\nif i == 1 { break } }");
  EXPECT_EQ(countOf(ir, "pdg.print"), 2u);
}

TEST(Elaborate, LoopsThatNeedTheirVariableAreUnrolled) {
  EXPECT_EQ(countOf(irOf("for i in 0..3 { print([4, 5, 6][i]) }"), "pdg.print"), 3u);
  EXPECT_EQ(countOf(irOf("let x = ones([4, 4])\nfor i in 0..3 { print(x[:, 0..i]) }"), "pdg.for %"),
            0u);
  EXPECT_EQ(countOf(irOf("let x = ones([4, 4])\nfor i in 0..3 { print(x[i]) }"), "pdg.for %"), 1u);
  EXPECT_EQ(countOf(irOf("for i, x in [1.0, 2.0] { print(x * f32(i)) }"), "pdg.print"), 2u);
  EXPECT_EQ(codesOf("for i in 0..1000000000 { print([1][i]) }"), "PD0109 1:10");
  // What the body declares anew in each round is not carried.
  EXPECT_EQ(codesOf(R"(for x in [1, 2] { for j in 0..3 { var s = x
if j > 1 { s = s + 1 }
for k in 0..2 { s = s + k }
print(s) } })"),
            "");
}

TEST(Elaborate, IndicesAndSlices) {
  std::string ir = irOf(R"(let x = ones([5, 6])
let ids = tensor([0, 4])
print(x[1]); print(x[:, 2..=3]); print(x[ids]); print(x[:, ids]); print(x[[1, 2], 0]))");
  expectInOrder(ir, {"pdg.slice", "axis 0 from 1 size 1", "pdg.reshape", "axis 1 from 2 size 2",
                     "pdg.gather", "pdg.transpose", "pdg.gather", "pdg.transpose", "pdg.gather"});
  EXPECT_EQ(codesOf("print(ones([2])[2])"), "PD0111 1:17");
  EXPECT_EQ(codesOf("print(ones([2])[0, 0])"), "PD0111 1:7");
  EXPECT_EQ(codesOf("print(ones([4])[2..1])"), "PD0111 1:17");
}

TEST(Elaborate, ReductionsDivideOnce) {
  std::string ir = irOf("input x: f32[N, 4]\nprint(mean(x)); print(max(x, axis: -1, keep: true))");
  expectInOrder(ir, {"pdg.dim", "pdg.mul", "pdg.cast", "to f32", "pdg.sum", "axis 1", "pdg.sum",
                     "axis 0", "pdg.div", "pdg.reduce_max", "pdg.reshape"});
  EXPECT_EQ(countOf(ir, "pdg.div"), 1u);
  EXPECT_EQ(codesOf("print(sum(ones([2]), axis: 1))"), "PD0111 1:28");
}

TEST(Elaborate, SizesAreValues) {
  expectInOrder(irOf(R"(block flat(x: T[N, 2, 3]) -> T[N, 6] { return reshape(x, [N, 6]) }
input x: f32[K, 2, 3]
print(flat(x)); print(reshape(x, [-1, 2])); print(zeros(shape(x)[1..])))"),
                {"pdg.reshape", ", 6]", "pdg.floordiv", "pdg.reshape", "to [2, 3]"});
}

TEST(Elaborate, RunTimeSizesAreCheckedByTheRun) {
  expectInOrder(irOf("input x: f32[N]\ninput y: f32[N]\nprint(x + y)"),
                {"pdg.eq", "pdg.assert", "axis 0 of the input 'y' has size ", "pdg.add"});
  ElaborateOptions fed;
  fed.inputs["x"] = {DType::F32, {3}};
  fed.inputs["y"] = {DType::F32, {4}};
  EXPECT_EQ(codesOf("input x: f32[N]\ninput y: f32[N]\nprint(x + y)", fed), "PD0101 2:7");
  fed.inputs["y"] = {DType::F64, {3}};
  EXPECT_EQ(codesOf("input x: f32[N]\ninput y: f32[N]\nprint(x + y)", fed), "PD0101 2:7");
  ElaborateOptions running;
  running.needsInputs = true;
  EXPECT_EQ(codesOf("input z: f32[N]\nprint(z)", running), "PD0118 1:7");
}

TEST(Elaborate, PrintsAndFetches) {
  expectInOrder(irOf(R"(param W: f32[2] = 1
let name = "ab"
print("{name:4} {W:.3g} {(1, true):8}!{{}}")
eval W, sum(W) as total)"),
                {"pdg.print [\"  ab \", \" (\", \", \", \")!{}\"]",
                 "precision = 3, significant = true", "width = 8", "pdg.fetch \"W\"",
                 "pdg.fetch \"total\""});
  EXPECT_EQ(codesOf("import nn\nprint(nn.relu)"), "PD0100 2:7");
}

TEST(Elaborate, AssertionsAreDecidedEarlyIfTheyCan) {
  EXPECT_EQ(countOf(irOf("assert 1 < 2\nprint(1)"), "pdg.assert"), 0u);
  EXPECT_EQ(codesOf("assert 1 > 2"), "PD0123 1:8");
  expectInOrder(irOf("state n: i64 = 0\nassert n > 0, \"n is {n}\""), {"pdg.assert", "n is "});
}

TEST(Elaborate, ConstantsAreSetFromOutside) {
  ElaborateOptions options;
  options.constants = {{"rate", "0.5"}};
  expectInOrder(irOf("const rate = 1e-3\nprint(rate)", options), {"dense<5.000000e-01>"});
  options.constants = {{"n", "0.5"}};
  EXPECT_EQ(codesOf("const n = 1\nprint(n)", options), "PD0119 1:7");
  EXPECT_EQ(codesOf("const m = 1\nprint(m)", options), "PD0119");
}

TEST(Elaborate, LocationsPointIntoTheScript) {
  Elaboration run("block f(x) { return exp(x) }\nprint(f(1.5))");
  ASSERT_TRUE(run.module) << run.text();
  bool found = false;
  run.module->walk([&](mlir::Operation *op) {
    if (op->getName().getStringRef() != "pdg.print")
      return;
    found = true;
    ScriptPlace place = placeOf(op->getLoc(), run.sources);
    EXPECT_EQ(run.sources.text(place.span), "print(f(1.5))");
  });
  EXPECT_TRUE(found);
  Elaboration calls("block f(x) { return exp(x) }\ninput y: f32\nprint(f(y))");
  calls.module->walk([&](mlir::Operation *op) {
    if (op->getName().getStringRef() != "pdg.exp")
      return;
    ScriptPlace place = placeOf(op->getLoc(), calls.sources);
    EXPECT_EQ(calls.sources.text(place.span), "exp(x)");
    ASSERT_EQ(place.calls.size(), 1u);
    EXPECT_EQ(calls.sources.text(place.calls[0]), "f(y)");
  });
}

TEST(Elaborate, ReshapeFindsTheSizeThatIsLeft) {
  auto ir = [](const std::string &shape) {
    return irOf("input x: f32[N, 4, 3]\nprint(reshape(x, " + shape + "))");
  };
  expectInOrder(ir("[N, -1]"), {"tensor<?x12xf32>"});
  expectInOrder(ir("[-1, N, 2]"), {"tensor<6x?x2xf32>"});
  for (const char *shape : {"[N, -1]", "[-1, 12]", "[3, -1, 4]"})
    EXPECT_EQ(countOf(ir(shape), "pdg.floordiv"), 0u) << shape;
  for (const char *shape : {"[-1, 6]", "[-1, 24]", "[N, N, -1]", "[N, 5, -1]", "[0, -1]"})
    EXPECT_EQ(countOf(ir(shape), "pdg.floordiv"), 1u) << shape;
}

} // namespace pdg::test
