// Compiles graphs to native code, with a cache: the same program is compiled once on a machine.
// SPDX-License-Identifier: Apache-2.0
#include "tools/run_native.h"

#include "passes/codegen/cpu/native_program.h"
#include "passes/codegen/jit/object_compiler.h"
#include "passes/codegen/jit/program_cache.h"
#include "tools/interrupt.h"

namespace pdg {

static void report(Compilation &compilation, std::string message) {
  compilation.diagnostics().report(DiagCode::PD1000, {}, std::move(message));
}

static TargetInfo targetOf(const std::string &isa) {
  return isa == "avx2" ? avx2Target() : isa == "avx512" ? avx512Target() : hostTarget();
}

static std::optional<TargetInfo> chooseTarget(Compilation &compilation, const std::string &isa) {
  TargetInfo target = targetOf(isa);
  if (!target.name.empty() && (isa.empty() || hostRuns(target)))
    return target;
  report(compilation, isa.empty() ? "native code needs a processor with AVX2 and FMA; --interpret "
                                    "runs the program on any"
                                  : "this processor does not run " + isa + " code");
  return std::nullopt;
}

/// What the code and its tables depend on: the graph with its places, and the lines that run-time
/// errors show.
static std::string keyOf(Compilation &compilation, mlir::ModuleOp module,
                         const TargetInfo &target) {
  std::string graph;
  llvm::raw_string_ostream stream(graph);
  module.print(stream, mlir::OpPrintingFlags().enableDebugInfo());
  std::string sources = compilation.sourceTexts();
  return ProgramCache::keyOf({graph, sources, target.name});
}

static std::optional<NativeProgram> compile(Compilation &compilation, mlir::ModuleOp module,
                                            const TargetInfo &target, NativeStages *stages) {
  mlir::DialectRegistry registry;
  registerCodegenDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  mlir::FailureOr<NativeProgram> program =
      compileNative(module, {compilation.excerpts()}, target, stages, isInterrupted);
  if (failed(program))
    return std::nullopt;
  return std::move(*program);
}

std::optional<NativeCode> loadNative(Compilation &compilation, const std::string &isa) {
  return loadNative(compilation, compilation.module(), isa);
}

static std::optional<NativeObject> compileFor(const TargetInfo &target, Compilation &compilation,
                                              mlir::ModuleOp module) {
  ProgramCache cache;
  std::string key = keyOf(compilation, module, target);
  if (std::optional<ProgramCache::Entry> entry = cache.find(key))
    return NativeObject{std::move(entry->info), std::move(entry->object), target.name};
  std::optional<NativeProgram> program = compile(compilation, module, target, nullptr);
  if (!program)
    return std::nullopt;
  cache.store(key, program->info, *program->object);
  return NativeObject{std::move(program->info), std::move(program->object), target.name};
}

std::optional<NativeObject> compileNative(Compilation &compilation, mlir::ModuleOp module,
                                          const std::string &isa) {
  std::optional<TargetInfo> target = chooseTarget(compilation, isa);
  return target ? compileFor(*target, compilation, module) : std::nullopt;
}

std::optional<NativeObject> buildNative(Compilation &compilation, mlir::ModuleOp module,
                                        const std::string &isa) {
  return compileFor(targetOf(isa), compilation, module);
}

std::unique_ptr<LoadedProgram> loadObject(Compilation &compilation, const NativeObject &code) {
  auto loaded = LoadedProgram::load(llvm::MemoryBuffer::getMemBufferCopy(code.object->getBuffer()));
  if (loaded)
    return std::move(*loaded);
  report(compilation, "cannot load the compiled program: " + llvm::toString(loaded.takeError()));
  return nullptr;
}

std::optional<NativeCode> loadNative(Compilation &compilation, mlir::ModuleOp module,
                                     const std::string &isa) {
  std::optional<NativeObject> code = compileNative(compilation, module, isa);
  if (!code)
    return std::nullopt;
  std::unique_ptr<LoadedProgram> program = loadObject(compilation, *code);
  if (!program)
    return std::nullopt;
  return NativeCode{std::move(code->info), std::move(program)};
}

std::optional<NativeTexts> emitNative(Compilation &compilation, const std::string &isa,
                                      std::string_view last) {
  // Texts are made for any target, also one that this processor does not run.
  std::optional<TargetInfo> target =
      isa.empty() ? chooseTarget(compilation, "") : std::optional(targetOf(isa));
  NativeStages stages;
  stages.last = last == "loops"  ? NativeStages::Loops
                : last == "llvm" ? NativeStages::Llvm
                                 : NativeStages::Assembly;
  if (!target || !compile(compilation, compilation.module(), *target, &stages))
    return std::nullopt;
  return NativeTexts{std::move(stages.loops), std::move(stages.llvm), std::move(stages.assembly)};
}

} // namespace pdg
