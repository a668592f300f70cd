// Blocks, instances, variables, gradients and data, from script to IR.
// SPDX-License-Identifier: Apache-2.0
#include "elaborate_harness.h"

#include <filesystem>
#include <fstream>

namespace pdg::test {

TEST(ElaborateBlock, TypeAndDimensionVariablesBindPerCall) {
  expectInOrder(irOf(R"(block twice(x: T[N], scale: float = 2.0) -> T[N] { return x * scale }
input a: f32[3]
input b: f64[K]
print(twice(a)); print(twice(b, scale: 3)))"),
                {"tensor<3xf32>", "dense<3.000000e+00> : tensor<f64>", "tensor<?xf64>"});
  std::string message = messageOf("block f(x: T[N], y: T[N]) { return x + y }\n"
                                  "print(f(ones([3]), ones([4])))");
  expectInOrder(message,
                {"PD0101", "expected size 3 (N) on axis 0 for the argument 'y'", "found f32[4]",
                 "in the call of 'f'", "expected because of this type", "'N' comes from here"});
}

TEST(ElaborateBlock, ArgumentsAreChecked) {
  EXPECT_EQ(codesOf("block f(x) { return x }\nprint(f())"), "PD0105 2:7");
  EXPECT_EQ(codesOf("block f(x) { return x }\nprint(f(1, 2))"), "PD0105 2:12");
  EXPECT_EQ(codesOf("block f(x) { return x }\nprint(f(y: 1))"), "PD0105 2:9");
  EXPECT_EQ(codesOf("block f(x, n: int) { return x + n }\nprint(f(1, n: 0.5))"), "PD0100 2:15");
  EXPECT_EQ(codesOf("block f(x: f32[3]) { return x }\nprint(f(ones([2, 3])))"), "PD0101 2:9");
  EXPECT_EQ(codesOf("block f(x) -> f32[3] { return ones([4]) }\nprint(f(1))"), "PD0101 1:31");
  EXPECT_EQ(codesOf("block f(x) { return f(x) }\nprint(f(1))"), "PD0109 1:21");
}

TEST(ElaborateBlock, SizesAreSolvedForTheOneVariableThatIsFree) {
  EXPECT_EQ(codesOf("block f(x: T[N, 2 * I]) -> T[N, I] { return x[:, 0..I] }\n"
                    "let y: f32[2, 3] = f(ones([2, 6]))"),
            "");
  // The order of arguments does not matter: M from x, then I, then J.
  EXPECT_EQ(codesOf("block f(y: f32[I + M], z: f32[4 - J, I - J + 2], x: f32[M]) {\n"
                    "let a: f32[3] = ones([I])\nlet b: f32[1] = ones([J])\nreturn a[0] + b[0] }\n"
                    "print(f(ones([5]), ones([3, 4]), ones([2])))"),
            "");
  EXPECT_EQ(codesOf("let x: f32[3 * (I + 1)] = ones([9])\nlet y: f32[2] = ones([I])"), "");
  expectInOrder(messageOf("block f(x: f32[N, 2*I]) { return x }\nprint(f(ones([2, 7])))"),
                {"PD0101", "expected a size of the form 2 * I on axis 1 for the argument 'x'",
                 "found f32[2, 7]"});
  EXPECT_EQ(codesOf("block f(x: f32[I + 4]) { return x }\nprint(f(ones([3])))"), "PD0101 2:9");
  for (const char *size : {"I * J", "I + I", "I * I", "I // 2", "2 ** I", "I * 0 * J"})
    EXPECT_EQ(
        codesOf("block f(x: f32[" + std::string(size) + "]) { return x }\n" + "print(f(ones([4])))")
            .substr(0, 6),
        "PD0103")
        << size;
}

TEST(ElaborateBlock, SizesOfTheRunAreSolvedThere) {
  // (2 N) // 2 is N, so nothing is left to check.
  std::string ir =
      irOf("block f(x: f32[2 * N, 3]) -> f32[N, 3] { return zeros([N, 3]) + x[0, 0] }\n"
           "input a: f32[N, 3]\nprint(f(concat([a, a], axis: 0)))");
  EXPECT_EQ(countOf(ir, "pdg.assert"), 0u) << ir;
  expectInOrder(irOf("block f(x: f32[2 * N, 3]) { return N }\n"
                     "input a: f32[N, 3]\nprint(f(a))"),
                {"pdg.floordiv", "pdg.assert", "axis 0 of the argument 'x' has size "});
}

TEST(ElaborateBlock, ArgumentsBehindAStarAreGivenByName) {
  const std::string block =
      "block f(x, n: int, *, m: int = 1, k: int = 2) { return x + n * m + k }\n";
  EXPECT_EQ(codesOf(block + "print(f(1, 2, m: 3)); print(f(1, 2, k: 3))"), "");
  expectInOrder(messageOf(block + "print(f(1, 2, 3 * 4))"),
                {"PD0105", "expected the name of the argument 'm' of 'f'", "test.pdg:2:15",
                 "if that is meant, write f(x: 1, n: 2, m: 3 * 4)"});
  expectInOrder(messageOf("import nn\nuse c = nn.conv2d(3, 8, 5)\nprint(c(ones([1, 3, 9, 9])))"),
                {"PD0105", "expected the name of the argument 'stride' of 'nn.conv2d'",
                 "write nn.conv2d(channels: 3, window: 8, stride: 5)"});
}

TEST(ElaborateBlock, BlocksAreValues) {
  expectInOrder(irOf(R"(import nn
block apply(x, f: block = nn.gelu) { return f(x) }
block scaled(x, by: float) { return x * by }
input x: f32[3]
print(apply(x)); print(apply(x, f: scaled(by: 7.0))); print(apply(x, f: tanh)))"),
                {"pdg.erf", "7.000000e+00", "pdg.tanh"});
}

TEST(ElaborateBlock, InstancesShareTheirVariables) {
  std::string ir = irOf(R"(import nn
use layers = [nn.dense(units: n) for n in [4, 2]]
input x: f32[N, 4]
var h = x
for i in 0..2 { h = layers[i](h) }
print(layers[0](x) + layers[0](x)); print(h); eval layers[1])");
  EXPECT_EQ(countOf(ir, "pdg.variable"), 4u);
  expectInOrder(ir, {"pdg.variable <\"layers.0.W\"> : tensor<4x4xf32> param",
                     "pdg.random_uniform \"layers.0.W/", "<\"layers.1.b\">",
                     "pdg.fetch \"layers.1.W\""});
  EXPECT_EQ(codesOf("import nn\nprint(nn.dense(ones([1, 2]), units: 3))"), "PD0107 2:7");
  EXPECT_EQ(codesOf("import nn\nuse a = nn.dense(units: 3)"), "PD0108 2:9");
  EXPECT_EQ(codesOf("import nn\nuse a = nn.dense(units: 3)\nprint(a(ones([1, 2])))\nprint(a.V)"),
            "PD0110 4:9");
}

TEST(ElaborateBlock, AVariableKeepsTheShapeOfTheFirstApplication) {
  expectInOrder(
      messageOf(
          "import nn\nuse a = nn.dense(units: 3)\nprint(a(ones([1, 2])))\nprint(a(ones([1, 5])))"),
      {"PD0115", "'a.W' is f32[2, 3], but here it would be f32[5, 3]",
       "this application fixed its shape"});
}

TEST(ElaborateBlock, FirstValuesAreConstantsAndRandomNumbers) {
  expectInOrder(
      irOf("import nn\nparam W: f64[3, 4] = nn.he()\nstate s = zeros_like(W)\nprint(s)"),
      {"tensor<3x4xf64> param", "pdg.random_normal \"W/nn.he/normal\"", "tensor<3x4xf64> {"});
  EXPECT_EQ(codesOf("param w: f32 = 1\nstate s: f32 = w + 1\nprint(s)"), "PD0120 2:16");
  EXPECT_EQ(codesOf("input x: f32[N]\nstate s: f32[N] = 0\nprint(s)"), "PD0103 2:14");
}

TEST(ElaborateBlock, RandomNumbersHaveAPathAndCounters) {
  std::string ir = irOf(R"(import nn
for i in 0..3 { for j in 0..2 { print(nn.dropout(ones([4]), 0.5) + uniform([4])) } }
print(uniform([2]) + uniform([2])))");
  expectInOrder(ir, {"pdg.random_uniform \"nn.dropout/uniform\" seed", "counters(%arg0, %arg1)",
                     "pdg.random_uniform \"uniform\"", "counters(%arg0, %arg1)",
                     "pdg.random_uniform \"uniform#1\"", "pdg.random_uniform \"uniform#2\""});
}

TEST(ElaborateBlock, MinimizeUpdatesWhatTheLossDependsOn) {
  std::string ir = irOf(R"(import optim
param a: f32[2] = 1
param b: f32[2] = 1
param c: f32[2] = 1
state n: i64 = 2
var h = a
for i in 0..3 { h = if n > 1 { h * b } else { h } }
let cut = stop_gradient(c) + h
minimize sum(cut) via optim.clip_global_norm(0.5) with optim.adam(lr: 0.1)
minimize sum(a) over a with optim.adam()
eval a)");
  expectInOrder(ir, {"<\"a\", state = \"adam.m\">", "<\"a\", state = \"adam.t\"> : tensor<i64>",
                     "<\"b\", state = \"adam.m\">", "<\"a\", state = \"adam2.m\">", "pdg.gradient",
                     "of [#pdg.name<\"a\">, #pdg.name<\"b\">]", "pdg.maximum", "pdg.pow",
                     "pdg.assign <\"a\">", "of [#pdg.name<\"a\">]"});
  EXPECT_EQ(countOf(ir, "<\"c\", state"), 0u);
}

TEST(ElaborateBlock, LearningRatesMayBeOfTheRun) {
  for (const char *optimizer : {"sgd", "momentum", "adam"})
    EXPECT_EQ(
        codesOf("import optim\nparam w: f32[2] = 1\nfor i in 0..3 {\n let rate = 0.1 * 0.5 ** "
                "f32(i)\n minimize sum(w * w) with optim." +
                std::string(optimizer) + "(lr: rate)\n}"),
        "")
        << optimizer;
}

TEST(ElaborateBlock, ExamplesElaborate) {
  for (const char *name : {"linear_regression", "fashion_mnist", "lenet"}) {
    std::ifstream file(std::string(PDG_SOURCE_DIR "/examples/") + name + ".pdg");
    std::stringstream text;
    text << file.rdbuf();
    ElaborateOptions options;
    options.data.scriptDir = PDG_SOURCE_DIR "/examples";
    Elaboration run(text.str(), options);
    // The pictures are not on every machine.
    if (run.codes().find("PD0117") == std::string::npos)
      EXPECT_TRUE(run.module) << run.text();
  }
}

TEST(ElaborateBlock, MinimizeIsChecked) {
  EXPECT_EQ(codesOf("import optim\nparam w: f32[2] = 1\nminimize w with optim.sgd()"),
            "PD0100 3:10");
  EXPECT_EQ(codesOf("import nn\nparam w: f32 = 1\nminimize w with nn.relu"), "PD0116 3:17");
  EXPECT_EQ(codesOf("import optim\nstate w: f32 = 1\nminimize w with optim.sgd()"), "PD0190 3:1");
  EXPECT_EQ(codesOf("import optim\nparam w: f32 = 1\nparam v: f32 = 1\nminimize w over w, v with "
                    "optim.sgd()"),
            "PD0191 4:20");
}

TEST(ElaborateBlock, OptimizersOfOnesOwn) {
  expectInOrder(irOf(R"(block momentum(p: param, g, lr: float = 0.1, beta: float = 0.9) {
    state v = zeros_like(p)
    v = beta * v + g
    p = p - lr * v
}
param W: f64[2] = 1
let loss = sum(W * W)
let [g] = grad(loss, [W])
update W by 2 * g with momentum(lr: sum(W)))"),
                {"<\"W\", state = \"momentum.v\"> : tensor<2xf64>", "pdg.gradient",
                 "pdg.assign <\"W\", state = \"momentum.v\">", "pdg.assign <\"W\">"});
}

