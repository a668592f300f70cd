// Whatever the iterations of a loop contribute to a gradient shares leaves: of convolutions, of
// parts of a value, of several uses. The order of docs/numbers.md, said again as plain loops.
// SPDX-License-Identifier: Apache-2.0
#include "ir/interpret/evaluate_contraction.h"
#include "test/ir/ops/op_runner.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;

namespace pdg {
namespace {

constexpr int64_t kTrips = 3, kExamples = 32, kLeaves = 2, kLength = kExamples / kLeaves;

/// Elements of a row-major tensor by index.
struct View {
  const float *data;
  std::vector<int64_t> shape;
  explicit View(const HostTensor &tensor) : data(tensor.data<float>()), shape(tensor.shape()) {}
  template <class... Index> float operator()(Index... index) const {
    int64_t at = 0, axis = 0;
    ((at = at * shape[axis++] + index), ...);
    return data[at];
  }
};

/// The chain of each leaf over iterations, backwards; `add` goes on with the chain of `leaf`, the
/// examples of which are from `begin` to `end`.
float joined(llvm::function_ref<void(int64_t t, int64_t leaf, float &sum)> add) {
  SmallVector<float> leaves;
  for (int64_t leaf = 0; leaf < kLeaves; ++leaf) {
    float sum = 0;
    for (int64_t t = kTrips - 1; t >= 0; --t)
      add(t, leaf, sum);
    leaves.push_back(sum);
  }
  return joinTree(leaves) + 0.0f;
}

/// A loop over %i with `body`, which adds %all to the loss, and the gradients of `wrt`.
class LoopProgram {
public:
  LoopProgram &input(const std::string &name, std::vector<int64_t> shape, bool isWanted = false) {
    auto tensor = randomTensor(random_, DType::F32, shape, Style::Plain);
    inputs[name] = tensor;
    std::string type = typeOf(shape);
    text_ += "%" + name + " = pdg.input \"" + name + "\" : " + type + "\n";
    if (isWanted)
      wanted_.emplace_back(name, type);
    return *this;
  }

  /// Runs the program both ways; gives the gradients.
  std::map<std::string, HostTensor> run(const std::string &body) {
    std::string names, types, fetches;
    for (auto [i, wanted] : llvm::enumerate(wanted_)) {
      const auto &[name, type] = wanted;
      names += (i ? ", %" : "%") + name;
      types += (i ? ", " : "") + type;
      fetches += "pdg.fetch \"" + name + "\", %grad#" + std::to_string(i) + " : " + type + "\n";
    }
    std::string program = "pdg.program {\n" + text_ + R"(
      %zero = pdg.constant dense<0> : tensor<i64>
      %n = pdg.constant dense<3> : tensor<i64>
      %none = pdg.constant dense<0.0> : tensor<f32>
      %loss = pdg.for %zero to %n carry (%none : tensor<f32>) -> tensor<f32> {
      ^bb0(%i: tensor<i64>, %sum: tensor<f32>):
      )" + body + R"(
        %next = pdg.add %sum, %all : tensor<f32>, tensor<f32>
        pdg.yield %next : tensor<f32>
      }
      %grad:)" + std::to_string(wanted_.size()) +
                          " = pdg.gradient %loss of [] " + names + " : " + types +
                          " : tensor<f32> -> " + types + "\n" + fetches + "pdg.yield }";
    TestContext test;
    OwningOpRef<ModuleOp> module = test.parse(program);
    EXPECT_TRUE(module && simplify(test, *module)) << test.reports << program;
    if (!module)
      return {};
    std::string graph;
    llvm::raw_string_ostream(graph) << *module;
    Outcome outcome = interpretModule(test, *module, inputs);
    EXPECT_EQ(outcome.problem + outcome.error.message, "") << graph;
    EXPECT_EQ(compareNative(test, *module, inputs, targetOfTurn(0)), "") << test.reports << graph;
    EXPECT_EQ(compareNative(test, *module, inputs, targetOfTurn(1)), "") << test.reports << graph;
    return std::move(outcome.values);
  }

