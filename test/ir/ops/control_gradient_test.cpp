// Gradients through conditions, bounded loops, variables and casts, against finite differences.
// SPDX-License-Identifier: Apache-2.0
#include "test/ir/ops/differences.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace pdg {
namespace {

/// Differentiates the program `text`, which fetches "loss" and gradients "loss0", ... for the f64
/// inputs `names`, and compares.
void checkProgram(const std::string &text, std::vector<std::pair<std::string, int64_t>> names,
                  double step = 0x1p-17, double tolerance = 2e-6) {
  TestContext test;
  Random random(5);
  OwningOpRef<ModuleOp> module = test.parse(text);
  ASSERT_TRUE(module && simplify(test, *module)) << test.reports;
  Tensors inputs;
  for (auto [name, size] : names)
    inputs[name] = randomTensor(random, DType::F64, {size}, Style::Signed);
  for (auto [i, name] : llvm::enumerate(names))
    checkDifferences(test, *module, inputs, {"loss", i, name.first, step, tolerance}, text);
}

TEST(ControlGradients, OfConditions) {
  for (const char *limit : {"-100.0", "100.0"})
    checkProgram(std::string(R"(pdg.program {
      %x = pdg.input "x" : tensor<3xf64>
      %y = pdg.input "y" : tensor<3xf64>
      %unused = pdg.input "z" : tensor<2xf64>
      %sum = pdg.sum %x axis 0 : tensor<3xf64>
      %limit = pdg.constant dense<)") +
                     limit + R"(> : tensor<f64>
      %c = pdg.lt %sum, %limit : tensor<f64>, tensor<f64>
      %a, %b = pdg.if %c -> tensor<3xf64>, tensor<f64> {
        %q = pdg.mul %x, %x : tensor<3xf64>, tensor<3xf64>
        pdg.yield %q, %sum : tensor<3xf64>, tensor<f64>
      } else {
        %s = pdg.sin %x : tensor<3xf64>
        %p = pdg.mul %s, %y : tensor<3xf64>, tensor<3xf64>
        %m = pdg.reduce_max %y axis 0 : tensor<3xf64>
        pdg.yield %p, %m : tensor<3xf64>, tensor<f64>
      }
      %t = pdg.sum %a axis 0 : tensor<3xf64>
      %u = pdg.mul %t, %b : tensor<f64>, tensor<f64>
      %loss = pdg.add %u, %sum : tensor<f64>, tensor<f64>
      %gx, %gy, %gz = pdg.gradient %loss of [] %x, %y, %unused
          : tensor<3xf64>, tensor<3xf64>, tensor<2xf64> : tensor<f64>
          -> tensor<3xf64>, tensor<3xf64>, tensor<2xf64>
      pdg.fetch "loss", %loss : tensor<f64>
      pdg.fetch "loss0", %gx : tensor<3xf64>
      pdg.fetch "loss1", %gy : tensor<3xf64>
      pdg.fetch "loss2", %gz : tensor<2xf64>
      pdg.yield
    })",
                 {{"x", 3}, {"y", 3}, {"z", 2}});
}

