// What the iterations of a loop contribute to a gradient shares leaves: the order of
// docs/numbers.md, said again as plain loops, is what the interpreter and native code compute.
// SPDX-License-Identifier: Apache-2.0
#include "ir/interpret/evaluate_contraction.h"
#include "test/ir/ops/differences.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;

namespace pdg {
namespace {

constexpr int64_t kTrips = 3, kExamples = 64, kIn = 5, kOut = 19, kLeaves = 4, kRows = 7;
constexpr int64_t kLength = kExamples / kLeaves;

/// Weights, a bias and a table that are used in each iteration, the weights in two places. The
/// cotangents are %c of the iteration, and %c + %c for what is used twice as much.
constexpr const char *kProgram = R"(pdg.program {
  %w = pdg.input "w" : tensor<5x19xf32>
  %bias = pdg.input "bias" : tensor<19xf32>
  %table = pdg.input "table" : tensor<7x19xf32>
  %xs = pdg.input "x" : tensor<3x64x5xf32>
  %cs = pdg.input "c" : tensor<3x64x19xf32>
  %ids = pdg.input "ids" : tensor<3x64xi64>
  %zero = pdg.constant dense<0> : tensor<i64>
  %n = pdg.constant dense<3> : tensor<i64>
  %none = pdg.constant dense<0.0> : tensor<f32>
  %loss = pdg.for %zero to %n carry (%none : tensor<f32>) -> tensor<f32> {
  ^bb0(%i: tensor<i64>, %sum: tensor<f32>):
    %x = pdg.gather %xs, %i : tensor<3x64x5xf32>, tensor<i64>
    %c = pdg.gather %cs, %i : tensor<3x64x19xf32>, tensor<i64>
    %id = pdg.gather %ids, %i : tensor<3x64xi64>, tensor<i64>
    %p = pdg.contract "nk,kj->nj" %x, %w : tensor<64x5xf32>, tensor<5x19xf32>
    %row = pdg.reshape %bias to [1, 19] : tensor<19xf32>
    %b = pdg.broadcast %row to [64, 19] : tensor<1x19xf32>
    %q = pdg.add %p, %b : tensor<64x19xf32>, tensor<64x19xf32>
    %e = pdg.gather %table, %id : tensor<7x19xf32>, tensor<64xi64>
    %r = pdg.add %q, %e : tensor<64x19xf32>, tensor<64x19xf32>
    %t = pdg.transpose %w [1, 0] : tensor<5x19xf32>
    %y = pdg.neg %x : tensor<64x5xf32>
    %z = pdg.contract "nk,jk->nj" %y, %t : tensor<64x5xf32>, tensor<19x5xf32>
    %s = pdg.add %r, %z : tensor<64x19xf32>, tensor<64x19xf32>
    %m = pdg.mul %s, %c : tensor<64x19xf32>, tensor<64x19xf32>
    %rows = pdg.sum %m axis 1 : tensor<64x19xf32>
    %all = pdg.sum %rows axis 0 : tensor<64xf32>
    %next = pdg.add %sum, %all : tensor<f32>, tensor<f32>
    pdg.yield %next : tensor<f32>
  }
  %gw, %gb, %gt = pdg.gradient %loss of [] %w, %bias, %table
      : tensor<5x19xf32>, tensor<19xf32>, tensor<7x19xf32> : tensor<f32>
      -> tensor<5x19xf32>, tensor<19xf32>, tensor<7x19xf32>
  pdg.fetch "w", %gw : tensor<5x19xf32>
  pdg.fetch "bias", %gb : tensor<19xf32>
  pdg.fetch "table", %gt : tensor<7x19xf32>
  pdg.yield
})";

/// Joins one chain for each leaf: over iterations, backwards, the uses in each, and the terms of
/// the leaf.
template <class... Uses> float sumOf(Uses... uses) {
  SmallVector<float> leaves;
  for (int64_t leaf = 0; leaf < kLeaves; ++leaf) {
    float sum = 0;
    for (int64_t t = kTrips - 1; t >= 0; --t) {
      auto add = [&](auto use) {
        for (int64_t n = leaf * kLength; n < (leaf + 1) * kLength; ++n)
          use(t, n, sum);
      };
      (add(uses), ...);
    }
    leaves.push_back(sum);
  }
  return joinTree(leaves) + 0.0f;
}

