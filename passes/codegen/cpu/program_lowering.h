// The functions of a program: control flow between kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/program_tables.h"
#include "passes/codegen/cpu/kernel.h"
#include "passes/codegen/cpu/memory_plan.h"

namespace pdg {

/// Builds `pdg_init` and `pdg_main` of `module` (after pdg-fuse) and all kernels into `code`, a
/// module of upstream dialects.
class ProgramLowering : public Lowering {
public:
  ProgramLowering(mlir::ModuleOp module, mlir::ModuleOp code, const ProgramTables &tables,
                  ShapeAnalysis &shapes, const MemoryPlan &plan, const TargetInfo &target);

  /// Builds everything. Fails with an error at an op.
  mlir::LogicalResult run();
  /// The bytes that the program needs, scratch of its tasks included.
  int64_t arenaBytes() const;

  mlir::Value constant(int64_t value) override;
  mlir::Value pointer(mlir::Value tensor) override;
  llvm::SmallVector<mlir::Value> sizes(mlir::Value tensor) override;
  mlir::Value loadScalar(mlir::Value tensor) override;
  void storeScalar(mlir::Value element, mlir::Value tensor) override;
  void copy(mlir::ValueRange from, mlir::ValueRange to) override;
  void copyRow(mlir::Value row, mlir::Value table, mlir::Value at) override;
  mlir::Value call(llvm::StringRef name, mlir::ValueRange arguments) override;
  void stopIf(mlir::Value status) override;
  mlir::Block *newBlock(unsigned counters) override;
  void enter(mlir::Block *block) override;
  void branch(mlir::Block *to, mlir::ValueRange counters) override;
  void branchIf(mlir::Value condition, mlir::Block *then, mlir::Block *otherwise) override;
  mlir::LogicalResult lowerBlock(mlir::Block &block) override;
  mlir::Value addressTable(mlir::ValueRange tensors) override;
  mlir::Value sizeTable(mlir::ValueRange tensors) override;
  mlir::Value room(int64_t count) override;
  mlir::Value loadAddress(mlir::Value table, int64_t index) override;
  mlir::Value loadWord(mlir::Value table, int64_t index) override;
  void setPointer(mlir::Value tensor, mlir::Value address) override;
  void setBatch(mlir::Value tensor, mlir::Value examples) override;
  void assign(mlir::Operation *assign, mlir::Attribute name, mlir::Value value) override;
  void read(mlir::Attribute name, mlir::Value result) override;
  mlir::Value textSite(mlir::Operation *op) override;
  mlir::Value fetchSite(llvm::StringRef name) override;
  mlir::Value sourceIndex(mlir::Attribute source) override;
  mlir::Value inputIndex(llvm::StringRef name) override;
  mlir::Value edgeIndex(mlir::Attribute edge) override;

private:
  /// Tasks have scratch memory of their own; this many at most run.
  static constexpr int64_t kMaxTasks = 64;

  void startFunction(llvm::StringRef name);
  void endFunction();
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult lowerChecks(mlir::Operation *op);
  void checkSizes(mlir::Operation *op);
  void checkElements(mlir::Operation *op, const RunCheck &check);
  void launch(Kernel kernel);
  mlir::LLVM::LLVMFuncOp shared(mlir::LLVM::LLVMFuncOp kernel);
  KernelBuilder newKernel(mlir::Operation *op);
  mlir::Value size(mlir::AffineExpr expr);
  mlir::Value symbolValue(unsigned position);
  mlir::Value bytesOf(mlir::Value tensor);
  mlir::Value arenaAt(int64_t offset);
  mlir::Value wordAt(mlir::Value table, int64_t index);
  mlir::Value variableAddress(mlir::Attribute name);
  mlir::Value constantAddress(mlir::Value tensor);
  void copyBytes(mlir::Value to, mlir::Value from, mlir::Value bytes);

  mlir::OpBuilder builder_;
  mlir::ModuleOp module_, code_;
  const ProgramTables &tables_;
  ShapeAnalysis &shapes_;
  const MemoryPlan &plan_;
  const TargetInfo &target_;
  mlir::Location loc_;
  mlir::Type i64_, ptr_;

  mlir::LLVM::LLVMFuncOp function_;
  mlir::Block *exit_ = nullptr;
  mlir::Value threads_, arguments_;
  llvm::DenseMap<mlir::Value, mlir::Value> bound_;   ///< Addresses given while running.
  llvm::DenseMap<mlir::Value, mlir::Value> batches_; ///< Examples of a batch, by its first field.
  llvm::DenseMap<mlir::Attribute, std::string> globals_; ///< Constants by their elements.
  /// Kernels by the hash of their bodies.
  llvm::DenseMap<llvm::hash_code, llvm::SmallVector<mlir::LLVM::LLVMFuncOp, 1>> byBody_;
  int64_t maxArguments_ = 1, kernels_ = 0;
  int64_t workBytes_ = 0; ///< Scratch of all tasks of the kernel that needs most.
};

} // namespace pdg
