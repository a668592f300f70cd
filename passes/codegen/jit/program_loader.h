// Loads a compiled program into this process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <memory>

namespace llvm::orc {
class LLJIT;
}

namespace pdg {

/// A program in memory. Its functions are valid as long as it lives.
class LoadedProgram {
public:
  using Function = int64_t (*)(void *context, char **variables, char *arena);

  /// Links `object`, or an archive of objects, which may call the functions of runtime/abi.def and
  /// the memory functions of C.
  static llvm::Expected<std::unique_ptr<LoadedProgram>>
  load(std::unique_ptr<llvm::MemoryBuffer> object);
  ~LoadedProgram();

  Function init() const { return init_; }
  Function main() const { return main_; }

private:
  LoadedProgram();
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  Function init_ = nullptr, main_ = nullptr;
};

} // namespace pdg
