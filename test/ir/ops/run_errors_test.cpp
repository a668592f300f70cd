// What stops a run stops it interpreted and native with the same code, text, values and place,
// after the same output. SPDX-License-Identifier: Apache-2.0
#include "test/ir/ops/op_runner.h"

#include <gtest/gtest.h>

#include <fstream>

using namespace mlir;

namespace pdg {
namespace {

Outcome runBoth(const std::string &body, const std::string &before = "") {
  TestContext test;
  OwningOpRef<ModuleOp> module = test.parse(before + "pdg.program {\n" + body + "\npdg.yield\n}");
  if (!module)
    return {};
  EXPECT_TRUE(simplify(test, *module)) << test.reports;
  EXPECT_EQ(compareNative(test, *module, Tensors()), "") << body;
  return interpretModule(test, *module, {});
}

/// Numbers that no pass knows.
const char *const kUnknown = R"(
  %seed = pdg.seed
  %seven = pdg.constant dense<7> : tensor<i64>
  %zero = pdg.sub %seed, %seven : tensor<i64>, tensor<i64>
)";

std::string print(const std::string &value, const std::string &type) {
  return "pdg.print [\"\", \"\"] [#pdg.format<>] (" + value + " : " + type + ")\n";
}

TEST(RunErrors, IndexOutOfRange) {
  for (const char *type : {"i32", "i64", "ui8"}) {
    std::string ids = std::string("tensor<4x") + type + ">";
    std::string wrong = std::string(type) == "ui8" ? "200" : "-3";
    Outcome outcome = runBoth(R"(
      %table = pdg.constant dense<1.0> : tensor<3x2xf32>
      %ids = pdg.constant dense<[2, )" +
                              wrong + ", 3, 1]> : " + ids + R"(
      %rows = pdg.gather %table, %ids : tensor<3x2xf32>, )" +
                              ids + "\n" + print("%rows", "tensor<4x2xf32>"));
    EXPECT_EQ(outcome.error.code, "PD2001");
    EXPECT_EQ(outcome.error.message,
              "index " + wrong + " is out of range: expected 0 <= index < 3");
  }
  Outcome picked = runBoth(R"(
    %x = pdg.constant dense<1.0> : tensor<3x2xf32>
    %ids = pdg.constant dense<[1, 0, 2]> : tensor<3xi64>
    %y = pdg.pick %x, %ids : tensor<3x2xf32>, tensor<3xi64>
  )" + print("%y", "tensor<3xf32>"));
  EXPECT_EQ(picked.error.message, "index 2 is out of range: expected 0 <= index < 2");
}

TEST(RunErrors, DivisionByZero) {
  for (const char *op : {"floordiv", "mod"}) {
    Outcome outcome =
        runBoth(std::string(kUnknown) + "%y = pdg." + op +
                " %seven, %zero : tensor<i64>, tensor<i64>\n" + print("%y", "tensor<i64>"));
    EXPECT_EQ(outcome.error.code, "PD2002");
    EXPECT_EQ(outcome.error.message, "integer division by zero");
  }
}

/// The divisor is computed by ops that would be fused with the division, or is a repeated scalar.
TEST(RunErrors, DivisorsFromTheSameGroup) {
  for (const char *offset : {"0", "1"}) {
    Outcome outcome = runBoth(std::string(kUnknown) + R"(
      %x = pdg.broadcast %seven to [5] : tensor<i64>
      %z = pdg.broadcast %zero to [5] : tensor<i64>
      %o = pdg.constant dense<)" +
                              offset + R"(> : tensor<5xi64>
      %d = pdg.add %z, %o : tensor<5xi64>, tensor<5xi64>
      %y = pdg.floordiv %x, %d : tensor<5xi64>, tensor<5xi64>
      %s = pdg.add %seed, %seed : tensor<i64>, tensor<i64>
      %b = pdg.broadcast %s to [5] : tensor<i64>
      %m = pdg.mod %y, %b : tensor<5xi64>, tensor<5xi64>
      %k = pdg.add %m, %d : tensor<5xi64>, tensor<5xi64>
    )" + print("%k", "tensor<5xi64>"));
    EXPECT_EQ(outcome.error.code, offset[0] == '0' ? "PD2002" : "");
  }
}

