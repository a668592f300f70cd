// The list of ops is the list of tests: every registered op has cases, or is known to need none.
// SPDX-License-Identifier: Apache-2.0
#include "test/ir/ops/op_cases.h"

#include <gtest/gtest.h>

namespace pdg {

TEST(OpList, HasCases) {
  TestContext test;
  auto ops = allOps(test.context);
  EXPECT_GT(ops.size(), 60u);
  for (mlir::RegisteredOperationName op : ops) {
    llvm::StringRef name = op.getStringRef();
    if (hasNoCases(op))
      continue;
    EXPECT_FALSE(casesOf(test, op).empty())
        << name.str()
        << " has no attribute-free element-wise form: say in op_table.cpp how to use it";
  }
}

TEST(OpList, CasesAreValid) {
  TestContext test;
  for (const OpCase &opCase : allCases(test)) {
    ProgramBuilder program(test);
    EXPECT_TRUE(program.add(opCase, "x")) << opCase.str() << "\n" << test.reports;
    test.reports.clear();
  }
}

} // namespace pdg