Tensors inputsOf(Random &random, Style style) {
  Tensors inputs;
  inputs["w"] = randomTensor(random, DType::F32, {kIn, kOut}, Style::Signed);
  inputs["bias"] = randomTensor(random, DType::F32, {kOut}, Style::Signed);
  inputs["table"] = randomTensor(random, DType::F32, {kRows, kOut}, Style::Signed);
  inputs["x"] = randomTensor(random, DType::F32, {kTrips, kExamples, kIn}, style);
  inputs["c"] = randomTensor(random, DType::F32, {kTrips, kExamples, kOut}, style);
  inputs["ids"] = randomIndices(random, DType::I64, {kTrips, kExamples}, kRows - 1);
  return inputs;
}

Tensors expectedOf(const Tensors &inputs) {
  auto x = [&](int64_t t, int64_t n, int64_t i) {
    return inputs.at("x")->data<float>()[(t * kExamples + n) * kIn + i];
  };
  auto c = [&](int64_t t, int64_t n, int64_t j) {
    return inputs.at("c")->data<float>()[(t * kExamples + n) * kOut + j];
  };
  const int64_t *ids = inputs.at("ids")->data<int64_t>();
  Tensors expected;
  for (auto [name, shape] : {std::pair<const char *, std::vector<int64_t>>("w", {kIn, kOut}),
                             {"bias", {kOut}},
                             {"table", {kRows, kOut}}})
    expected[name] = std::make_shared<HostTensor>(HostTensor::create(DType::F32, shape).value());
  for (int64_t j = 0; j < kOut; ++j) {
    for (int64_t i = 0; i < kIn; ++i) {
      // In each iteration the last use comes first.
      expected["w"]->data<float>()[i * kOut + j] = sumOf(
          [&](int64_t t, int64_t n, float &sum) { sum = std::fma(-x(t, n, i), c(t, n, j), sum); },
          [&](int64_t t, int64_t n, float &sum) { sum = std::fma(x(t, n, i), c(t, n, j), sum); });
    }
    expected["bias"]->data<float>()[j] =
        sumOf([&](int64_t t, int64_t n, float &sum) { sum += c(t, n, j); });
    for (int64_t row = 0; row < kRows; ++row)
      expected["table"]->data<float>()[row * kOut + j] =
          sumOf([&](int64_t t, int64_t n, float &sum) {
            if (ids[t * kExamples + n] == row)
              sum += c(t, n, j);
          });
  }
  return expected;
}

std::string printed(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

TEST(Leaves, AreSharedByIterations) {
  TestContext test;
  Random random(11);
  OwningOpRef<ModuleOp> module = test.parse(kProgram);
  ASSERT_TRUE(module && simplify(test, *module)) << test.reports;
  for (Style style : {Style::Plain, Style::Signed}) {
    Tensors inputs = inputsOf(random, style), expected = expectedOf(inputs);
    Outcome outcome = interpretModule(test, *module, inputs);
    ASSERT_EQ(outcome.problem, "");
    for (const auto &[name, tensor] : expected)
      EXPECT_EQ(differenceOf(*tensor, outcome.values.at(name)), "") << name << printed(*module);
    EXPECT_EQ(compareNative(test, *module, inputs), "") << test.reports << printed(*module);
  }
}

/// The number of ops `name` in `module`.
int count(ModuleOp module, StringRef name) {
  int found = 0;
  module.walk([&](Operation *op) { found += op->getName().getStringRef() == name; });
  return found;
}

/// A recurrent network in a loop over the weights' uses: native code agrees, the chains of the
/// inner loop go on in the outer one, and a contribution that is no sum is added as it is.
TEST(Leaves, GoThroughNestedLoops) {
  TestContext test;
  Random random(12);
  OwningOpRef<ModuleOp> module = test.parse(R"(pdg.program {
    %w = pdg.input "w" : tensor<4x4xf32>
    %scale = pdg.input "scale" : tensor<32x4xf32>
    %h0 = pdg.input "h" : tensor<32x4xf32>
    %zero = pdg.constant dense<0> : tensor<i64>
    %two = pdg.constant dense<2> : tensor<i64>
    %three = pdg.constant dense<3> : tensor<i64>
    %h = pdg.for %zero to %two carry (%h0 : tensor<32x4xf32>) -> tensor<32x4xf32> {
    ^bb0(%i: tensor<i64>, %a: tensor<32x4xf32>):
      %b = pdg.for %zero to %three carry (%a : tensor<32x4xf32>) -> tensor<32x4xf32> {
      ^bb0(%j: tensor<i64>, %c: tensor<32x4xf32>):
        %p = pdg.contract "nk,kj->nj" %c, %w : tensor<32x4xf32>, tensor<4x4xf32>
        %t = pdg.tanh %p : tensor<32x4xf32>
        %q = pdg.mul %t, %scale : tensor<32x4xf32>, tensor<32x4xf32>
        pdg.yield %q : tensor<32x4xf32>
      }
      pdg.yield %b : tensor<32x4xf32>
    }
    %rows = pdg.sum %h axis 1 : tensor<32x4xf32>
    %loss = pdg.sum %rows axis 0 : tensor<32xf32>
    %gw, %gs = pdg.gradient %loss of [] %w, %scale
        : tensor<4x4xf32>, tensor<32x4xf32> : tensor<f32> -> tensor<4x4xf32>, tensor<32x4xf32>
    pdg.fetch "w", %gw : tensor<4x4xf32>
    pdg.fetch "scale", %gs : tensor<32x4xf32>
    pdg.yield
  })");
  ASSERT_TRUE(module && simplify(test, *module)) << test.reports;
  EXPECT_EQ(count(*module, "pdg.contract_leaves"), 1) << printed(*module);
  EXPECT_EQ(count(*module, "pdg.join_leaves"), 1) << printed(*module);
  EXPECT_EQ(count(*module, "pdg.contribute"), 0);
  Tensors inputs{{"w", randomTensor(random, DType::F32, {4, 4}, Style::Signed)},
                 {"scale", randomTensor(random, DType::F32, {32, 4}, Style::Signed)},
                 {"h", randomTensor(random, DType::F32, {32, 4}, Style::Signed)}};
  EXPECT_EQ(compareNative(test, *module, inputs), "") << test.reports << printed(*module);
}

