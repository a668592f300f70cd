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

TEST(Builtins, ExamplesPrintWhatTheySay) {
  int turn = 0;
  for (const auto &[name, builtin] : allBuiltins()) {
    SCOPED_TRACE(name);
    EXPECT_STRNE(builtin->doc, "");
    std::string expected = commentsOf(builtin->example);
    EXPECT_NE(expected, "") << "an example prints something";
    Elaboration script(std::string(builtin->example) + "\n");
    ASSERT_TRUE(script.module) << script.text();
    TestContext test;
    std::string text;
    llvm::raw_string_ostream(text) << *script.module;
    mlir::OwningOpRef<mlir::ModuleOp> module = test.parse(text);
    ASSERT_TRUE(module && simplify(test, *module)) << test.reports;
    EXPECT_EQ(printed(interpretModule(test, *module, {})), expected);
    for (const Outcome &outcome : runNative(test, *module, Tensors(), targetOfTurn(turn++), {1, 2}))
      EXPECT_EQ(printed(outcome), expected);
  }
}

} // namespace
} // namespace pdg::test
