// The two CPU targets and which of them this processor runs.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/jit/target_info.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

#include <unistd.h>

namespace pdg {

static int64_t hostL2Bytes() {
  long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes >= (256 << 10) ? bytes : 1 << 20;
}

TargetInfo avx2Target() { return {"avx2", "x86-64-v3", "", 256, 16, hostL2Bytes()}; }

TargetInfo avx512Target() { return {"avx512", "x86-64-v4", "", 512, 32, hostL2Bytes()}; }

bool hostRuns(const TargetInfo &target) {
  static const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  auto has = [&](std::initializer_list<const char *> names) {
    for (const char *name : names)
      if (!features.lookup(name))
        return false;
    return true;
  };
  bool avx2 = has({"avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe"});
  if (target.name == "avx2")
    return avx2;
  return target.name == "avx512" && avx2 &&
         has({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"});
}

TargetInfo hostTarget() {
  for (const TargetInfo &target : {avx512Target(), avx2Target()})
    if (hostRuns(target))
      return target;
  return {};
}

} // namespace pdg
