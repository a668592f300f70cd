// Prints the speed of single kernels in GFLOP/s, the best of many short batches on one thread.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/kernels/gemm.h"
#include "test/passes/codegen/kernel_jit.h"

#include <chrono>
#include <cstdio>

namespace pdg::test {
namespace {

template <typename Call> double bestSeconds(Call call) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  int calls = 1;
  for (int batch = 0; batch < 60; ++batch) {
    auto begin = Clock::now();
    for (int i = 0; i < calls; ++i)
      call();
    double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (seconds < 1e-3) {
      calls *= 2;
      continue;
    }
    best = std::min(best, seconds / calls);
  }
  return best;
}

using Kernel = void(const void *, const void *, void *, const void *, void *, int64_t, int64_t,
                    int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);

void benchGemm(const char *name, int64_t m, int64_t k, int64_t n, bool transA, bool transB,
               int64_t leaves, bool dynamicM, const TargetInfo &target) {
  GemmSpec spec;
  if (!dynamicM)
    spec.m = m;
  spec.usualM = m, spec.n = n, spec.k = k;
  spec.transA = transA, spec.transB = transB, spec.leafK = leaves > 0;
  KernelJit jit(target);
  auto begin = std::chrono::steady_clock::now();
  std::string symbol = emitGemm(jit.module(), spec, target).getName().str();
  jit.compile();
  auto *kernel = jit.lookup<Kernel>(symbol);
  double compile = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::vector<float> a(m * k, 0.5f), b(k * n, 0.25f), c(m * n);
  Guarded<char> work(gemmWorkBytes(spec, target), GuardedBuffer::Side::Low, 64);
  double seconds = bestSeconds([&] {
    kernel(a.data(), b.data(), c.data(), nullptr, work.data(), 0, m, 0, n, m, n, k, leaves);
  });
  std::printf("%-8s %-28s %7.1f GFLOP/s  (compiled in %.0f ms)\n", target.name.c_str(), name,
              2e-9 * m * n * k / seconds, compile * 1e3);
}

} // namespace
} // namespace pdg::test

int main() {
  using namespace pdg::test;
  for (const pdg::TargetInfo &target : testedTargets()) {
    benchGemm("64x784x256", 64, 784, 256, false, false, 0, false, target);
    benchGemm("64x784x256, M dynamic", 64, 784, 256, false, false, 0, true, target);
    benchGemm("AtB 784x64x256, 4 leaves", 784, 64, 256, true, false, 4, false, target);
    benchGemm("AtB 784x64x256, no leaves", 784, 64, 256, true, false, 0, false, target);
    benchGemm("ABt 64x10x256", 64, 10, 256, false, true, 0, false, target);
    benchGemm("AtB 256x64x10, 4 leaves", 256, 64, 10, true, false, 4, false, target);
    benchGemm("64x256x10", 64, 256, 10, false, false, 0, false, target);
    benchGemm("512x512x512", 512, 512, 512, false, false, 0, false, target);
    benchGemm("1024x1024x1024", 1024, 1024, 1024, false, false, 0, false, target);
    benchGemm("ABt 64x256x784", 64, 256, 784, false, true, 0, false, target);
  }
}
