// Native code of a module in this process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/module/module.h"
#include "runtime/worker/execution_context.h"

namespace pdg {

/// The instruction sets for which there is code, best first, that this processor runs: "avx512",
/// "avx2".
std::vector<std::string> runnableIsas();

/// A loaded shared object. Its functions are valid as long as it lives.
class LoadedCode {
public:
  /// Loads the code for `isa`, or if that is empty the best that this processor runs, from memory:
  /// no file is written. The code may call the functions of runtime/abi.def, which the program that
  /// loads it exports.
  static absl::StatusOr<std::unique_ptr<LoadedCode>> load(const Module &module,
                                                          const std::string &isa = {});
  ~LoadedCode();
  LoadedCode(const LoadedCode &) = delete;
  LoadedCode &operator=(const LoadedCode &) = delete;

  CompiledFunction init() const { return init_; }
  CompiledFunction main() const { return main_; }

private:
  explicit LoadedCode(void *handle) : handle_(handle) {}
  absl::Status findFunctions();

  void *handle_;
  CompiledFunction init_ = nullptr, main_ = nullptr;
};

} // namespace pdg
