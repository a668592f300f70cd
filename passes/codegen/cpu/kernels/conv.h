// Generates convolutions (cross-correlations) over [examples, channels, height, width] and their
// two gradients, for one core. They are matrix products on columns copied from the picture.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/codegen/cpu/kernels/gemm.h"

namespace pdg {

/// out[n,o,i,j] = sum over c, u, v of x[n,c, i*strideH + u - padH, j*strideW + v - padW] *
/// w[o,c,u,v], where x is zero outside the picture. All sizes but the number of examples are
/// static.
///
/// Requires: kernels that are not larger than the padded picture; strides of at least 1.
struct ConvSpec {
  bool isF64 = false;
  int64_t channels, height, width;
  int64_t filters, kernelH, kernelW;
  int64_t strideH = 1, strideW = 1, padH = 0, padW = 0;
  Epilogue epilogue = Epilogue::None; ///< Of the forward kernel; the bias has an element a filter.

  int64_t outHeight() const { return (height + 2 * padH - kernelH) / strideH + 1; }
  int64_t outWidth() const { return (width + 2 * padW - kernelW) / strideW + 1; }
  int64_t window() const { return kernelH * kernelW; }
  int64_t terms() const { return channels * window(); }
  int64_t outPixels() const { return outHeight() * outWidth(); }
};

// All kernels are found again by their symbol names, get `work` of the stated number of bytes,
// aligned to 64 and belonging to the calling thread, and touch nothing out of bounds.

/// void kernel(ptr X, ptr W, ptr Y, ptr bias, ptr work, i64 n0, i64 n1)
///
/// computes the examples n0 to n1 of Y. Order of rounding: one chain of fused multiply-adds from +0
/// over (c, u, v), each increasing, terms outside the picture included (as products with +0); then
/// the epilogue as in gemm.h.
mlir::LLVM::LLVMFuncOp emitConvForward(mlir::ModuleOp module, const ConvSpec &spec,
                                       const TargetInfo &target);
int64_t convForwardWorkBytes(const ConvSpec &spec, const TargetInfo &target);

/// void kernel(ptr G, ptr W, ptr DX, ptr work, i64 n0, i64 n1)
///
/// computes the examples n0 to n1 of DX from G, the cotangent of Y. Order of rounding: an element
/// is a sum from +0 over the window positions (u, v), row by row, at which a window of the output
/// has this element; each term is a chain of fused multiply-adds from +0 over the filters of
/// w[o,c,u,v] * g[n,o,i,j], increasing.
mlir::LLVM::LLVMFuncOp emitConvInputGrad(mlir::ModuleOp module, const ConvSpec &spec,
                                         const TargetInfo &target);
int64_t convInputGradWorkBytes(const ConvSpec &spec, const TargetInfo &target);

/// void kernel(ptr X, ptr G, ptr DW, ptr work, i64 examples, i64 leaves, i64 q0, i64 q1)
///
/// computes DW[o, q] for all filters o and q0 <= q < q1, where q counts (c, u, v), from all
/// examples. `leaves` is a power of two, 1 to 16, that divides `examples`. Order of rounding: each
/// leaf of examples / leaves examples is one chain of fused multiply-adds from +0 over (example, i,
/// j), terms outside the picture included; leaves are joined as a perfect binary tree, neighbours
/// first.
///
/// Requires: q0 and q1 are multiples of `convWeightGradStep` or `spec.terms()`.
mlir::LLVM::LLVMFuncOp emitConvWeightGrad(mlir::ModuleOp module, const ConvSpec &spec,
                                          const TargetInfo &target);
int64_t convWeightGradWorkBytes(const ConvSpec &spec, const TargetInfo &target);
int64_t convWeightGradStep(const ConvSpec &spec, const TargetInfo &target);

} // namespace pdg