  View at(const std::string &name) { return View(*inputs.at(name)); }

  Tensors inputs;

private:
  static std::string typeOf(const std::vector<int64_t> &shape) {
    std::string text = "tensor<";
    for (int64_t size : shape)
      text += std::to_string(size) + "x";
    return text + "f32>";
  }

  Random random_{21};
  std::string text_;
  std::vector<std::pair<std::string, std::string>> wanted_;
};

TEST(LeavesOfUses, OfConvolutions) {
  LoopProgram program;
  program.input("w", {2, 1, 2, 2}, true)
      .input("x", {kTrips, kExamples, 1, 3, 4})
      .input("c", {kTrips, kExamples, 2, 2, 3});
  auto found = program.run(R"(
    %xi = pdg.gather %x, %i : tensor<3x32x1x3x4xf32>, tensor<i64>
    %ci = pdg.gather %c, %i : tensor<3x32x2x2x3xf32>, tensor<i64>
    %y = pdg.conv2d %xi, %w stride [1, 1] padding [0, 0, 0, 0] dilation [1, 1] groups 1
        : tensor<32x1x3x4xf32>, tensor<2x1x2x2xf32>
    %m = pdg.mul %y, %ci : tensor<32x2x2x3xf32>, tensor<32x2x2x3xf32>
    %flat = pdg.reshape %m to [384] : tensor<32x2x2x3xf32>
    %all = pdg.sum %flat axis 0 : tensor<384xf32>
  )");
  View x = program.at("x"), c = program.at("c"), w(found.at("w"));
  for (int64_t o = 0; o < 2; ++o)
    for (int64_t u = 0; u < 2; ++u)
      for (int64_t v = 0; v < 2; ++v)
        EXPECT_EQ(w(o, 0, u, v), joined([&](int64_t t, int64_t leaf, float &sum) {
                    for (int64_t n = leaf * kLength; n < (leaf + 1) * kLength; ++n)
                      for (int64_t i = 0; i < 2; ++i)
                        for (int64_t j = 0; j < 3; ++j)
                          sum = std::fma(x(t, n, 0, i + u, j + v), c(t, n, o, i, j), sum);
                  }));
}

/// A row of a table and a slice of a matrix, in an inner loop over the rows: each row is used in
/// every iteration of the outer loop.
TEST(LeavesOfUses, OfParts) {
  LoopProgram program;
  program.input("table", {2, 5, 3}, true)
      .input("wide", {5, 9}, true)
      .input("x", {kTrips, 2, kExamples, 5})
      .input("c", {kTrips, 2, kExamples, 3});
  auto found = program.run(R"(
    %two = pdg.constant dense<2> : tensor<i64>
    %xi = pdg.gather %x, %i : tensor<3x2x32x5xf32>, tensor<i64>
    %ci = pdg.gather %c, %i : tensor<3x2x32x3xf32>, tensor<i64>
    %all = pdg.for %zero to %two carry (%none : tensor<f32>) -> tensor<f32> {
    ^bb0(%k: tensor<i64>, %inner: tensor<f32>):
      %xk = pdg.gather %xi, %k : tensor<2x32x5xf32>, tensor<i64>
      %ck = pdg.gather %ci, %k : tensor<2x32x3xf32>, tensor<i64>
      %row = pdg.gather %table, %k : tensor<2x5x3xf32>, tensor<i64>
      %p = pdg.contract "nk,kj->nj" %xk, %row : tensor<32x5xf32>, tensor<5x3xf32>
      %part = pdg.slice %wide axis 1 from 2 size 3 step 3 : tensor<5x9xf32>
      %q = pdg.contract "nk,kj->nj" %xk, %part : tensor<32x5xf32>, tensor<5x3xf32>
      %r = pdg.add %p, %q : tensor<32x3xf32>, tensor<32x3xf32>
      %m = pdg.mul %r, %ck : tensor<32x3xf32>, tensor<32x3xf32>
      %flat = pdg.reshape %m to [96] : tensor<32x3xf32>
      %s = pdg.sum %flat axis 0 : tensor<96xf32>
      %t = pdg.add %inner, %s : tensor<f32>, tensor<f32>
      pdg.yield %t : tensor<f32>
    }
  )");
  View x = program.at("x"), c = program.at("c"), table(found.at("table")), wide(found.at("wide"));
  auto chain = [&](int64_t t, int64_t k, int64_t leaf, int64_t i, int64_t j, float &sum) {
    for (int64_t n = leaf * kLength; n < (leaf + 1) * kLength; ++n)
      sum = std::fma(x(t, k, n, i), c(t, k, n, j), sum);
  };
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t j = 0; j < 9; ++j) {
      EXPECT_EQ(wide(i, j), joined([&](int64_t t, int64_t leaf, float &sum) {
                  for (int64_t k : {1, 0})
                    if (j % 3 == 2)
                      chain(t, k, leaf, i, j / 3, sum);
                }));
      for (int64_t k = 0; k < 2 && j < 3; ++k)
        EXPECT_EQ(table(k, i, j), joined([&](int64_t t, int64_t leaf, float &sum) {
                    chain(t, k, leaf, i, j, sum);
                  }));
    }
}