TEST(ElaborateBlock, GradientsOfValues) {
  expectInOrder(irOf(R"(param W: f32[2] = 1
let y = W * 3
let (gy, gw) = (grad(sum(y * y), y), grad(sum(y), W))
print(gy + gw))"),
                {"pdg.gradient %", "of [] %", "pdg.gradient %", "of [#pdg.name<\"W\">]"});
}

TEST(ElaborateBlock, DataIsProbedAndIterated) {
  std::filesystem::path folder = std::filesystem::temp_directory_path() / "pdg-elaborate-test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "points.csv") << "a,b,y\n1,2,3\n4,5,6\n";
  ElaborateOptions options;
  options.data.scriptDir = folder.string();
  expectInOrder(
      irOf(R"(import io
data points = io.csv("points.csv", batch: 1 + 1, target: "y", shuffle: true, seed: 3)
var total = 0.0
for step, (x, y) in points { total = total + sum(x) * y[0] }
print(total / points.size))",
           options),
      {"pdg.source @points \"csv\" [\"points.csv\"] batch 2 shuffle : [tensor<2xf32>, tensor<f32>]",
       "pdg.for_each @points carry(", "tensor<?x2xf32>", "tensor<?xf32>", "pdg.yield",
       "pdg.source_size @points"});
  EXPECT_EQ(codesOf("import io\ndata p = io.csv(\"none.csv\")\nprint(p.size)", options),
            "PD0117 2:10");
  EXPECT_EQ(codesOf("import io\ndata p = io.csv(\"points.csv\", batc: 1)\nprint(p.size)", options),
            "PD0105 2:31");
  expectInOrder(irOf(R"(import io
data part = io.csv("points.csv", shuffle: window(9), from: 0.5, limit: 7, repeat: 3,
                   columns: [["a", "b"], "y"], types: [f32, i64])
print(part.batches))",
                     options),
                {"pdg.source @part \"csv\" [\"points.csv\"] batch 1 shuffle : [tensor<2xf32>, "
                 "tensor<i64>]",
                 "from = 5.000000e-01 : f64", "limit = 7 : i64",
                 "options = {columns = [[\"a\", \"b\"], \"y\"], types = [\"f32\", \"i64\"]}",
                 "repeat = 3 : i64", "window = 9 : i64", "pdg.source_size @part"});
  expectInOrder(irOf(R"(import io
block tenth(x: f32[N, 3]) -> f32[N, 3] { return x / 10 }
data d = io.csv("points.csv", map: tenth)
for x in d { print(x) })",
                     options),
                {"pdg.for_each @d", "pdg.div", "pdg.print"});
  std::filesystem::remove_all(folder);
}

} // namespace pdg::test
