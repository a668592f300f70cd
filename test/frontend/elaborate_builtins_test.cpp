// The table of built-in functions: each has a text and an example, which runs interpreted and
// native and prints what its comments say. SPDX-License-Identifier: Apache-2.0
#include "frontend/builtins.h"
#include "passes/pipelines.h"
#include "test/frontend/elaborate_harness.h"
#include "test/ir/ops/op_runner.h"

#include "mlir/Pass/PassManager.h"

namespace pdg::test {
namespace {

/// What the comments of `script` say, line by line.
std::string commentsOf(llvm::StringRef script) {
  std::string text;
  llvm::SmallVector<llvm::StringRef> lines;
  script.split(lines, '\n');
  for (llvm::StringRef line : lines)
    if (size_t at = line.find("# "); at != llvm::StringRef::npos)
      text += line.drop_front(at + 2).str() + "\n";
  return text;
}

std::string printed(const Outcome &outcome) {
  std::string text = outcome.problem + outcome.error.message;
  for (const std::string &line : outcome.lines)
    text += line + "\n";
  return text;
}

/// Runs `text` interpreted and native and expects what its comments say.
void expectPrints(const std::string &text, int turn) {
  SCOPED_TRACE(text);
  std::string expected = commentsOf(text);
  EXPECT_NE(expected, "") << "it should print something";
  Elaboration script(text + "\n");
  ASSERT_TRUE(script.module) << script.text();
  TestContext test;
  std::string printedModule;
  llvm::raw_string_ostream(printedModule) << *script.module;
  mlir::OwningOpRef<mlir::ModuleOp> module = test.parse(printedModule);
  ASSERT_TRUE(module && simplify(test, *module)) << test.reports;
  EXPECT_EQ(printed(interpretModule(test, *module, {})), expected);
  for (const Outcome &outcome : runNative(test, *module, Tensors(), targetOfTurn(turn), {1, 2}))
    EXPECT_EQ(printed(outcome), expected);
}

TEST(Builtins, ExamplesPrintWhatTheySay) {
  int turn = 0;
  for (const auto &[name, builtin] : allBuiltins()) {
    SCOPED_TRACE(name);
    EXPECT_STRNE(builtin->doc, "");
    expectPrints(builtin->example, turn++);
  }
}

TEST(Builtins, SortWithNansAndTies) {
  expectPrints("let x = tensor([3.0, 0.0, 1.0]) / tensor([1.0, 0.0, 1.0])\n"
               "print(sort(x)) # f32[3] [1.0, 3.0, nan]\n"
               "print(sort(x, descending: true)) # f32[3] [3.0, 1.0, nan]\n"
               "print(argsort(tensor([2, 1, 2, 1]))) # i64[4] [1, 3, 0, 2]\n"
               "print(argsort(tensor([2, 1, 2, 1]), descending: true)) # i64[4] [0, 2, 1, 3]\n"
               "print(argsort(tensor([0.0, -0.0]))) # i64[2] [0, 1]\n"
               "print(sort(tensor([true, false]))) # bool[2] [false, true]\n"
               "let (v, p) = top_k(tensor([[1, 5], [7, 2]]), 1, axis: 0)\n"
               "print(v[0]) # i64[2] [7, 5]\n"
               "print(p[0]) # i64[2] [1, 0]",
               0);
}

TEST(Builtins, ScanAndMultiply) {
  expectPrints(
      "let x = tensor([2.0, 0.0, 3.0])\n"
      "print(grad(prod(x), x)) # f32[3] [0.0, 6.0, 0.0]\n"
      "print(grad(sum(cumprod(x)), x)) # f32[3] [1.0, 8.0, 0.0]\n"
      "print(prod(ones([2, 0]))) # 1.0\n"
      "print(prod(ones([2, 0]), axis: 1)) # f32[2] [1.0, 1.0]\n"
      "print(prod(tensor([[1, 2], [3, 4]]), axis: 1)) # i64[2] [2, 12]\n"
      "print(cumsum(tensor([[1, 2], [3, 4]]), axis: 0, reverse: true)[0]) # i64[2] [4, 6]\n"
      "print(all(ones([2, 2]) > 0, axis: 0)) # bool[2] [true, true]\n"
      "print(any(zeros([0]) > 0)) # false\n"
      "print(variance(tensor([[1.0, 3.0], [2.0, 2.0]]), axis: 1)) # f32[2] [1.0, 0.0]\n"
      "print(logsumexp(log(zeros([2])))) # -inf\n"
      "print(norm(tensor([[3.0, 4.0], [0.0, 2.0]]), axis: 1)) # f32[2] [5.0, 2.0]",
      1);
}

TEST(Builtins, ReadAndWriteAtIndices) {
  expectPrints(
      "let x = tensor([[1, 2], [3, 4]])\n"
      "print(gather(x, [1, 1], axis: 0)[1]) # i64[2] [3, 4]\n"
      "print(scatter(zeros([2]), [0, 0], tensor([1.0, 2.0]))) # f32[2] [2.0, 0.0]\n"
      "print(scatter_add(zeros([2, 2]), [1, 1], ones([2, 2]), axis: 0)[1]) # f32[2] [2.0, 2.0]\n"
      "print(scatter(tensor([true, true]), [1], false)) # bool[2] [true, false]\n"
      "let w = tensor([1.0, 2.0])\n"
      "print(grad(sum(scatter(zeros([2]), [0, 0], w)), w)) # f32[2] [0.0, 1.0]\n"
      "let y = tensor([3.0, 1.0, 2.0])\n"
      "print(grad(sum(sort(y) * tensor([1.0, 2.0, 3.0])), y)) # f32[3] [3.0, 1.0, 2.0]",
      0);
}

TEST(Builtins, CutAndJoin) {
  expectPrints("let x = arange(6)\n"
               "print(slice(x, 0, begin: 4, end: 1, step: -1)) # i64[3] [4, 3, 2]\n"
               "print(slice(x, 0, begin: 5, end: 2)) # i64[0] []\n"
               "print(slice(x, 0, end: -4)) # i64[2] [0, 1]\n"
               "print(stack([arange(2), arange(2)], axis: 1)[1]) # i64[2] [1, 1]\n"
               "let [a, b] = split(x, 2)\nprint(b) # i64[3] [3, 4, 5]\n"
               "print(tile(tensor([[1], [2]]), [1, 2])[1]) # i64[2] [2, 2]\n"
               "print(repeat(tensor([[1, 2]]), 2, axis: 0)[1]) # i64[2] [1, 2]\n"
               "print(flip(tensor([[1, 2], [3, 4]]))[0]) # i64[2] [4, 3]\n"
               "print(pad(tensor([true]), 0, after: 1, value: true)) # bool[2] [true, true]\n"
               "print(tril(ones([3, 3]), diagonal: -1)[1]) # f32[3] [1.0, 0.0, 0.0]\n"
               "print(eye(2, columns: 3)[1]) # f32[3] [0.0, 1.0, 0.0]\n"
               "print(linspace(2, 5, 1)) # f32[1] [2.0]\n"
               "print(concat([arange(1), arange(2), arange(3)])) # i64[6] [0, 0, 1, 0, 1, 2]",
               1);
}

TEST(Builtins, SumProductsByLetters) {
  expectPrints("let x = tensor([[1.0, 2.0], [3.0, 4.0]])\n"
               "print(einsum(\"ij,jk,kl->il\", x, x, x)[0]) # f32[2] [37.0, 54.0]\n"
               "print(einsum(\"ij->ji\", x)[0]) # f32[2] [1.0, 3.0]\n"
               "print(einsum(\"ii->\", x)) # 5.0\n"
               "print(einsum(\"ij->\", x)) # 10.0\n"
               "print(einsum(\"ij,kl->i\", x, x)) # f32[2] [30.0, 70.0]",
               0);
}

TEST(Builtins, SayWhatIsWrong) {
  const std::pair<const char *, const char *> wrong[] = {
      {"print(cumsum(zeros([2, 2])))", "PD0105 1:7"},
      {"print(top_k(zeros([2]), 3))", "PD0111 1:25"},
      {"print(gather(zeros([2]), [0.5]))", "PD0100 1:26"},
      {"print(gather(zeros([2, 3]), zeros([2, 3, 1], type: i64), axis: 1))", "PD0101 1:29"},
      {"print(slice(arange(3), 0, step: 0))", "PD0111 1:33"},
      {"print(slice(arange(3), 0, begin: 4))", "PD0111 1:34"},
      {"print(split(arange(5), 2))", "PD0111 1:24"},
      {"print(split(arange(5), [2, 2]))", "PD0111 1:24"},
      {"print(repeat(zeros([2, 2]), 2))", "PD0105 1:7"},
      {"print(tile(zeros([2]), -1))", "PD0111 1:24"},
      {"print(tile(zeros([1000000]), 1000000000))", "PD0101 1:7"},
      {"print(stack([arange(2), arange(3)]))", "PD0101 1:7"},
      {"print(bit_and(tensor([1.5]), 1.5))", "PD0100 1:15"},
      {"print(all(tensor([1])))", "PD0100 1:11"},
      {"print(norm(zeros([2]), p: 3))", "PD0100 1:27"},
      {"print(einsum(\"ij,jk\", zeros([2, 2]), zeros([2, 2])))", "PD0105 1:14"},
      {"print(einsum(\"ij->k\", zeros([2, 2])))", "PD0105 1:14"},
      {"print(einsum(\"ij,j->i\", zeros([2, 2])))", "PD0105 1:14"},
      {"print(tril(zeros([2])))", "PD0100 1:12"},
  };
  for (auto [script, codes] : wrong)
    EXPECT_EQ(codesOf(std::string(script) + "\n"), codes) << script;
}

} // namespace
} // namespace pdg::test
