// The shortest way from upstream dialects to an object: two MLIR passes, translation, code
// generation. LLVM's optimizer is left out on purpose (see the README).
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/jit/object_compiler.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/SplitModule.h"

#include <mutex>

using namespace mlir;

namespace pdg {

void registerCodegenDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  vector::registerConvertVectorToLLVMInterface(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

static llvm::Error failure(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const TargetInfo &target) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string error;
  const llvm::Target *backend = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return failure("no code generator for " + triple.str() + ": " + error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(
      backend->createTargetMachine(triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
                                   std::nullopt, llvm::CodeGenOptLevel::Default, /*JIT=*/true));
  if (!machine)
    return failure("cannot create a code generator for " + target.cpu);
  return machine;
}

static void setTargetAttributes(llvm::Module &module, const TargetInfo &target) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty())
      function.addFnAttr("target-features", target.features);
    function.addFnAttr("prefer-vector-width", std::to_string(target.vectorBits));
  }
}

/// Writes the code of `module`, which the code generator changes, as an object or as assembly.
static llvm::Error emitCode(llvm::Module &module, llvm::TargetMachine &machine,
                            llvm::CodeGenFileType type, bool verify,
                            llvm::SmallVectorImpl<char> &bytes) {
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager codegen;
  if (machine.addPassesToEmitFile(codegen, stream, nullptr, type, !verify))
    return failure("the code generator cannot write this kind of file");
  codegen.run(module);
  return llvm::Error::success();
}

//===- Large programs ------------------------------------------------------===//

/// How many objects a module becomes. It depends on the module alone, so that every machine writes
/// the same bytes.
static unsigned partsOf(llvm::Module &module) {
  constexpr unsigned FunctionsPerPart = 96, MaxParts = 16;
  unsigned functions = llvm::count_if(module, [](auto &f) { return !f.isDeclaration(); });
  return std::clamp(functions / FunctionsPerPart, 1u, MaxParts);
}

static bool isStopped(const ObjectOptions &options) {
  return options.isStopped && options.isStopped();
}

/// Compiles one part, given as bitcode, in a context of its own.
static llvm::Error compilePart(llvm::StringRef bitcode, const TargetInfo &target,
                               const ObjectOptions &options, llvm::SmallVectorImpl<char> &bytes) {
  if (isStopped(options))
    return failure("stopped");
  llvm::LLVMContext context;
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "part"), context);
  if (!module)
    return module.takeError();
  auto machine = createTargetMachine(target);
  if (!machine)
    return machine.takeError();
  return emitCode(**module, **machine, llvm::CodeGenFileType::ObjectFile, options.verify, bytes);
}

/// Compiles `module` as `parts` objects on all processors and joins them in an archive. A context
/// of LLVM belongs to one thread, so the parts travel as bitcode.
static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
compileParts(llvm::Module &module, const TargetInfo &target, unsigned parts,
             const ObjectOptions &options) {
  std::vector<llvm::SmallVector<char, 0>> bitcode, objects(parts);
  auto write = [&](std::unique_ptr<llvm::Module> part) {
    llvm::raw_svector_ostream stream(bitcode.emplace_back());
    llvm::WriteBitcodeToFile(*part, stream);
  };
  llvm::SplitModule(module, parts, write, /*PreserveLocals=*/false, /*RoundRobin=*/true);
  std::vector<std::string> errors(parts);
  llvm::DefaultThreadPool pool;
  for (unsigned i = 0; i < parts; ++i)
    pool.async([&, i] {
      llvm::StringRef text(bitcode[i].data(), bitcode[i].size());
      if (llvm::Error error = compilePart(text, target, options, objects[i]))
        errors[i] = llvm::toString(std::move(error));
    });
  pool.wait();
  std::vector<llvm::NewArchiveMember> members;
  for (unsigned i = 0; i < parts; ++i) {
    if (!errors[i].empty())
      return failure(errors[i]);
    llvm::StringRef object(objects[i].data(), objects[i].size());
    members.emplace_back(llvm::MemoryBufferRef(object, "part.o"));
  }
  return llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NoSymtab,
                                    llvm::object::Archive::K_GNU, /*Deterministic=*/true,
                                    /*Thin=*/false);
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
compileToObject(ModuleOp module, const TargetInfo &target, const ObjectOptions &options) {
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  passes.enableVerifier(options.verify);
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertToLLVMPass());
  if (failed(passes.run(module)))
    return failure("lowering to the LLVM dialect failed");
  if (isStopped(options))
    return failure("stopped");

  auto machine = createTargetMachine(target);
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(module, llvmContext);
  if (!llvmModule)
    return failure("translation to LLVM IR failed");
  llvmModule->setDataLayout((*machine)->createDataLayout());
  llvmModule->setTargetTriple((*machine)->getTargetTriple());
  setTargetAttributes(*llvmModule, target);
  if (options.llvmIr) {
    llvm::raw_string_ostream text(*options.llvmIr);
    llvmModule->print(text, nullptr);
  }

  llvm::SmallVector<char, 0> bytes;
  if (options.assembly) {
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*llvmModule);
    if (llvm::Error error =
            emitCode(*copy, **machine, llvm::CodeGenFileType::AssemblyFile, options.verify, bytes))
      return error;
    options.assembly->assign(bytes.begin(), bytes.end());
    bytes.clear();
  }
  if (options.isTextOnly)
    return nullptr;
  if (unsigned parts = partsOf(*llvmModule); parts > 1)
    return compileParts(*llvmModule, target, parts, options);
  if (llvm::Error error = emitCode(*llvmModule, **machine, llvm::CodeGenFileType::ObjectFile,
                                   options.verify, bytes))
    return error;
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), "pdg.o",
                                                         /*RequiresNullTerminator=*/false);
}

} // namespace pdg
