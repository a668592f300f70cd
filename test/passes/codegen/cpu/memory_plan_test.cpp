// Which values share memory: what loops carry and what changes some elements of it.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "passes/codegen/cpu/memory_plan.h"
#include "passes/pipelines.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace pdg {
namespace {

/// The plan of a program, after the passes that come before it.
struct Planned {
  explicit Planned(const std::string &program) : plan(parse(program), shapes) {
    EXPECT_TRUE(succeeded(plan.build()));
  }

  ModuleOp parse(const std::string &program) {
    DialectRegistry registry;
    registry.insert<PdgDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = parseSourceString<ModuleOp>(program, &context);
    PassManager pm(&context, ModuleOp::getOperationName());
    buildGraphPipeline(pm);
    buildNativePipeline(pm);
    EXPECT_TRUE(module && succeeded(pm.run(*module)));
    return *module;
  }

  /// Of each op `name` whether its result is in the place of the operand that it changes.
  std::vector<bool> inPlace(StringRef name) {
    std::vector<bool> result;
    module->walk([&](UpdateOpInterface op) {
      if (op->getName().getStringRef() == name)
        result.push_back(plan.rootOf(op->getResult(0)) ==
                         plan.rootOf(op->getOperand(op.getUpdatedOperand())));
    });
    return result;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  ShapeAnalysis shapes;
  MemoryPlan plan;
};

/// The gradient of a recurrence of `trips` steps.
std::string recurrence(int64_t trips) {
  return R"(pdg.program {
    %w = pdg.input "w" : tensor<8x8xf32>
    %h0 = pdg.input "h" : tensor<64x8xf32>
    %zero = pdg.constant dense<0> : tensor<i64>
    %n = pdg.constant dense<)" +
         std::to_string(trips) + R"(> : tensor<i64>
    %h = pdg.for %zero to %n carry (%h0 : tensor<64x8xf32>) -> tensor<64x8xf32> {
    ^bb0(%i: tensor<i64>, %a: tensor<64x8xf32>):
      %p = pdg.contract "nk,kj->nj" %a, %w : tensor<64x8xf32>, tensor<8x8xf32>
      %t = pdg.tanh %p : tensor<64x8xf32>
      pdg.yield %t : tensor<64x8xf32>
    }
    %rows = pdg.sum %h axis 1 : tensor<64x8xf32>
    %loss = pdg.sum %rows axis 0 : tensor<64xf32>
    %g = pdg.gradient %loss of [] %w : tensor<8x8xf32> : tensor<f32> -> tensor<8x8xf32>
    pdg.fetch "g", %g : tensor<8x8xf32>
    pdg.yield
  })";
}

/// An iteration writes what it keeps and what it adds to, whatever the number of iterations: the
/// whole tables are never copied.
TEST(MemoryPlan, UpdatesCarriedValuesInPlace) {
  Planned planned(recurrence(1000));
  EXPECT_EQ(planned.inPlace("pdg.update_row"), std::vector<bool>{true});
  EXPECT_EQ(planned.inPlace("pdg.contract_leaves"), std::vector<bool>{true});
  // One table of [1000, 64, 8], not a second one to begin with.
  int64_t table = 1000 * 64 * 8 * 4;
  EXPECT_GE(planned.plan.arenaBytes(), table);
  EXPECT_LT(planned.plan.arenaBytes(), table + table / 4);
}

std::string update(const std::string &rest) {
  return R"(pdg.program {
    %x = pdg.input "x" : tensor<4x8xf32>
    %row = pdg.input "row" : tensor<8xf32>
    %one = pdg.constant dense<1> : tensor<i64>
    %three = pdg.constant dense<3> : tensor<i64>
    %e = pdg.exp %x : tensor<4x8xf32>
    )" + rest +
         R"(
    pdg.fetch "u", %u : tensor<4x8xf32>
    pdg.yield
  })";
}

TEST(MemoryPlan, CopiesWhatIsStillNeeded) {
  const char *first = "%u = pdg.update_row %e, %row at %one : tensor<4x8xf32>, tensor<8xf32>\n";
  EXPECT_EQ(Planned(update(first)).inPlace("pdg.update_row"), std::vector<bool>{true});
  // Needed afterwards.
  std::string again = std::string(first) + "pdg.fetch \"e\", %e : tensor<4x8xf32>";
  EXPECT_EQ(Planned(update(again)).inPlace("pdg.update_row"), std::vector<bool>{false});
  // Not the program's own memory.
  EXPECT_EQ(Planned(update("%u = pdg.update_row %x, %row at %one : tensor<4x8xf32>, "
                           "tensor<8xf32>"))
                .inPlace("pdg.update_row"),
            std::vector<bool>{false});
  // Needed in the next iteration.
  EXPECT_EQ(Planned(update(R"(%u = pdg.for %one to %three carry (%x : tensor<4x8xf32>)
        -> tensor<4x8xf32> {
      ^bb0(%i: tensor<i64>, %a: tensor<4x8xf32>):
        %v = pdg.update_row %e, %row at %i : tensor<4x8xf32>, tensor<8xf32>
        %s = pdg.add %v, %a : tensor<4x8xf32>, tensor<4x8xf32>
        pdg.yield %s : tensor<4x8xf32>
      })"))
                .inPlace("pdg.update_row"),
            std::vector<bool>{false});
}

} // namespace
} // namespace pdg
