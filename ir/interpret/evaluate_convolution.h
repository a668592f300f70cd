// The plain meaning of convolutions; the order of sums is stated with each op.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/window_interfaces.h"

namespace pdg {

/// Operands x, w and perhaps a bias. Result: the cross-correlation.
mlir::LogicalResult evaluateConv2d(const ConvolutionRule &form, bool hasBias, Evaluation &eval);
/// Operands g, w. Result: the cotangent of pictures of height and width `picture`.
mlir::LogicalResult evaluateConv2dInputGrad(const ConvolutionRule &form,
                                            llvm::ArrayRef<int64_t> picture, Evaluation &eval);
/// Operands x, g. Result: the cotangent of the weights.
mlir::LogicalResult evaluateConv2dWeightGrad(const ConvolutionRule &form, Evaluation &eval);
/// Operands x, g, leaves. Result: the leaves with the terms of the cotangent added.
mlir::LogicalResult evaluateConv2dWeightLeaves(const ConvolutionRule &form, Evaluation &eval);

} // namespace pdg
