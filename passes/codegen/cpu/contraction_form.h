// How an index rule maps to a matrix product with strides.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/interfaces.h"

namespace pdg {

/// The axes of the operands of C[batch, m, n] = A[batch, m, k] * B[batch, k, n], where A is the
/// second operand of the contraction if `swaps`. Each list is in the order of the axes.
struct ContractionForm {
  bool isCanonical = false; ///< Each tensor is [batch, group, group] in matching orders.
  bool swaps = false;
  bool transA = false, transB = false;
  llvm::SmallVector<unsigned> lhsBatch, lhsFree, lhsSummed, rhsFree;
  /// If not canonical: the orders of axes in which the operands and the result would be.
  llvm::SmallVector<int64_t> lhsOrder, rhsOrder, outOrder;
};

/// The form of `rule`.
ContractionForm contractionForm(const ContractionRule &rule);

} // namespace pdg
