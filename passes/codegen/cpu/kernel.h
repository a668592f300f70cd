// A kernel: one loop nest in a function of its own, which the program's function calls directly or
// spreads over threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dims.h"
#include "ir/interfaces.h"
#include "passes/codegen/jit/target_info.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace pdg {

/// One word that the caller of a kernel stores for it.
struct KernelArgument {
  enum Kind { Address, Size, Work } kind;
  mlir::Value tensor;    ///< Address: of this tensor's elements.
  mlir::AffineExpr size; ///< Size: the value of this expression.
};

/// `void function(ptr arguments, i64 task, i64 tasks)`.
struct Kernel {
  mlir::LLVM::LLVMFuncOp function;
  llvm::SmallVector<KernelArgument> arguments;
  mlir::AffineExpr cost;   ///< Element operations, roughly: whether threads pay.
  int64_t workBytes = 0;   ///< Scratch for each task.
  bool isParallel = false; ///< Tasks may run at the same time; their number does not matter.
};

/// Builds the body of a kernel.
class KernelBuilder {
public:
  KernelBuilder(mlir::ModuleOp module, llvm::StringRef name, ShapeAnalysis &shapes,
                const TargetInfo &target, mlir::Location loc);

  mlir::OpBuilder b;
  mlir::Location loc;
  ShapeAnalysis &shapes;
  const TargetInfo &target;
  mlir::ModuleOp module;
  mlir::Value task, tasks; ///< Which part, of how many.
  mlir::Type i64, ptr;

  /// The address of `tensor`, and sizes; each is passed once.
  mlir::Value address(mlir::Value tensor);
  mlir::Value size(mlir::AffineExpr expr);
  /// The scratch memory of this task.
  mlir::Value work(int64_t bytes);

  // Arithmetic on i64 that folds constants.
  mlir::Value c(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x, mlir::Value y);
  mlir::Value rem(mlir::Value x, mlir::Value y);
  mlir::Value less(mlir::Value x, mlir::Value y);
  mlir::Value equal(mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);

  /// The number of leaves of a sum over a first axis of length `n` (leafCount of ir/interpret).
  mlir::Value leafCount(mlir::Value n);
  /// The same for a sum that goes on with the chains in `leaves`, which has room for so many only.
  mlir::Value leafCount(mlir::Value n, mlir::Value leaves);

  /// for i = lo; i < hi; i += step, carrying `init`.
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value lo, mlir::Value hi, mlir::Value step, mlir::ValueRange init,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);
  void loop(mlir::Value lo, mlir::Value hi, mlir::Value step,
            llvm::function_ref<void(mlir::Value)> body);
  void when(mlir::Value condition, llvm::function_ref<void()> body);

  // Elements in memory. A bool is a byte, 0 or 1; in a register it is an i1.
  mlir::Type memoryType(mlir::Type element);
  mlir::Value pointerTo(mlir::Value address, mlir::Type element, mlir::Value offset);
  mlir::Value load(mlir::Value address, mlir::Type element, mlir::Value offset);
  void store(mlir::Value value, mlir::Value address, mlir::Type element, mlir::Value offset);
  /// `lanes` neighbours; with a mask absent ones are zero and are not touched.
  mlir::Value loadLanes(mlir::Value address, mlir::Type element, mlir::Value offset, int64_t lanes,
                        mlir::Value mask);
  void storeLanes(mlir::Value value, mlir::Value address, mlir::Type element, mlir::Value offset,
                  mlir::Value mask);
  /// Elements at a vector of offsets.
  mlir::Value gatherLanes(mlir::Value address, mlir::Type element, mlir::Value offsets,
                          mlir::Value mask);
  /// `value` in `lanes` lanes; the numbers 0, 1, ...; lanes below `count`.
  mlir::Value splat(mlir::Value value, int64_t lanes);
  mlir::Value laneNumbers(int64_t lanes);
  mlir::Value lanesBelow(mlir::Value count, int64_t lanes);
  mlir::Value zero(mlir::Type registerType);

  /// Ends the function.
  Kernel finish(mlir::AffineExpr cost, bool isParallel);

private:
  mlir::Value word(KernelArgument argument, mlir::Type type);
  mlir::Value toRegister(mlir::Value value, mlir::Type element);
  mlir::Value toMemory(mlir::Value value, mlir::Type element);

  Kernel kernel_;
  llvm::DenseMap<mlir::Value, mlir::Value> addresses_;
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> sizes_;
  mlir::Value work_;
};

/// Builds the kernel of a fused group, a reduction, a contraction, a scatter.
Kernel buildFusedKernel(mlir::Operation *fused, KernelBuilder &k);
Kernel buildReductionKernel(ReductionOpInterface op, KernelBuilder &k);
Kernel buildContractionKernel(ContractionOpInterface op, KernelBuilder &k);
Kernel buildScatterKernel(ScatterOpInterface op, KernelBuilder &k);

} // namespace pdg
