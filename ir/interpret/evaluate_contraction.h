// The plain meaning of contractions and convolutions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/interfaces.h"
#include "ir/math/value.h"

namespace pdg {

/// Evaluates a contraction: a chain of fused multiply-adds for each result element, cut into leaves
/// where the rule says so.
mlir::LogicalResult evaluateContraction(const ContractionRule &rule, Evaluation &eval);

/// Joins the values of complete leaves as a balanced tree, neighbours first. `values` is destroyed.
/// An odd one moves up. Requires: at least one value.
template <class T> T joinTree(llvm::SmallVectorImpl<T> &values) {
  while (values.size() > 1) {
    size_t half = values.size() / 2;
    for (size_t i = 0; i < half; ++i)
      values[i] = (Scalar<T>{values[2 * i]} + Scalar<T>{values[2 * i + 1]}).value;
    if (values.size() % 2)
      values[half++] = values.back();
    values.resize(half);
  }
  return values.front();
}

} // namespace pdg