/// Two contractions, one of the transposed value and one with no leaves, an element-wise use and a
/// row: one chain a leaf, the last use first. What is no sum is one term of leaf 0.
TEST(LeavesOfUses, OfSeveralKinds) {
  LoopProgram program;
  program.input("w", {5, 3}, true)
      .input("x", {kTrips, kExamples, 5})
      .input("c", {kTrips, kExamples, 3})
      .input("d", {kTrips, 5, 3})
      .input("e", {kTrips, 3});
  auto found = program.run(R"(
    %one = pdg.constant dense<1> : tensor<i64>
    %xi = pdg.gather %x, %i : tensor<3x32x5xf32>, tensor<i64>
    %ci = pdg.gather %c, %i : tensor<3x32x3xf32>, tensor<i64>
    %di = pdg.gather %d, %i : tensor<3x5x3xf32>, tensor<i64>
    %ei = pdg.gather %e, %i : tensor<3x3xf32>, tensor<i64>
    %p = pdg.contract "nk,kj->nj" %xi, %w : tensor<32x5xf32>, tensor<5x3xf32>
    %m = pdg.mul %w, %di : tensor<5x3xf32>, tensor<5x3xf32>
    %back = pdg.transpose %w [1, 0] : tensor<5x3xf32>
    %q = pdg.contract "nk,jk->nj" %xi, %back : tensor<32x5xf32>, tensor<3x5xf32>
    %row = pdg.gather %w, %one : tensor<5x3xf32>, tensor<i64>
    %z = pdg.mul %row, %ei : tensor<3xf32>, tensor<3xf32>
    %r = pdg.add %p, %q : tensor<32x3xf32>, tensor<32x3xf32>
    %y = pdg.mul %r, %ci : tensor<32x3xf32>, tensor<32x3xf32>
    %flat = pdg.reshape %y to [96] : tensor<32x3xf32>
    %first = pdg.sum %flat axis 0 : tensor<96xf32>
    %flatm = pdg.reshape %m to [15] : tensor<5x3xf32>
    %second = pdg.sum %flatm axis 0 : tensor<15xf32>
    %third = pdg.sum %z axis 0 : tensor<3xf32>
    %two = pdg.add %first, %second : tensor<f32>, tensor<f32>
    %all = pdg.add %two, %third : tensor<f32>, tensor<f32>
  )");
  View x = program.at("x"), c = program.at("c"), d = program.at("d"), e = program.at("e");
  View w(found.at("w"));
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t j = 0; j < 3; ++j)
      EXPECT_EQ(w(i, j), joined([&](int64_t t, int64_t leaf, float &sum) {
                  auto contract = [&] {
                    for (int64_t n = leaf * kLength; n < (leaf + 1) * kLength; ++n)
                      sum = std::fma(x(t, n, i), c(t, n, j), sum);
                  };
                  if (leaf == 0 && i == 1)
                    sum += e(t, j);
                  contract();
                  if (leaf == 0)
                    sum += d(t, i, j);
                  contract();
                }));
}

