// The plain meaning of sums with open leaves, and the order of leaves.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/interfaces.h"

namespace pdg {

/// The largest number of leaves of a sum.
constexpr int64_t kMaxLeaves = 16;

/// The number of leaves of a sum over a first axis of `n` terms where there may be at most `most`,
/// a power of two.
int64_t openLeafCount(int64_t n, int64_t most);

/// The number of elements of the axis that the leaves of a sum over `n` terms take (kDynamic: only
/// the run knows n).
int64_t leafBound(int64_t n);

/// Evaluate the ops of ir/ops/leaves.td; operands and results are theirs.
mlir::LogicalResult evaluateContractLeaves(const ContractionRule &rule, Evaluation &eval);
mlir::LogicalResult evaluateSumLeaves(Evaluation &eval);
mlir::LogicalResult evaluateScatterLeaves(Evaluation &eval);
mlir::LogicalResult evaluateJoinLeaves(Evaluation &eval);

} // namespace pdg
