// Native code gives the bits of the interpreter on whole programs: what fuses, shares memory and
// is computed in the place of a variable. Random ones, and the small ones that once went wrong.
// SPDX-License-Identifier: Apache-2.0
#include "test/ir/ops/random_program.h"

#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

#include <fstream>

using namespace mlir;

namespace pdg {
namespace {

/// Programs of this many seeds, or of PDG_PROGRAMS "first count".
constexpr uint64_t kPrograms = 100;
constexpr int kOps = 20;
/// The programs are shared among this many tests, which may run beside each other.
constexpr uint64_t kParts = 4;

std::string writeRows() {
  std::string file = testing::TempDir() + "pdg_op_tests_numbers.csv";
  std::ofstream out(file);
  out << "a,b\n";
  for (int i = 0; i < 41; ++i)
    out << i * 0.25 << "," << 7 - i << "\n";
  return file;
}

void checkProgram(TestContext &test, uint64_t seed, const std::string &rowsFile) {
  test.reports.clear();
  RandomProgram program = makeRandomProgram(test, seed, kOps, rowsFile);
  ASSERT_TRUE(succeeded(verify(*program.module))) << test.reports << "seed " << seed;
  std::string difference = compareNative(test, *program.module, program.inputs, targetOfTurn(seed));
  if (difference.empty())
    return;
  std::string text;
  llvm::raw_string_ostream(text) << *program.module;
  ADD_FAILURE() << "seed " << seed << ": " << difference << test.reports << text;
}

class RandomPrograms : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomPrograms, GiveTheBitsOfTheInterpreter) {
  TestContext test;
  std::string rowsFile = writeRows();
  uint64_t first = 1, count = kPrograms;
  if (const char *choice = std::getenv("PDG_PROGRAMS"))
    std::istringstream(choice) >> first >> count;
  for (uint64_t seed = first + GetParam(); seed < first + count; seed += kParts) {
    checkProgram(test, seed, rowsFile);
    if (testing::Test::HasFailure())
      return;
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomPrograms, testing::Range(uint64_t(0), kParts));

/// A text that runs equally in both ways.
void checkText(const std::string &text, const Tensors &inputs = {}) {
  TestContext test;
  OwningOpRef<ModuleOp> module = test.parse(text);
  ASSERT_TRUE(module);
  EXPECT_EQ(compareNative(test, *module, inputs), "") << text << test.reports;
}

/// A size that only a view asks for is needed until the last use of the view.
TEST(NativePrograms, KeepSizesOfViews) {
  Random random(7);
  Tensors inputs{{"x", randomTensor(random, DType::F32, {24}, Style::Plain)}};
  checkText(R"(pdg.program {
    %seed = pdg.seed
    %one = pdg.constant dense<1> : tensor<i64>
    %n = pdg.sub %seed, %one : tensor<i64>, tensor<i64>
    %x = pdg.input "x" : tensor<24xf32>
    %v = pdg.reshape %x to [%n, 4] : tensor<24xf32>
    %a = pdg.exp %x : tensor<24xf32>
    %b = pdg.sum %a axis 0 : tensor<24xf32>
    %c = pdg.neg %b : tensor<f32>
    %s = pdg.sum %v axis 0 : tensor<?x4xf32>
    pdg.fetch "c", %c : tensor<f32>
    pdg.fetch "s", %s : tensor<4xf32>
    pdg.yield
  })",
            inputs);
}

/// A broadcast that is used where it is not an element op, and an index that is one.
TEST(NativePrograms, KeepCheckedElements) {
  Random random(9);
  Tensors inputs{{"x", randomTensor(random, DType::F32, {4, 3}, Style::Plain)}};
  checkText(R"(pdg.program {
    %x = pdg.input "x" : tensor<4x3xf32>
    %two = pdg.constant dense<2> : tensor<i64>
    %ids = pdg.broadcast %two to [5] : tensor<i64>
    %at = pdg.iota i64 axis 0 to [4]
    %a = pdg.gather %x, %ids : tensor<4x3xf32>, tensor<5xi64>
    %b = pdg.gather %x, %at : tensor<4x3xf32>, tensor<4xi64>
    %c = pdg.add %x, %b : tensor<4x3xf32>, tensor<4x3xf32>
    %k = pdg.cast %at to f32 : tensor<4xi64>
    %row = pdg.constant dense<1> : tensor<4xi64>
    %p = pdg.pick %c, %row : tensor<4x3xf32>, tensor<4xi64>
    %q = pdg.mul %p, %k : tensor<4xf32>, tensor<4xf32>
    pdg.fetch "a", %a : tensor<5x3xf32>
    pdg.fetch "ids", %ids : tensor<5xi64>
    pdg.fetch "q", %q : tensor<4xf32>
    pdg.yield
  })",
            inputs);
}

