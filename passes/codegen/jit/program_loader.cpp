// Links objects with ORC. The symbols that they may use are listed, nothing else resolves.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/jit/program_loader.h"
#include "runtime/abi.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Object/Archive.h"
#include "llvm/Support/TargetSelect.h"

#include <cstring>

using namespace llvm;

namespace pdg {

LoadedProgram::LoadedProgram() = default;
LoadedProgram::~LoadedProgram() = default;

/// The functions that compiled code calls.
static orc::SymbolMap symbolsOf(orc::LLJIT &jit) {
  orc::SymbolMap symbols;
  auto add = [&](StringRef name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                          JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  };
#define PDG_ABI(result, name, parameters) add(#name, &name);
#include "runtime/abi.def"
  add("memcpy", &memcpy);
  add("memmove", &memmove);
  add("memset", &memset);
  return symbols;
}

/// Adds an object, or those of an archive.
static Error addObjects(orc::LLJIT &jit, std::unique_ptr<MemoryBuffer> object) {
  if (identify_magic(object->getBuffer()) != file_magic::archive)
    return jit.addObjectFile(std::move(object));
  auto archive = object::Archive::create(*object);
  if (!archive)
    return archive.takeError();
  Error error = Error::success();
  for (const object::Archive::Child &child : (*archive)->children(error)) {
    auto member = child.getMemoryBufferRef();
    if (!member)
      return member.takeError();
    auto copy = MemoryBuffer::getMemBufferCopy(member->getBuffer(), member->getBufferIdentifier());
    if (Error failed = jit.addObjectFile(std::move(copy)))
      return failed;
  }
  return error;
}

Expected<std::unique_ptr<LoadedProgram>> LoadedProgram::load(std::unique_ptr<MemoryBuffer> object) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  auto jit = orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  std::unique_ptr<LoadedProgram> program(new LoadedProgram());
  program->jit_ = std::move(*jit);
  orc::JITDylib &library = program->jit_->getMainJITDylib();
  if (Error error = library.define(orc::absoluteSymbols(symbolsOf(*program->jit_))))
    return error;
  if (Error error = addObjects(*program->jit_, std::move(object)))
    return error;
  for (auto [name, function] :
       {std::pair("pdg_init", &program->init_), std::pair("pdg_main", &program->main_)}) {
    auto symbol = program->jit_->lookup(name);
    if (!symbol)
      return symbol.takeError();
    *function = symbol->toPtr<Function>();
  }
  return program;
}

} // namespace pdg