/// An iteration in which a condition does not hold contributes nothing; a loop inside a branch is
/// gone through as well.
TEST(Leaves, GoThroughConditions) {
  TestContext test;
  Random random(16);
  OwningOpRef<ModuleOp> module = test.parse(R"(pdg.program {
    %w = pdg.input "w" : tensor<5x19xf32>
    %xs = pdg.input "x" : tensor<3x64x5xf32>
    %cs = pdg.input "c" : tensor<3x64x19xf32>
    %zero = pdg.constant dense<0> : tensor<i64>
    %one = pdg.constant dense<1> : tensor<i64>
    %n = pdg.constant dense<3> : tensor<i64>
    %none = pdg.constant dense<0.0> : tensor<f32>
    %loss = pdg.for %zero to %n carry (%none : tensor<f32>) -> tensor<f32> {
    ^bb0(%i: tensor<i64>, %sum: tensor<f32>):
      %skip = pdg.eq %i, %one : tensor<i64>, tensor<i64>
      %next = pdg.if %skip -> tensor<f32> {
        pdg.yield %sum : tensor<f32>
      } else {
        %t = pdg.for %zero to %one carry (%sum : tensor<f32>) -> tensor<f32> {
        ^bb0(%j: tensor<i64>, %s: tensor<f32>):
          %x = pdg.gather %xs, %i : tensor<3x64x5xf32>, tensor<i64>
          %c = pdg.gather %cs, %i : tensor<3x64x19xf32>, tensor<i64>
          %p = pdg.contract "nk,kj->nj" %x, %w : tensor<64x5xf32>, tensor<5x19xf32>
          %m = pdg.mul %p, %c : tensor<64x19xf32>, tensor<64x19xf32>
          %rows = pdg.sum %m axis 1 : tensor<64x19xf32>
          %all = pdg.sum %rows axis 0 : tensor<64xf32>
          %u = pdg.add %s, %all : tensor<f32>, tensor<f32>
          pdg.yield %u : tensor<f32>
        }
        pdg.yield %t : tensor<f32>
      }
      pdg.yield %next : tensor<f32>
    }
    %gw = pdg.gradient %loss of [] %w : tensor<5x19xf32> : tensor<f32> -> tensor<5x19xf32>
    pdg.fetch "w", %gw : tensor<5x19xf32>
    pdg.yield
  })");
  ASSERT_TRUE(module && simplify(test, *module)) << test.reports;
  EXPECT_EQ(count(*module, "pdg.contract_leaves"), 1) << printed(*module);
  Tensors inputs = inputsOf(random, Style::Plain);
  HostTensor expected = HostTensor::create(DType::F32, {kIn, kOut}).value();
  for (int64_t i = 0; i < kIn; ++i)
    for (int64_t j = 0; j < kOut; ++j)
      expected.data<float>()[i * kOut + j] = sumOf([&](int64_t t, int64_t n, float &sum) {
        if (t != 1)
          sum = std::fma(inputs["x"]->data<float>()[(t * kExamples + n) * kIn + i],
                         inputs["c"]->data<float>()[(t * kExamples + n) * kOut + j], sum);
      });
  Outcome outcome = interpretModule(test, *module, inputs);
  ASSERT_EQ(outcome.problem + outcome.error.message, "");
  EXPECT_EQ(differenceOf(expected, outcome.values.at("w")), "") << printed(*module);
  EXPECT_EQ(compareNative(test, *module, inputs), "") << test.reports << printed(*module);
}

