// Loads shared objects from memory.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/module/loaded_code.h"
#include "runtime/abi.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace pdg {
namespace {

/// The functions that loaded code calls: named here, so that a linker keeps them in a program that
/// does not call them itself.
#define PDG_ABI(result, name, parameters) reinterpret_cast<void *>(&name),
[[gnu::used]] void *const keptFunctions[] = {
#include "runtime/abi.def"
};

struct File {
  int fd;
  ~File() {
    if (fd >= 0)
      close(fd);
  }
};

absl::Status writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory for the program's code: ", std::strerror(errno)));
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

} // namespace

std::vector<std::string> runnableIsas() {
  std::vector<std::string> isas;
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    isas.push_back("avx512");
  if (avx2)
    isas.push_back("avx2");
  return isas;
}

absl::StatusOr<std::unique_ptr<LoadedCode>> LoadedCode::load(const Module &module,
                                                             const std::string &isa) {
  const std::string *library = nullptr;
  std::vector<std::string> runnable = runnableIsas();
  for (const std::string &candidate : runnable)
    if (auto found = module.code.find(candidate);
        found != module.code.end() && (isa.empty() || isa == candidate) && !library)
      library = &found->second;
  if (!library)
    return absl::FailedPreconditionError(absl::StrCat(
        "the module has no code that this processor runs",
        isa.empty() ? "" : absl::StrCat(" for ", isa), " (it runs ",
        runnable.empty() ? "neither avx2 nor avx512" : absl::StrJoin(runnable, ", "), ")"));
  File file{memfd_create("pdg-module", MFD_CLOEXEC)};
  if (file.fd < 0)
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot make memory for the program's code: ", std::strerror(errno)));
  if (absl::Status status = writeAll(file.fd, *library); !status.ok())
    return status;
  void *handle = dlopen(absl::StrCat("/proc/self/fd/", file.fd).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return absl::InvalidArgumentError(absl::StrCat("cannot load the program's code: ", dlerror()));
  std::unique_ptr<LoadedCode> code(new LoadedCode(handle));
  if (absl::Status status = code->findFunctions(); !status.ok())
    return status;
  return code;
}

absl::Status LoadedCode::findFunctions() {
  for (auto [name, function] : {std::pair("pdg_init", &init_), std::pair("pdg_main", &main_)}) {
    *function = reinterpret_cast<CompiledFunction>(dlsym(handle_, name));
    if (!*function)
      return absl::InvalidArgumentError(absl::StrCat("the program's code has no ", name));
  }
  return absl::OkStatus();
}

LoadedCode::~LoadedCode() { dlclose(handle_); }

} // namespace pdg
