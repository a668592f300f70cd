// Generated pooling and its gradients have the bits of plain loops, and touch nothing out of
// bounds. SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/kernels/pool.h"
#include "test/passes/codegen/kernel_jit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace pdg::test {
namespace {

using Kernel = void(const void *, const void *, void *, int64_t, int64_t);

constexpr int64_t kPlanes = 3;

std::string describe(const PoolSpec &s) {
  std::string text = "kind " + std::to_string(s.kind) + (s.isF64 ? " f64" : " f32");
  for (int64_t size : {s.height, s.width, s.windowH, s.windowW, s.strideH, s.strideW, s.padTop,
                       s.padBottom, s.padLeft, s.padRight})
    text += " " + std::to_string(size);
  return text + " (picture window stride padding)";
}

/// What pool.h says, as loops over one plane.
template <typename T> class Reference {
public:
  Reference(const PoolSpec &spec, const T *first, const T *second, T *out)
      : s(spec), first(first), second(second), out(out) {}

  void run() {
    bool isGradient = s.kind == PoolSpec::MaxGrad || s.kind == PoolSpec::SumGrad;
    if (isGradient)
      std::fill_n(out, s.height * s.width, T(0));
    for (int64_t i = 0; i < s.outHeight(); ++i)
      for (int64_t j = 0; j < s.outWidth(); ++j)
        window(i, j);
  }

private:
  void window(int64_t i, int64_t j) {
    std::vector<int64_t> places;
    for (int64_t u = 0; u < s.windowH; ++u)
      for (int64_t v = 0; v < s.windowW; ++v) {
        int64_t row = i * s.strideH - s.padTop + u, column = j * s.strideW - s.padLeft + v;
        if (row >= 0 && row < s.height && column >= 0 && column < s.width)
          places.push_back(row * s.width + column);
      }
    int64_t at = i * s.outWidth() + j;
    switch (s.kind) {
    case PoolSpec::Max:
      // A NaN wins, and +0 is above -0.
      out[at] = first[places.front()];
      for (int64_t place : places)
        if (isLarger(first[place], out[at]) ||
            (first[place] == 0 && out[at] == 0 && !std::signbit(first[place])))
          out[at] = first[place];
      break;
    case PoolSpec::MaxAt:
      out[at] = second[largest(first, places)];
      break;
    case PoolSpec::MaxGrad:
      out[largest(second, places)] += first[at];
      break;
    case PoolSpec::Sum:
      out[at] = 0;
      for (int64_t place : places)
        out[at] += first[place];
      break;
    case PoolSpec::SumGrad:
      for (int64_t place : places)
        out[place] += first[at];
      break;
    }
  }

  static bool isLarger(T x, T best) { return best == best && (x > best || x != x); }

  static int64_t largest(const T *x, const std::vector<int64_t> &places) {
    int64_t best = places.front();
    for (int64_t place : places)
      if (isLarger(x[place], x[best]))
        best = place;
    return best;
  }

  const PoolSpec &s;
  const T *first, *second;
  T *out;
};

/// Numbers with many ties and some special ones.
template <typename T> void fill(Guarded<T> &array, std::mt19937 &random) {
  const T specials[] = {-T(0), T(0), std::numeric_limits<T>::infinity(),
                        -std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()};
  for (T &value : array.values())
    value = random() % 10 == 0 ? specials[random() % 5] : T(int(random() % 7)) - 3;
}

template <typename T> void checkOne(const PoolSpec &s, KernelJit &jit, std::mt19937 &random) {
  auto side = random() % 2 ? GuardedBuffer::Side::High : GuardedBuffer::Side::Low;
  int64_t pixels = s.height * s.width, windows = s.outHeight() * s.outWidth();
  bool isGradient = s.kind == PoolSpec::MaxGrad || s.kind == PoolSpec::SumGrad;
  int64_t from = isGradient ? windows : pixels, to = isGradient ? pixels : windows;
  Guarded<T> first(kPlanes * from, side), second(kPlanes * pixels, side), out(kPlanes * to, side);
  fill(first, random);
  fill(second, random);
  auto *kernel = jit.lookup<Kernel>(emitPool(jit.module(), s, jit.target()).getName().str());
  kernel(first.data(), second.data(), out.data(), 0, 1);
  kernel(first.data(), second.data(), out.data(), 1, kPlanes);
  std::vector<T> expected(to);
  for (int64_t plane = 0; plane < kPlanes; ++plane) {
    Reference<T>(s, first.data() + plane * from, second.data() + plane * pixels, expected.data())
        .run();
    for (int64_t i = 0; i < to; ++i)
      ASSERT_TRUE(sameBits(expected[i], out[plane * to + i]))
          << "plane " << plane << ", element " << i << ": expected " << expected[i] << ", found "
          << out[plane * to + i];
  }
}

PoolSpec randomSpec(std::mt19937 &random) {
  PoolSpec s;
  auto upTo = [&](int64_t limit) -> int64_t { return 1 + random() % limit; };
  s.kind = PoolSpec::Kind(random() % 5);
  s.isF64 = random() % 3 == 0;
  s.windowH = upTo(4), s.windowW = upTo(4);
  s.strideH = upTo(4), s.strideW = upTo(5);
  if (random() % 2)
    s.strideH = s.windowH, s.strideW = s.windowW;
  if (random() % 8 == 0)
    s.windowH = 9, s.windowW = 8;
  if (random() % 2) {
    s.padTop = random() % s.windowH, s.padBottom = random() % s.windowH;
    s.padLeft = random() % s.windowW, s.padRight = random() % s.windowW;
  }
  s.height = std::max(upTo(12), s.windowH - s.padTop - s.padBottom);
  s.width = std::max(upTo(100), s.windowW - s.padLeft - s.padRight);
  return s;
}

class PoolTest : public ::testing::TestWithParam<TargetInfo> {};

TEST_P(PoolTest, RandomShapes) {
  std::mt19937 random(7);
  std::vector<PoolSpec> specs;
  for (int count = 0; count < 80; ++count)
    if (PoolSpec s = randomSpec(random); takesTurn(GetParam(), count))
      specs.push_back(s);
  KernelJit jit(GetParam());
  for (const PoolSpec &s : specs)
    emitPool(jit.module(), s, GetParam());
  jit.compile();
  for (const PoolSpec &s : specs) {
    SCOPED_TRACE(describe(s));
    if (s.isF64)
      checkOne<double>(s, jit, random);
    else
      checkOne<float>(s, jit, random);
    if (HasFatalFailure())
      return;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, PoolTest, ::testing::ValuesIn(testedTargets()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace pdg::test
