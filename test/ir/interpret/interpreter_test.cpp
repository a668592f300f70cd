// Tests what the interpreter keeps alive, and that it ends in order when it is asked to.
// SPDX-License-Identifier: Apache-2.0
#include "ir/interpret/interpreter.h"
#include "runtime/worker/execution_context.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace pdg {
namespace {

/// A program with its tables and a run of it; what it prints is in `lines`.
struct InterpretedRun {
  explicit InterpretedRun(StringRef text) : mlirContext(MLIRContext::Threading::DISABLED) {
    mlirContext.getOrLoadDialect<PdgDialect>();
    module = parseSourceString<ModuleOp>(text, ParserConfig(&mlirContext));
    auto built = ProgramTables::build(*module, {});
    EXPECT_TRUE(succeeded(built));
    tables = std::move(*built);
    RunOptions options;
    options.isQuiet = true;
    auto made = ExecutionContext::create(tables.info(), options);
    EXPECT_TRUE(made.ok()) << made.status();
    context = *std::move(made);
    context->setSink([this](std::string_view line) {
      lines.emplace_back(line);
      return onLine ? onLine() : absl::OkStatus();
    });
  }
  int64_t operator()() { return interpret(*module, tables, *context); }

  MLIRContext mlirContext;
  OwningOpRef<ModuleOp> module;
  ProgramTables tables;
  std::unique_ptr<ExecutionContext> context;
  std::vector<std::string> lines;
  std::function<absl::Status()> onLine;
};

constexpr const char *endless = R"(pdg.program {
  %zero = pdg.constant dense<0> : tensor<i64>
  %many = pdg.constant dense<1000000000000> : tensor<i64>
  pdg.for %zero to %many {
  ^bb0(%i: tensor<i64>):
    pdg.print ["", ""] [#pdg.format<>] (%i : tensor<i64>)
    pdg.yield
  }
  pdg.yield
})";

TEST(Interpreter, EndsAtTheNextIterationAfterAnInterrupt) {
  InterpretedRun run(endless);
  run.onLine = [&] {
    if (run.lines.size() == 3)
      run.context->interrupt();
    return absl::OkStatus();
  };
  EXPECT_EQ(run(), 130);
  EXPECT_EQ(run.lines, (std::vector<std::string>{"0", "1", "2"}));
}

TEST(Interpreter, EndsWhenALineCannotBePrinted) {
  InterpretedRun run(endless);
  run.onLine = [] { return absl::ResourceExhaustedError("disk full"); };
  EXPECT_EQ(run(), 3);
  EXPECT_EQ(run.lines.size(), 1u);
  EXPECT_EQ(run.context->error().message, "disk full");
}

TEST(Interpreter, GivesVariablesBackToTheContext) {
  InterpretedRun run(R"(
  pdg.variable <"n"> : tensor<i64> {
    %x = pdg.constant dense<5> : tensor<i64>
    pdg.yield %x : tensor<i64>
  }
  pdg.program {
    %before = pdg.read <"n"> : tensor<i64>
    %next = pdg.add %before, %before : tensor<i64>, tensor<i64>
    pdg.assign <"n">, %next : tensor<i64>
    %after = pdg.read <"n"> : tensor<i64>
    pdg.print ["", " ", ""] [#pdg.format<>, #pdg.format<>] (%before, %after : tensor<i64>, tensor<i64>)
    pdg.fetch "next", %next : tensor<i64>
    pdg.yield
  })");
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(run.lines, std::vector<std::string>{"5 10"});
  EXPECT_EQ(run.context->variables()[0].data<int64_t>()[0], 10);
  ASSERT_EQ(run.context->fetchedValues().size(), 1u);
  // A second run begins anew.
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(run.lines.back(), "5 10");
}

} // namespace
} // namespace pdg