/// How many leaves there are is the same whether the compiler or only the run knows the number of
/// examples.
TEST(Leaves, AreAsManyForSizesOfTheRun) {
  auto program = [](const std::string &n) {
    return R"(pdg.program {
      %w = pdg.input "w" : tensor<5x19xf32>
      %xs = pdg.input "x" : tensor<3x64x5xf32>
      %cs = pdg.input "c" : tensor<3x64x19xf32>
      %seed = pdg.seed
      %same = pdg.sub %seed, %seed : tensor<i64>, tensor<i64>
      %all = pdg.constant dense<64> : tensor<i64>
      %n = pdg.add %same, %all : tensor<i64>, tensor<i64>
      %zero = pdg.constant dense<0> : tensor<i64>
      %trips = pdg.constant dense<3> : tensor<i64>
      %none = pdg.constant dense<0.0> : tensor<f32>
      %loss = pdg.for %zero to %trips carry (%none : tensor<f32>) -> tensor<f32> {
      ^bb0(%i: tensor<i64>, %sum: tensor<f32>):
        %x0 = pdg.gather %xs, %i : tensor<3x64x5xf32>, tensor<i64>
        %c0 = pdg.gather %cs, %i : tensor<3x64x19xf32>, tensor<i64>
        %x = pdg.reshape %x0 to [)" +
           n + R"(, 5] : tensor<64x5xf32>
        %c = pdg.reshape %c0 to [)" +
           n + R"(, 19] : tensor<64x19xf32>
        %p = pdg.contract "nk,kj->nj" %x, %w : tensor<NUMx5xf32>, tensor<5x19xf32>
        %m = pdg.mul %p, %c : tensor<NUMx19xf32>, tensor<NUMx19xf32>
        %rows = pdg.sum %m axis 1 : tensor<NUMx19xf32>
        %total = pdg.sum %rows axis 0 : tensor<NUMxf32>
        %next = pdg.add %sum, %total : tensor<f32>, tensor<f32>
        pdg.yield %next : tensor<f32>
      }
      %gw = pdg.gradient %loss of [] %w : tensor<5x19xf32> : tensor<f32> -> tensor<5x19xf32>
      pdg.fetch "w", %gw : tensor<5x19xf32>
      pdg.yield
    })";
  };
  Random random(13);
  Tensors inputs = inputsOf(random, Style::Plain);
  std::vector<HostTensor> results;
  for (auto [size, number, leaves] :
       {std::tuple("64", "64", "tensor<4x5x19xf32>"), {"%n", "?", "tensor<16x5x19xf32>"}}) {
    TestContext test;
    std::string text = program(size);
    for (size_t at; (at = text.find("NUM")) != std::string::npos;)
      text.replace(at, 3, number);
    OwningOpRef<ModuleOp> module = test.parse(text);
    ASSERT_TRUE(module && simplify(test, *module)) << test.reports;
    EXPECT_NE(printed(*module).find(leaves), std::string::npos) << printed(*module);
    Outcome outcome = interpretModule(test, *module, inputs);
    ASSERT_EQ(outcome.problem + outcome.error.message, "");
    results.push_back(std::move(outcome.values.at("w")));
  }
  EXPECT_EQ(differenceOf(results[0], results[1]), "");
}