/// A condition uses the value in both branches, twice in one of them.
TEST(LeavesOfUses, InConditions) {
  LoopProgram program;
  program.input("w", {5, 3}, true)
      .input("x", {kTrips, kExamples, 5})
      .input("c", {kTrips, kExamples, 3});
  auto found = program.run(R"(
    %one = pdg.constant dense<1> : tensor<i64>
    %xi = pdg.gather %x, %i : tensor<3x32x5xf32>, tensor<i64>
    %ci = pdg.gather %c, %i : tensor<3x32x3xf32>, tensor<i64>
    %is = pdg.eq %i, %one : tensor<i64>, tensor<i64>
    %y = pdg.if %is -> tensor<32x3xf32> {
      %p = pdg.contract "nk,kj->nj" %xi, %w : tensor<32x5xf32>, tensor<5x3xf32>
      pdg.yield %p : tensor<32x3xf32>
    } else {
      %p = pdg.contract "nk,kj->nj" %xi, %w : tensor<32x5xf32>, tensor<5x3xf32>
      %neg = pdg.neg %xi : tensor<32x5xf32>
      %half = pdg.mul %neg, %neg : tensor<32x5xf32>, tensor<32x5xf32>
      %q = pdg.contract "nk,kj->nj" %half, %w : tensor<32x5xf32>, tensor<5x3xf32>
      %r = pdg.add %p, %q : tensor<32x3xf32>, tensor<32x3xf32>
      pdg.yield %r : tensor<32x3xf32>
    }
    %m = pdg.mul %y, %ci : tensor<32x3xf32>, tensor<32x3xf32>
    %flat = pdg.reshape %m to [96] : tensor<32x3xf32>
    %all = pdg.sum %flat axis 0 : tensor<96xf32>
  )");
  View x = program.at("x"), c = program.at("c"), w(found.at("w"));
  for (int64_t i = 0; i < 5; ++i)
    for (int64_t j = 0; j < 3; ++j)
      EXPECT_EQ(w(i, j), joined([&](int64_t t, int64_t leaf, float &sum) {
                  auto contract = [&](bool squared) {
                    for (int64_t n = leaf * kLength; n < (leaf + 1) * kLength; ++n)
                      sum =
                          std::fma(squared ? x(t, n, i) * x(t, n, i) : x(t, n, i), c(t, n, j), sum);
                  };
                  if (t != 1)
                    contract(true);
                  contract(false);
                }));
}

/// Nothing but terms: a chain over the iterations of both loops.
TEST(LeavesOfUses, OfTermsAlone) {
  LoopProgram program;
  program.input("w", {7}, true).input("d", {kTrips, 2, 7});
  auto found = program.run(R"(
    %two = pdg.constant dense<2> : tensor<i64>
    %di = pdg.gather %d, %i : tensor<3x2x7xf32>, tensor<i64>
    %all = pdg.for %zero to %two carry (%none : tensor<f32>) -> tensor<f32> {
    ^bb0(%k: tensor<i64>, %inner: tensor<f32>):
      %dk = pdg.gather %di, %k : tensor<2x7xf32>, tensor<i64>
      %m = pdg.mul %w, %dk : tensor<7xf32>, tensor<7xf32>
      %s = pdg.sum %m axis 0 : tensor<7xf32>
      %t = pdg.add %inner, %s : tensor<f32>, tensor<f32>
      pdg.yield %t : tensor<f32>
    }
  )");
  View d = program.at("d"), w(found.at("w"));
  for (int64_t j = 0; j < 7; ++j) {
    float sum = 0;
    for (int64_t t = kTrips - 1; t >= 0; --t)
      for (int64_t k : {1, 0})
        sum += d(t, k, j);
    EXPECT_EQ(w(j), sum);
  }
}

} // namespace
} // namespace pdg
