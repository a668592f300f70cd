// Central finite differences of a program's result.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "test/ir/ops/op_runner.h"

namespace pdg {

/// Which gradient is checked: the fetch `loss``index`, of the fetch `loss`, for the input `name`.
struct Difference {
  std::string loss;
  size_t index;
  std::string name;
  double step = 0x1p-17;
  double tolerance = 2e-6; ///< Of 1 + |difference|.
};

/// Compares a gradient with differences when each element of the input changes. `what` goes into
/// messages. The inputs are as before in the end.
void checkDifferences(TestContext &test, mlir::ModuleOp module, Tensors &inputs,
                      const Difference &difference, const std::string &what);

} // namespace pdg