/// A recurrent network: the weights are used in every iteration, a condition depends on the
/// counter, two values change places.
TEST(ControlGradients, OfLoops) {
  for (const char *trips : {"0", "1", "4"})
    checkProgram(std::string(R"(pdg.program {
      %w = pdg.input "w" : tensor<9xf64>
      %x = pdg.input "x" : tensor<12xf64>
      %h0 = pdg.input "h" : tensor<3xf64>
      %k = pdg.reshape %w to [3, 3] : tensor<9xf64>
      %xs = pdg.reshape %x to [4, 3] : tensor<12xf64>
      %zero = pdg.constant dense<0> : tensor<i64>
      %two = pdg.constant dense<2> : tensor<i64>
      %n = pdg.constant dense<)") +
                     trips + R"(> : tensor<i64>
      %h, %g = pdg.for %zero to %n carry (%h0, %h0 : tensor<3xf64>, tensor<3xf64>)
          -> tensor<3xf64>, tensor<3xf64> {
      ^bb0(%i: tensor<i64>, %a: tensor<3xf64>, %b: tensor<3xf64>):
        %row = pdg.gather %xs, %i : tensor<4x3xf64>, tensor<i64>
        %p = pdg.contract "ij,j->i" %k, %a : tensor<3x3xf64>, tensor<3xf64>
        %s = pdg.add %p, %row : tensor<3xf64>, tensor<3xf64>
        %early = pdg.lt %i, %two : tensor<i64>, tensor<i64>
        %t = pdg.if %early -> tensor<3xf64> {
          %u = pdg.tanh %s : tensor<3xf64>
          pdg.yield %u : tensor<3xf64>
        } else {
          %u = pdg.mul %s, %b : tensor<3xf64>, tensor<3xf64>
          pdg.yield %u : tensor<3xf64>
        }
        pdg.yield %b, %t : tensor<3xf64>, tensor<3xf64>
      }
      %c = pdg.contract "i,i->" %h, %g : tensor<3xf64>, tensor<3xf64>
      %d = pdg.sum %g axis 0 : tensor<3xf64>
      %loss = pdg.add %c, %d : tensor<f64>, tensor<f64>
      %gw, %gx, %gh = pdg.gradient %loss of [] %w, %x, %h0
          : tensor<9xf64>, tensor<12xf64>, tensor<3xf64> : tensor<f64>
          -> tensor<9xf64>, tensor<12xf64>, tensor<3xf64>
      pdg.fetch "loss", %loss : tensor<f64>
      pdg.fetch "loss0", %gw : tensor<9xf64>
      pdg.fetch "loss1", %gx : tensor<12xf64>
      pdg.fetch "loss2", %gh : tensor<3xf64>
      pdg.yield
    })",
                 {{"w", 9}, {"x", 12}, {"h", 3}});
}

/// Loops that end early: after some rounds, after the first, at their bound; a loop in a loop; what
/// happens inside happens once.
TEST(ControlGradients, OfLoopsThatEndEarly) {
  for (const char *limit : {"-100.0", "4.0", "1000.0"})
    for (const char *bound : {"0", "1", "7"})
      checkProgram(std::string(R"(pdg.program {
      %w = pdg.input "w" : tensor<3xf64>
      %h0 = pdg.input "h" : tensor<3xf64>
      %zero = pdg.constant dense<0> : tensor<i64>
      %two = pdg.constant dense<2> : tensor<i64>
      %none = pdg.constant dense<0.0> : tensor<f64>
      %limit = pdg.constant dense<)") +
                       limit + R"(> : tensor<f64>
      %n = pdg.constant dense<)" +
                       bound + R"(> : tensor<i64>
      %h, %s = pdg.for %zero to %n carry (%h0, %none : tensor<3xf64>, tensor<f64>)
          -> tensor<3xf64>, tensor<f64> {
      ^bb0(%i: tensor<i64>, %a: tensor<3xf64>, %total: tensor<f64>):
        %inner = pdg.for %zero to %n carry (%a : tensor<3xf64>) -> tensor<3xf64> {
        ^bb0(%j: tensor<i64>, %b: tensor<3xf64>):
          pdg.print ["round ", ""] [#pdg.format<>] (%j : tensor<i64>)
          %p = pdg.mul %b, %w : tensor<3xf64>, tensor<3xf64>
          %q = pdg.sin %p : tensor<3xf64>
          %less = pdg.lt %j, %i : tensor<i64>, tensor<i64>
          pdg.yield %q : tensor<3xf64> while %less
        }
        %sum = pdg.add %inner, %a : tensor<3xf64>, tensor<3xf64>
        %square = pdg.mul %sum, %sum : tensor<3xf64>, tensor<3xf64>
        %norm = pdg.sum %square axis 0 : tensor<3xf64>
        %small = pdg.lt %norm, %limit : tensor<f64>, tensor<f64>
        %next = pdg.add %total, %norm : tensor<f64>, tensor<f64>
        pdg.yield %sum, %next : tensor<3xf64>, tensor<f64> while %small
      }
      %d = pdg.contract "i,i->" %h, %w : tensor<3xf64>, tensor<3xf64>
      %loss = pdg.add %d, %s : tensor<f64>, tensor<f64>
      %gw, %gh = pdg.gradient %loss of [] %w, %h0 : tensor<3xf64>, tensor<3xf64> : tensor<f64>
          -> tensor<3xf64>, tensor<3xf64>
      pdg.fetch "loss", %loss : tensor<f64>
      pdg.fetch "loss0", %gw : tensor<3xf64>
      pdg.fetch "loss1", %gh : tensor<3xf64>
      pdg.yield
    })",
                   {{"w", 3}, {"h", 3}});
}

