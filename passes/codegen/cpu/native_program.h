// From a graph to native code: the passes, the memory plan, the functions, the object.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/program_tables.h"
#include "passes/codegen/jit/target_info.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"

namespace pdg {

/// A program compiled for one target: its tables and a relocatable object that defines `pdg_init`
/// and `pdg_main`.
struct NativeProgram {
  ProgramInfo info;
  std::unique_ptr<llvm::MemoryBuffer> object;
};

/// Intermediate texts, for those who want to read them. No object is made then.
struct NativeStages {
  enum Stage { Loops, Llvm, Assembly } last = Assembly; ///< The last text that is wanted.
  std::string loops; ///< Kernels and program in upstream dialects.
  std::string llvm;  ///< LLVM IR.
  std::string assembly;
};

/// Compiles `graph`, which has no gradients any more, and changes it. Fails with an error at an op.
/// When `isStopped`, which is asked now and then, says so, it fails soon and reports nothing.
/// Requires: registerCodegenDialects on the context.
mlir::FailureOr<NativeProgram> compileNative(mlir::ModuleOp graph, const TableOptions &options,
                                             const TargetInfo &target,
                                             NativeStages *stages = nullptr,
                                             llvm::function_ref<bool()> isStopped = {});

} // namespace pdg