/// Fusing moves ops down, but nothing is printed and no other check runs before an error.
TEST(RunErrors, TheFirstOneCounts) {
  Outcome outcome = runBoth(std::string(kUnknown) + R"(
    %x = pdg.broadcast %seven to [5] : tensor<i64>
    %z = pdg.broadcast %zero to [5] : tensor<i64>
    pdg.print ["before"] []
    %y = pdg.floordiv %x, %z : tensor<5xi64>, tensor<5xi64>
    pdg.print ["after"] []
    %never = pdg.ne %seed, %seven : tensor<i64>, tensor<i64>
    pdg.assert %never, ["too late"] []
    %k = pdg.add %y, %x : tensor<5xi64>, tensor<5xi64>
  )" + print("%k", "tensor<5xi64>"));
  EXPECT_EQ(outcome.error.code, "PD2002");
  EXPECT_EQ(outcome.lines, std::vector<std::string>{"before"});
}

TEST(RunErrors, Assertions) {
  Outcome outcome = runBoth(std::string(kUnknown) + R"(
    %c = pdg.lt %seven, %zero : tensor<i64>, tensor<i64>
    pdg.assert %c, ["", " is not below ", ""] [#pdg.format<>, #pdg.format<>]
        (%seven, %zero : tensor<i64>, tensor<i64>)
  )");
  EXPECT_EQ(outcome.error.message, "7 is not below 0");
}

//===- Sizes ---------------------------------------------------------------===//

/// A loop over batches of 2, 2 and 1 examples around `body`, where %x is the batch.
Outcome runBatches(const std::string &body) {
  std::string file = testing::TempDir() + "pdg_op_tests_five.csv";
  std::ofstream(file) << "a,b\n1,2\n3,4\n5,6\n7,8\n9,10\n";
  return runBoth("pdg.for_each @rows {\n^bb0(%i: tensor<i64>, %x: tensor<?x2xf32>):\n" + body +
                     "pdg.yield\n}",
                 "pdg.source @rows \"csv\" [\"" + file + "\"] batch 2 : [tensor<2xf32>]\n");
}

TEST(RunErrors, SizesThatDiffer) {
  Outcome outcome = runBatches(R"(
    %two = pdg.constant dense<1.0> : tensor<2x2xf32>
    %y = pdg.add %x, %two : tensor<?x2xf32>, tensor<2x2xf32>
    %s = pdg.sum %y axis 0 : tensor<2x2xf32>
  )" + print("%s", "tensor<2xf32>"));
  EXPECT_EQ(outcome.error.code, "PD2003");
  EXPECT_EQ(outcome.error.message, "sizes 1 and 2 differ");
  EXPECT_EQ(outcome.lines.size(), 2u);
}

TEST(RunErrors, SizesOfProducts) {
  Outcome outcome = runBatches(R"(
    %two = pdg.constant dense<1.0> : tensor<2x3xf32>
    %y = pdg.contract "ki,kj->ij" %x, %two leaves : tensor<?x2xf32>, tensor<2x3xf32>
  )" + print("%y", "tensor<2x3xf32>"));
  EXPECT_EQ(outcome.error.message, "sizes 1 and 2 differ");
}

/// A fixed part of an axis that is sometimes shorter.
TEST(RunErrors, SlicesBeyondTheEnd) {
  Outcome outcome = runBatches(R"(
    %y = pdg.slice %x axis 0 from 1 size 1 : tensor<?x2xf32>
  )" + print("%y", "tensor<1x2xf32>"));
  EXPECT_EQ(outcome.error.message, "sizes 2 and 1 differ");
  EXPECT_EQ(outcome.lines.size(), 2u);
}

TEST(RunErrors, SlicesThatBeginBeyondTheEnd) {
  Outcome outcome = runBatches(R"(
    %y = pdg.slice %x axis 0 from 2 size -1 : tensor<?x2xf32>
    %n = pdg.dim %y axis 0 : tensor<?x2xf32>
  )" + print("%n", "tensor<i64>"));
  EXPECT_EQ(outcome.error.message, "sizes 2 and 1 differ");
}

} // namespace
} // namespace pdg
