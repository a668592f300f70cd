// The plain meaning of convolutions and pooling; the order of sums is stated with each op.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/interfaces.h"

namespace pdg {

/// Operands x, w. Result: the cross-correlation.
mlir::LogicalResult evaluateConv2d(const Window &window, Evaluation &eval);
/// Operands g, w, x. Result: the cotangent of x.
mlir::LogicalResult evaluateConv2dInputGrad(const Window &window, Evaluation &eval);
/// Operands x, g, w. Result: the cotangent of w.
mlir::LogicalResult evaluateConv2dWeightGrad(const Window &window, Evaluation &eval);
/// Operand x. Result: the largest element of each window of `size`.
mlir::LogicalResult evaluateMaxPool2d(llvm::ArrayRef<int64_t> size, const Window &window,
                                      Evaluation &eval);
/// Operands g, x. Result: the cotangent of x.
mlir::LogicalResult evaluateMaxPool2dGrad(llvm::ArrayRef<int64_t> size, const Window &window,
                                          Evaluation &eval);

} // namespace pdg
