// Central finite differences; see differences.h.
// SPDX-License-Identifier: Apache-2.0
#include "test/ir/ops/differences.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;

namespace pdg {

void checkDifferences(TestContext &test, ModuleOp module, Tensors &inputs,
                      const Difference &difference, const std::string &what) {
  auto run = [&] { return interpretModule(test, module, inputs); };
  Outcome outcome = run();
  ASSERT_EQ(outcome.problem + outcome.error.message, "") << what;
  const HostTensor &gradient =
      outcome.values.at(difference.loss + std::to_string(difference.index));
  double *x = inputs.at(difference.name)->data<double>();
  for (int64_t k = 0; k < gradient.numElements(); ++k) {
    double old = x[k], sides[2];
    for (int side : {0, 1}) {
      x[k] = old + (side ? difference.step : -difference.step);
      sides[side] = run().values.at(difference.loss).data<double>()[0];
    }
    x[k] = old;
    double expected = (sides[1] - sides[0]) / (2 * difference.step);
    ASSERT_NEAR(gradient.data<double>()[k], expected,
                difference.tolerance * (1 + std::abs(expected)))
        << what << ": element " << k << " of " << difference.name << " at " << old;
  }
}

} // namespace pdg
