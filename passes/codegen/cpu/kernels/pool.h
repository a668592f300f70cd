// Generates pooling over planes [height, width], for one core: what is made of each window, and the
// sending back of cotangents.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/codegen/jit/target_info.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace pdg {

/// Window (i, j) of a plane covers the rows from i * strideH - padTop on and the columns from j *
/// strideW - padLeft on. All sizes are static.
///
/// Requires: planes that are not empty; padding that is smaller than the window.
struct PoolSpec {
  enum Kind { Max, MaxAt, MaxGrad, Sum, SumGrad } kind = Max;
  bool isF64 = false;
  int64_t height, width, windowH, windowW;
  int64_t strideH = 1, strideW = 1;
  int64_t padTop = 0, padBottom = 0, padLeft = 0, padRight = 0;

  int64_t outHeight() const { return (height + padTop + padBottom - windowH) / strideH + 1; }
  int64_t outWidth() const { return (width + padLeft + padRight - windowW) / strideW + 1; }
  bool pads() const { return padTop || padBottom || padLeft || padRight; }
};

/// Returns the kernel for `spec`, which is found again by its symbol name.
///
/// void kernel(ptr first, ptr second, ptr out, i64 p0, i64 p1)
///
/// computes the planes p0 to p1 of `out`. Operands: Max x; MaxAt x, y; MaxGrad g, x; Sum x; SumGrad
/// g. The largest element is the first one row by row; a NaN is larger than all. Sums begin with +0
/// and go over a window row by row; sums of the gradients go over the windows row by row. What is
/// outside the plane is absent.
mlir::LLVM::LLVMFuncOp emitPool(mlir::ModuleOp module, const PoolSpec &spec,
                                const TargetInfo &target);

} // namespace pdg