/// The gradient of a gradient runs the reversed loop backwards.
TEST(Leaves, HaveSecondDerivatives) {
  TestContext test;
  Random random(14);
  OwningOpRef<ModuleOp> module = test.parse(R"(pdg.program {
    %w = pdg.input "w" : tensor<2x2xf64>
    %h0 = pdg.input "h" : tensor<3x2xf64>
    %zero = pdg.constant dense<0> : tensor<i64>
    %n = pdg.constant dense<3> : tensor<i64>
    %h = pdg.for %zero to %n carry (%h0 : tensor<3x2xf64>) -> tensor<3x2xf64> {
    ^bb0(%i: tensor<i64>, %a: tensor<3x2xf64>):
      %p = pdg.contract "nk,kj->nj" %a, %w : tensor<3x2xf64>, tensor<2x2xf64>
      %t = pdg.tanh %p : tensor<3x2xf64>
      pdg.yield %t : tensor<3x2xf64>
    }
    %s = pdg.contract "nk,nk->" %h, %h : tensor<3x2xf64>, tensor<3x2xf64>
    %g = pdg.gradient %s of [] %w : tensor<2x2xf64> : tensor<f64> -> tensor<2x2xf64>
    %loss = pdg.contract "kj,kj->" %g, %g : tensor<2x2xf64>, tensor<2x2xf64>
    %gw, %gh = pdg.gradient %loss of [] %w, %h0
        : tensor<2x2xf64>, tensor<3x2xf64> : tensor<f64> -> tensor<2x2xf64>, tensor<3x2xf64>
    pdg.fetch "loss", %loss : tensor<f64>
    pdg.fetch "loss0", %gw : tensor<2x2xf64>
    pdg.fetch "loss1", %gh : tensor<3x2xf64>
    pdg.yield
  })");
  ASSERT_TRUE(module && simplify(test, *module)) << test.reports;
  Tensors inputs{{"w", randomTensor(random, DType::F64, {2, 2}, Style::Signed)},
                 {"h", randomTensor(random, DType::F64, {3, 2}, Style::Signed)}};
  checkDifferences(test, *module, inputs, {"loss", 0, "w"}, "second");
  checkDifferences(test, *module, inputs, {"loss", 1, "h"}, "second");
  EXPECT_EQ(compareNative(test, *module, inputs), "") << test.reports << printed(*module);
}

/// Old elements that are needed again are copied before they change.
TEST(Leaves, StayWhatTheyWere) {
  TestContext test;
  Random random(15);
  OwningOpRef<ModuleOp> module = test.parse(R"(pdg.program {
    %x = pdg.input "x" : tensor<64x3xf32>
    %ids = pdg.constant dense<1> : tensor<64xi64>
    %old = pdg.input "old" : tensor<4x3xf32>
    %table = pdg.input "table" : tensor<4x2x3xf32>
    %row = pdg.input "row" : tensor<3xf32>
    %one = pdg.constant dense<1> : tensor<i64>
    %far = pdg.constant dense<3> : tensor<i64>
    %e = pdg.exp %old : tensor<4x3xf32>
    %a = pdg.sum_leaves %x onto %e : tensor<64x3xf32>, tensor<4x3xf32>
    %b = pdg.sum_leaves %x onto %e : tensor<64x3xf32>, tensor<4x3xf32>
    %c = pdg.sum_leaves %x onto %b : tensor<64x3xf32>, tensor<4x3xf32>
    %u = pdg.update_row %c, %row at %one : tensor<4x3xf32>, tensor<3xf32>
    %v = pdg.update_row %u, %row at %far : tensor<4x3xf32>, tensor<3xf32>
    %t = pdg.scatter_leaves %x at %ids onto %table
        : tensor<64xi64>, tensor<64x3xf32>, tensor<4x2x3xf32>
    pdg.fetch "a", %a : tensor<4x3xf32>
    pdg.fetch "e", %e : tensor<4x3xf32>
    pdg.fetch "u", %u : tensor<4x3xf32>
    pdg.fetch "v", %v : tensor<4x3xf32>
    pdg.fetch "t", %t : tensor<4x2x3xf32>
    pdg.fetch "table", %table : tensor<4x2x3xf32>
    pdg.yield
  })");
  ASSERT_TRUE(module && simplify(test, *module)) << test.reports;
  Tensors inputs{{"x", randomTensor(random, DType::F32, {64, 3}, Style::Signed)},
                 {"old", randomTensor(random, DType::F32, {4, 3}, Style::Signed)},
                 {"table", randomTensor(random, DType::F32, {4, 2, 3}, Style::Signed)},
                 {"row", randomTensor(random, DType::F32, {3}, Style::Signed)}};
  EXPECT_EQ(compareNative(test, *module, inputs), "") << test.reports << printed(*module);
}

} // namespace
} // namespace pdg
