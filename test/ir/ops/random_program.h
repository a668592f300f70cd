// Random well-typed programs: chains of element-wise ops, reductions, broadcasts and moves of
// elements, variables with assignments anywhere, conditions and loops, sizes that only the run
// knows. A program is a pure function of its seed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "test/ir/ops/op_runner.h"

namespace pdg {

/// A program and what to feed it with.
struct RandomProgram {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Tensors inputs;
};

/// Makes the program of `seed` with about `numOps` ops. `rowsFile`, a CSV file with a number in
/// each of its two columns, gives the batches of programs that have some.
RandomProgram makeRandomProgram(TestContext &test, uint64_t seed, int numOps,
                                const std::string &rowsFile);

} // namespace pdg
