// The plain meaning of pooling; the order of sums is stated with each op.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/window_interfaces.h"

namespace pdg {

/// Computes the result of a pooling op. `picture` is its height and width for SumGrad, whose
/// operand does not tell them.
mlir::LogicalResult evaluatePooling(const PoolingRule &form, llvm::ArrayRef<int64_t> picture,
                                    Evaluation &eval);

} // namespace pdg
