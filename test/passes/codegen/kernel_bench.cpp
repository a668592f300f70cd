// Prints the speed of single kernels in GFLOP/s, the best of many short batches on one thread.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/kernels/conv.h"
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

void benchConv(const char *name, int64_t examples, int64_t leaves, const ConvSpec &s,
               const TargetInfo &target) {
  KernelJit jit(target);
  std::string forward = emitConvForward(jit.module(), s, target).getName().str();
  std::string inputGrad = emitConvInputGrad(jit.module(), s, target).getName().str();
  std::string weightGrad = emitConvWeightGrad(jit.module(), s, target).getName().str();
  jit.compile();
  std::vector<float> x(examples * s.channels * s.height * s.width, 0.5f), w(s.filters * s.terms());
  std::vector<float> y(examples * s.filters * s.outPixels(), 0.25f), bias(s.filters);
  int64_t bytes = std::max({convForwardWorkBytes(s, target), convInputGradWorkBytes(s, target),
                            convWeightGradWorkBytes(s, target)});
  Guarded<char> work(bytes, GuardedBuffer::Side::Low, 64);
  auto report = [&](const char *what, double seconds) {
    std::printf("%-8s %-28s %7.1f GFLOP/s  %s\n", target.name.c_str(), name,
                2e-9 * s.terms() * y.size() / seconds, what);
  };
  using Forward = void(void *, void *, void *, void *, void *, int64_t, int64_t);
  using InputGrad = void(void *, void *, void *, void *, int64_t, int64_t);
  using WeightGrad =
      void(void *, void *, void *, void *, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);
  auto *first = jit.lookup<Forward>(forward);
  auto *second = jit.lookup<InputGrad>(inputGrad);
  auto *third = jit.lookup<WeightGrad>(weightGrad);
  report("forward", bestSeconds([&] {
           first(x.data(), w.data(), y.data(), bias.data(), work.data(), 0, examples);
         }));
  report("input gradient",
         bestSeconds([&] { second(y.data(), w.data(), x.data(), work.data(), 0, examples); }));
  report("weight gradient", bestSeconds([&] {
           third(x.data(), y.data(), w.data(), work.data(), examples, leaves, 0, s.filters, 0,
                 s.terms());
         }));
}

ConvSpec square(int64_t channels, int64_t size, int64_t filters, int64_t kernel, int64_t pad) {
  ConvSpec s;
  s.channels = channels, s.height = s.width = size, s.filters = filters;
  s.kernelH = s.kernelW = kernel;
  s.padTop = s.padBottom = s.padLeft = s.padRight = pad;
  return s;
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
    benchConv("5x5 1->20, 28x28, b64", 64, 4, square(1, 28, 20, 5, 0), target);
    benchConv("5x5 20->50, 12x12, b64", 64, 4, square(20, 12, 50, 5, 0), target);
    benchConv("5x5 6->16, 14x14, b64", 64, 4, square(6, 14, 16, 5, 0), target);
    benchConv("3x3 16->16, 32x32 pad 1, b32", 32, 2, square(16, 32, 16, 3, 1), target);
  }
}