/// All reads of a variable that the loss depends on count, also those in a loop.
TEST(ControlGradients, OfVariables) {
  checkProgram(R"(pdg.variable <"w"> : tensor<3xf64> param {
      %w = pdg.input "w" : tensor<3xf64>
      pdg.yield %w : tensor<3xf64>
    }
    pdg.program {
      %zero = pdg.constant dense<0> : tensor<i64>
      %n = pdg.constant dense<3> : tensor<i64>
      %a = pdg.read <"w"> : tensor<3xf64>
      %h = pdg.for %zero to %n carry (%a : tensor<3xf64>) -> tensor<3xf64> {
      ^bb0(%i: tensor<i64>, %c: tensor<3xf64>):
        %v = pdg.read <"w"> : tensor<3xf64>
        %s = pdg.sin %c : tensor<3xf64>
        %p = pdg.mul %s, %v : tensor<3xf64>, tensor<3xf64>
        pdg.yield %p : tensor<3xf64>
      }
      %loss = pdg.sum %h axis 0 : tensor<3xf64>
      %g = pdg.gradient %loss of [#pdg.name<"w">] : tensor<f64> -> tensor<3xf64>
      pdg.assign <"w">, %g : tensor<3xf64>
      pdg.fetch "loss", %loss : tensor<f64>
      pdg.fetch "loss0", %g : tensor<3xf64>
      pdg.yield
    })",
               {{"w", 3}});
}

/// f32 in the middle: differences are coarse, so the function is linear.
TEST(ControlGradients, OfCasts) {
  checkProgram(R"(pdg.program {
      %x = pdg.input "x" : tensor<5xf64>
      %narrow = pdg.cast %x to f32 : tensor<5xf64>
      %three = pdg.constant dense<3.0> : tensor<5xf32>
      %p = pdg.mul %narrow, %three : tensor<5xf32>, tensor<5xf32>
      %wide = pdg.cast %p to f64 : tensor<5xf32>
      %whole = pdg.cast %x to i32 : tensor<5xf64>
      %back = pdg.cast %whole to f64 : tensor<5xi32>
      %q = pdg.add %wide, %back : tensor<5xf64>, tensor<5xf64>
      %loss = pdg.sum %q axis 0 : tensor<5xf64>
      %g = pdg.gradient %loss of [] %x : tensor<5xf64> : tensor<f64> -> tensor<5xf64>
      pdg.fetch "loss", %loss : tensor<f64>
      pdg.fetch "loss0", %g : tensor<5xf64>
      pdg.yield
    })",
               {{"x", 5}}, 0x1p-7, 1e-4);
}

/// A gradient through `depth` loops inside each other, of x * 1 in the innermost one.
std::string nestOf(int depth) {
  std::string text = R"(pdg.program {
      %x = pdg.input "x" : tensor<f64>
      %zero = pdg.constant dense<0> : tensor<i64>
      %n = pdg.constant dense<1> : tensor<i64>
      %one = pdg.constant dense<1.0> : tensor<f64>
  )";
  std::string carried = "x", end;
  for (int i = 0; i < depth; ++i) {
    std::string number = std::to_string(i);
    text += "%l" + number + " = pdg.for %zero to %n carry (%" + carried +
            " : tensor<f64>) -> tensor<f64> {\n^bb0(%i" + number + ": tensor<i64>, %c" + number +
            ": tensor<f64>):\n";
    carried = "c" + number;
    end = "pdg.yield %" + (i + 1 < depth ? "l" + std::to_string(i + 1) : std::string("m")) +
          " : tensor<f64>\n}\n" + end;
  }
  return text + "%m = pdg.mul %" + carried + ", %one : tensor<f64>, tensor<f64>\n" + end + R"(
      %g = pdg.gradient %l0 of [] %x : tensor<f64> : tensor<f64> -> tensor<f64>
      pdg.fetch "g", %g : tensor<f64>
      pdg.yield
    })";
}

TEST(ControlGradients, OfLoopsInsideEachOther) {
  for (auto [depth, isGood] : {std::pair(32, true), {33, false}}) {
    TestContext test;
    OwningOpRef<ModuleOp> module = test.parse(nestOf(depth));
    ASSERT_TRUE(module) << test.reports;
    EXPECT_EQ(simplify(test, *module), isGood) << test.reports;
    EXPECT_EQ(test.reports.find("33 loops lie inside each other, at most 32 may") ==
                  std::string::npos,
              isGood)
        << test.reports;
  }
}

} // namespace
} // namespace pdg
