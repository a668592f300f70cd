// Generates convolutions (cross-correlations) over [examples, channels, height, width] and their
// two gradients, for one core. They are matrix products on columns copied from the picture.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/codegen/cpu/kernels/gemm.h"

namespace pdg {

/// out[n,o,i,j] = sum over c, u, v of x[n,c, i*strideH + u*dilationH - padTop, j*strideW +
/// v*dilationW - padLeft] * w[o,c,u,v], where x is zero outside the picture. With `groups`, x, w
/// and out have that many groups of `channels` and `filters` one behind the other, each convolved
/// by itself. All sizes but the number of examples are static.
///
/// Requires: kernels that are not larger than the padded picture; sizes, strides and dilations of
/// at least 1.
struct ConvSpec {
  bool isF64 = false;
  int64_t channels, height, width;
  int64_t filters, kernelH, kernelW;
  int64_t strideH = 1, strideW = 1;
  int64_t padTop = 0, padBottom = 0, padLeft = 0, padRight = 0;
  int64_t dilationH = 1, dilationW = 1;
  int64_t groups = 1;
  Epilogue epilogue = Epilogue::None; ///< Of the forward kernel; the bias has an element a filter.
  bool accumulate = false; ///< The weight gradient goes on with the chains in DW, as one leaf.

  int64_t paddedHeight() const { return height + padTop + padBottom; }
  int64_t paddedWidth() const { return width + padLeft + padRight; }
  int64_t outHeight() const {
    return (paddedHeight() - (kernelH - 1) * dilationH - 1) / strideH + 1;
  }
  int64_t outWidth() const { return (paddedWidth() - (kernelW - 1) * dilationW - 1) / strideW + 1; }
  int64_t window() const { return kernelH * kernelW; }
  int64_t terms() const { return channels * window(); }
  int64_t outPixels() const { return outHeight() * outWidth(); }
  int64_t pixels() const { return height * width; }
};

// All kernels are found again by their symbol names, get `work` of the stated number of bytes,
// aligned to 64 and belonging to the calling thread, and touch nothing out of bounds.

/// void kernel(ptr X, ptr W, ptr Y, ptr bias, ptr work, i64 p0, i64 p1)
///
/// computes the parts p0 to p1 of Y, where p counts (example, group). Order of rounding: one chain
/// of fused multiply-adds from +0 over (c, u, v), each increasing, terms outside the picture
/// included (as products with +0); then the epilogue as in gemm.h.
mlir::LLVM::LLVMFuncOp emitConvForward(mlir::ModuleOp module, const ConvSpec &spec,
                                       const TargetInfo &target);
int64_t convForwardWorkBytes(const ConvSpec &spec, const TargetInfo &target);

/// void kernel(ptr G, ptr W, ptr DX, ptr work, i64 p0, i64 p1)
///
/// computes the parts p0 to p1, (example, group), of DX from G, the cotangent of Y. Order of
/// rounding: an element is a sum from +0 over the window positions (u, v), row by row, at which a
/// window of the output has this element; each term is a chain of fused multiply-adds from +0 over
/// the filters of w[o,c,u,v] * g[n,o,i,j], increasing.
mlir::LLVM::LLVMFuncOp emitConvInputGrad(mlir::ModuleOp module, const ConvSpec &spec,
                                         const TargetInfo &target);
int64_t convInputGradWorkBytes(const ConvSpec &spec, const TargetInfo &target);

/// void kernel(ptr X, ptr G, ptr DW, ptr work, i64 examples, i64 leaves, i64 f0, i64 f1, i64 q0,
///             i64 q1)
///
/// computes DW[f, q] for the filters f0 <= f < f1 of a group and q0 <= q < q1, where q counts (c,
/// u, v), from all examples. X, G and DW point to the group's first part. `leaves` is a power of
/// two, 1 to 16, that divides `examples`; with `accumulate` it is 1. Order of rounding: each leaf
/// of examples / leaves examples is one chain of fused multiply-adds from +0 (with `accumulate`
/// from what DW holds) over (example, i, j), terms outside the picture included; leaves are joined
/// as a perfect binary tree, neighbours first.
///
/// Requires: bounds are multiples of the step, or the number, of filters or of `spec.terms()`.
mlir::LLVM::LLVMFuncOp emitConvWeightGrad(mlir::ModuleOp module, const ConvSpec &spec,
                                          const TargetInfo &target);
int64_t convWeightGradWorkBytes(const ConvSpec &spec, const TargetInfo &target);

/// How to share the weights among threads: along filters or along (c, u, v), in units of `step`.
struct ConvWeightSplit {
  bool filters;
  int64_t step;
};
ConvWeightSplit convWeightGradSplit(const ConvSpec &spec, const TargetInfo &target);

} // namespace pdg
