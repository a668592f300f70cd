// Runs the stages of native compilation one after the other.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/native_program.h"
#include "passes/codegen/cpu/memory_plan.h"
#include "passes/codegen/cpu/program_lowering.h"
#include "passes/codegen/jit/object_compiler.h"
#include "passes/pipelines.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace pdg {

FailureOr<NativeProgram> compileNative(ModuleOp graph, const TableOptions &options,
                                       const TargetInfo &target, NativeStages *stages,
                                       llvm::function_ref<bool()> isStopped) {
  auto stopped = [&] { return isStopped && isStopped(); };
  MLIRContext *context = graph.getContext();
  PassManager pm(context, ModuleOp::getOperationName());
  buildNativePipeline(pm);
  if (failed(pm.run(graph)))
    return failure();
  FailureOr<ProgramTables> tables = ProgramTables::build(graph, options);
  if (failed(tables))
    return failure();
  ShapeAnalysis shapes;
  MemoryPlan plan(graph, shapes);
  if (stopped() || failed(plan.build()) || stopped())
    return failure();
  context->loadDialect<LLVM::LLVMDialect, arith::ArithDialect, scf::SCFDialect, math::MathDialect,
                       vector::VectorDialect, cf::ControlFlowDialect>();
  OwningOpRef<ModuleOp> code = ModuleOp::create(UnknownLoc::get(context));
  ProgramLowering lowering(graph, *code, *tables, shapes, plan, target);
  if (failed(lowering.run()) || stopped())
    return failure();
  if (stages) {
    llvm::raw_string_ostream text(stages->loops);
    code->print(text);
    if (stages->last == NativeStages::Loops)
      return NativeProgram{tables->info(), nullptr};
  }
  ObjectOptions objectOptions;
  objectOptions.verify = objectOptions.isTextOnly = stages != nullptr;
  objectOptions.isStopped = isStopped;
  if (stages) {
    objectOptions.llvmIr = &stages->llvm;
    objectOptions.assembly = stages->last == NativeStages::Assembly ? &stages->assembly : nullptr;
  }
  auto object = compileToObject(*code, target, objectOptions);
  if (!object) {
    std::string message = llvm::toString(object.takeError());
    if (!stopped())
      emitError(graph.getLoc()) << "cannot compile: " << message;
    return failure();
  }
  NativeProgram program{tables->info(), std::move(*object)};
  program.info.arenaBytes = lowering.arenaBytes();
  return program;
}

} // namespace pdg
