// Generates matrix products C = A * B for one core: register tiles, cache blocks and packing.
// Threads are the caller's business: a kernel computes a rectangle of C.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/codegen/jit/target_info.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>

namespace pdg {

/// What happens to an element of C between its sum and its store. Each step rounds by itself.
enum class Epilogue { None, Bias, Relu, BiasRelu };

/// A matrix product C[M,N] = A[M,K] * B[K,N]. Sizes that are not given are read from the kernel's
/// arguments at run time; leading dimensions that are not given are those of dense storage.
struct GemmSpec {
  bool isF64 = false;
  bool transA = false; ///< A is stored as K x M.
  bool transB = false; ///< B is stored as N x K.
  std::optional<int64_t> m, n, k;
  std::optional<int64_t> lda, ldb, ldc;
  bool leafK = false;      ///< K is cut into leaves (their number is a run-time argument).
  bool accumulate = false; ///< The chains go on from the old values of C; not with `leafK`.
  Epilogue epilogue = Epilogue::None;
  bool biasPerRow = false; ///< The bias has M elements, one for each row of C.
  int64_t usualM = 64;     ///< The expected M where `m` is not given; only speed depends on it.
};

/// Returns the kernel for `spec` in `module`, which is created at the module's end if it is not
/// there yet. Its symbol name spells out the whole specification.
///
/// void kernel(ptr A, ptr B, ptr C, ptr bias, ptr work,
///             i64 m0, i64 m1, i64 n0, i64 n1, i64 M, i64 N, i64 K, i64 leaves)
///
/// computes C[m0..m1, n0..n1]. `M, N, K` are always the sizes of the whole product. `bias` has N
/// elements (M with `biasPerRow`) and is not read without a bias epilogue. `leaves` is read with
/// `leafK` only: a power of two, 1 to 16, that divides K. `work` is aligned to 64 bytes, has
/// `gemmWorkBytes` bytes and belongs to the calling thread. C must not overlap the operands.
/// Nothing out of bounds is read or written.
///
/// Requires: m0 and m1 are multiples of `gemmRowStep` or M; n0 and n1 are multiples of
/// `gemmColumnStep` or N. (Only static sizes need this.)
///
/// Order of rounding, the same for every target, tile and rectangle: each element is one chain of
/// fused multiply-adds in increasing k from +0; with `leafK` one such chain per leaf of K / leaves
/// terms, joined as a perfect binary tree, neighbours first. Then `sum + bias`, then
/// `max(x, +0)`, where NaN wins and -0 becomes +0.
mlir::LLVM::LLVMFuncOp emitGemm(mlir::ModuleOp module, const GemmSpec &spec,
                                const TargetInfo &target);

/// The bytes of work space that one thread needs.
int64_t gemmWorkBytes(const GemmSpec &spec, const TargetInfo &target);

/// Rows of a register tile: bounds of rectangles are multiples of it.
int64_t gemmRowStep(const GemmSpec &spec, const TargetInfo &target);

/// Columns of a register tile: bounds of rectangles are multiples of it.
int64_t gemmColumnStep(const GemmSpec &spec, const TargetInfo &target);

/// How to share a product among threads: along rows or columns, in units of `step`.
struct GemmSplit {
  bool columns;
  int64_t step;
};

/// The better dimension to split. With `units = ceil(extent / step)`, where extent is M or N, task
/// t of T has [min(extent, step * (units * t / T)), min(extent, step * (units * (t + 1) / T))).
GemmSplit gemmSplit(const GemmSpec &spec, const TargetInfo &target);

/// Emits the bounds of that formula (i64 values).
std::pair<mlir::Value, mlir::Value> emitTaskRange(mlir::OpBuilder &builder, mlir::Location loc,
                                                  mlir::Value extent, int64_t step,
                                                  mlir::Value task, mlir::Value tasks);

} // namespace pdg