/// An axis of size 1 that only the analysis of sizes knows to be 1.
TEST(NativePrograms, RepeatKnownOnes) {
  Random random(10);
  Tensors inputs{{"x", randomTensor(random, DType::F32, {1, 3}, Style::Plain)}};
  for (const char *size : {"1", "4"})
    checkText(std::string(R"(pdg.program {
      %x = pdg.input "x" : tensor<1x3xf32>
      %n = pdg.dim %x axis 0 : tensor<1x3xf32>
      %k = pdg.constant dense<)") +
                  size + R"(> : tensor<i64>
      %y = pdg.reshape %x to [%n, 3] : tensor<1x3xf32>
      %z = pdg.broadcast %y to [%k, 3] : tensor<?x3xf32>
      %e = pdg.exp %z : tensor<?x3xf32>
      pdg.fetch "e", %e : tensor<?x3xf32>
      pdg.yield
    })",
              inputs);
}

/// The sides of a condition give values of different sizes: refused, not computed wrongly.
TEST(NativePrograms, RefuseSizesThatChange) {
  TestContext test;
  OwningOpRef<ModuleOp> module = test.parse(R"(
  pdg.source @rows "csv" ["rows.csv"] batch 24 : [tensor<2xf32>]
  pdg.program {
    %one = pdg.constant dense<1> : tensor<i64>
    pdg.for_each @rows {
    ^bb0(%i: tensor<i64>, %x: tensor<?x2xf32>):
      %c = pdg.lt %i, %one : tensor<i64>, tensor<i64>
      %y = pdg.if %c -> tensor<?x2xf32> {
        %half = pdg.slice %x axis 0 from 5 size -1 : tensor<?x2xf32>
        pdg.yield %half : tensor<?x2xf32>
      } else {
        pdg.yield %x : tensor<?x2xf32>
      }
      %s = pdg.sum %y axis 0 : tensor<?x2xf32>
      pdg.fetch "s", %s : tensor<2xf32>
      pdg.yield
    }
    pdg.yield
  })");
  ASSERT_TRUE(module);
  std::vector<Outcome> outcomes = runNative(test, *module, Tensors(), targetOfTurn(0), {1});
  EXPECT_NE(outcomes[0].problem.find("whose sizes only the run knows"), std::string::npos);
}

/// Carried values that change places are too large for the stack.
TEST(NativePrograms, SwapLargeValues) {
  Random random(8);
  Tensors inputs;
  for (const char *name : {"x", "y"})
    inputs[name] = randomTensor(random, DType::F32, {3000000}, Style::Plain);
  checkText(R"(pdg.program {
    %zero = pdg.constant dense<0> : tensor<i64>
    %three = pdg.constant dense<3> : tensor<i64>
    %x = pdg.input "x" : tensor<3000000xf32>
    %y = pdg.input "y" : tensor<3000000xf32>
    %a, %b = pdg.for %zero to %three carry (%x, %y : tensor<3000000xf32>, tensor<3000000xf32>)
        -> tensor<3000000xf32>, tensor<3000000xf32> {
    ^bb0(%i: tensor<i64>, %p: tensor<3000000xf32>, %q: tensor<3000000xf32>):
      pdg.yield %q, %p : tensor<3000000xf32>, tensor<3000000xf32>
    }
    pdg.fetch "a", %a : tensor<3000000xf32>
    pdg.fetch "b", %b : tensor<3000000xf32>
    pdg.yield
  })",
            inputs);
}

/// Two variables change places; one is read before and after; a value that was computed in the
/// place of a variable is used once more.
TEST(NativePrograms, AssignInOrder) {
  checkText(R"(
  pdg.variable <"a"> : tensor<5xf32> { %c = pdg.constant dense<1.5> : tensor<5xf32>
    pdg.yield %c : tensor<5xf32> }
  pdg.variable <"b"> : tensor<5xf32> { %c = pdg.constant dense<-2.0> : tensor<5xf32>
    pdg.yield %c : tensor<5xf32> }
  pdg.program {
    %zero = pdg.constant dense<0> : tensor<i64>
    %three = pdg.constant dense<3> : tensor<i64>
    %first = pdg.read <"a"> : tensor<5xf32>
    pdg.for %zero to %three {
    ^bb0(%i: tensor<i64>):
      %a = pdg.read <"a"> : tensor<5xf32>
      %b = pdg.read <"b"> : tensor<5xf32>
      %n = pdg.mul %a, %b : tensor<5xf32>, tensor<5xf32>
      pdg.assign <"a">, %b : tensor<5xf32>
      %again = pdg.read <"a"> : tensor<5xf32>
      pdg.assign <"b">, %a : tensor<5xf32>
      %m = pdg.add %n, %again : tensor<5xf32>, tensor<5xf32>
      pdg.assign <"a">, %m : tensor<5xf32>
      %k = pdg.sub %m, %a : tensor<5xf32>, tensor<5xf32>
      pdg.fetch "k", %k : tensor<5xf32>
      pdg.yield
    }
    %last = pdg.read <"a"> : tensor<5xf32>
    %d = pdg.sub %last, %first : tensor<5xf32>, tensor<5xf32>
    pdg.fetch "d", %d : tensor<5xf32>
    pdg.yield
  })");
}

} // namespace
} // namespace pdg
