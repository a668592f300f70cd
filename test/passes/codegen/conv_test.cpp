// Generated convolutions and their gradients have the bits of plain loops.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/kernels/conv.h"
#include "test/passes/codegen/kernel_jit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace pdg::test {
namespace {

using Forward = void(const void *, const void *, void *, const void *, void *, int64_t, int64_t);
using InputGrad = void(const void *, const void *, void *, void *, int64_t, int64_t);
using WeightGrad = void(const void *, const void *, void *, void *, int64_t, int64_t, int64_t,
                        int64_t, int64_t, int64_t);

struct Problem {
  ConvSpec spec;
  int64_t examples, leaves = 1;
  GuardedBuffer::Side side = GuardedBuffer::Side::High;
  bool special = false;
};

/// The arrays of a problem, and what conv.h says as loops over them.
template <typename T> struct Reference {
  const Problem &p;
  const ConvSpec &s = p.spec;
  int64_t oh = s.outHeight(), ow = s.outWidth();
  const T *x, *w, *g, *bias;

  T picture(int64_t n, int64_t c, int64_t i, int64_t j) const {
    if (i < 0 || i >= s.height || j < 0 || j >= s.width)
      return T(0);
    return x[((n * s.groups * s.channels + c) * s.height + i) * s.width + j];
  }
  T weight(int64_t o, int64_t c, int64_t u, int64_t v) const {
    return w[((o * s.channels + c) * s.kernelH + u) * s.kernelW + v];
  }
  T cotangent(int64_t n, int64_t o, int64_t i, int64_t j) const {
    return g[((n * s.groups * s.filters + o) * oh + i) * ow + j];
  }
  /// The element of the picture that weight (o, c, u, v) meets in window (i, j).
  T seen(int64_t n, int64_t o, int64_t c, int64_t u, int64_t v, int64_t i, int64_t j) const {
    return picture(n, o / s.filters * s.channels + c, i * s.strideH + u * s.dilationH - s.padTop,
                   j * s.strideW + v * s.dilationW - s.padLeft);
  }

  T forward(int64_t n, int64_t o, int64_t i, int64_t j) const {
    T sum = 0;
    for (int64_t c = 0; c < s.channels; ++c)
      for (int64_t u = 0; u < s.kernelH; ++u)
        for (int64_t v = 0; v < s.kernelW; ++v)
          sum = std::fma(seen(n, o, c, u, v, i, j), weight(o, c, u, v), sum);
    if (s.epilogue == Epilogue::Bias || s.epilogue == Epilogue::BiasRelu)
      sum = sum + bias[o];
    if (s.epilogue == Epilogue::Relu || s.epilogue == Epilogue::BiasRelu)
      sum = sum > 0 || sum != sum ? sum : T(0);
    return sum;
  }

  T inputGrad(int64_t n, int64_t channel, int64_t h, int64_t l) const {
    int64_t group = channel / s.channels, c = channel % s.channels;
    T sum = 0;
    for (int64_t u = 0; u < s.kernelH; ++u)
      for (int64_t v = 0; v < s.kernelW; ++v) {
        int64_t i = h + s.padTop - u * s.dilationH, j = l + s.padLeft - v * s.dilationW;
        if (i < 0 || i % s.strideH || i / s.strideH >= oh || j < 0 || j % s.strideW ||
            j / s.strideW >= ow)
          continue;
        T term = 0;
        for (int64_t o = group * s.filters; o < (group + 1) * s.filters; ++o)
          term = std::fma(weight(o, c, u, v), cotangent(n, o, i / s.strideH, j / s.strideW), term);
        sum = sum + term;
      }
    return sum;
  }

  T weightGrad(int64_t o, int64_t c, int64_t u, int64_t v) const {
    std::vector<T> partial(p.leaves, T(0));
    int64_t length = p.examples / p.leaves;
    for (int64_t n = 0; n < p.examples; ++n)
      for (int64_t i = 0; i < oh; ++i)
        for (int64_t j = 0; j < ow; ++j)
          partial[n / length] =
              std::fma(seen(n, o, c, u, v, i, j), cotangent(n, o, i, j), partial[n / length]);
    for (int64_t count = p.leaves; count > 1; count /= 2)
      for (int64_t leaf = 0; leaf < count / 2; ++leaf)
        partial[leaf] = partial[2 * leaf] + partial[2 * leaf + 1];
    return partial[0];
  }
};

std::string describe(const Problem &p, const TargetInfo &target) {
  const ConvSpec &s = p.spec;
  std::string text = target.name + (s.isF64 ? " f64" : " f32");
  for (int64_t size : {p.examples, p.leaves, s.channels, s.height, s.width, s.filters, s.kernelH,
                       s.kernelW, s.strideH, s.strideW, s.padTop, s.padBottom, s.padLeft,
                       s.padRight, s.dilationH, s.dilationW, s.groups})
    text += " " + std::to_string(size);
  return text + " (examples leaves channels height width filters kernel stride padding dilation "
                "groups)";
}

template <typename T> class ConvCheck {
public:
  ConvCheck(const Problem &p, KernelJit &jit, std::mt19937 &random)
      : p(p), s(p.spec), jit(jit), x(p.examples * s.groups * s.channels * s.pixels(), p.side),
        w(s.groups * s.filters * s.terms(), p.side),
        g(p.examples * s.groups * s.filters * s.outPixels(), p.side),
        bias(s.groups * s.filters, p.side) {
    for (Guarded<T> *array : {&x, &w, &g, &bias})
      fill(*array, random);
  }

  void run() {
    Reference<T> reference{
        .p = p, .x = x.data(), .w = w.data(), .g = g.data(), .bias = bias.data()};
    checkForward(reference);
    checkInputGrad(reference);
    checkWeightGrad(reference);
  }

private:
  void fill(Guarded<T> &array, std::mt19937 &random) {
    std::uniform_real_distribution<T> uniform(-1, 1);
    const T specials[] = {-T(0), std::numeric_limits<T>::infinity(),
                          std::numeric_limits<T>::quiet_NaN(),
                          -std::numeric_limits<T>::denorm_min()};
    for (T &value : array.values())
      value = p.special && random() % 8 == 0 ? specials[random() % 4] : uniform(random);
  }

  void checkForward(const Reference<T> &reference) {
    Guarded<T> y(g.values().size(), p.side);
    Guarded<char> work(convForwardWorkBytes(s, jit.target()), GuardedBuffer::Side::High, 64);
    auto *kernel =
        jit.lookup<Forward>(emitConvForward(jit.module(), s, jit.target()).getName().str());
    int64_t parts = p.examples * s.groups, middle = parts / 2;
    kernel(x.data(), w.data(), y.data(), bias.data(), work.data(), 0, middle);
    kernel(x.data(), w.data(), y.data(), bias.data(), work.data(), middle, parts);
    compare("forward", y, {p.examples, s.groups * s.filters, s.outHeight(), s.outWidth()},
            [&](auto... index) { return reference.forward(index...); });
  }

  void checkInputGrad(const Reference<T> &reference) {
    Guarded<T> dx(x.values().size(), p.side);
    Guarded<char> work(convInputGradWorkBytes(s, jit.target()), GuardedBuffer::Side::High, 64);
    auto *kernel =
        jit.lookup<InputGrad>(emitConvInputGrad(jit.module(), s, jit.target()).getName().str());
    int64_t parts = p.examples * s.groups, middle = parts / 2;
    kernel(g.data(), w.data(), dx.data(), work.data(), 0, middle);
    kernel(g.data(), w.data(), dx.data(), work.data(), middle, parts);
    compare("input gradient", dx, {p.examples, s.groups * s.channels, s.height, s.width},
            [&](auto... index) { return reference.inputGrad(index...); });
  }

  void checkWeightGrad(const Reference<T> &reference) {
    Guarded<T> dw(w.values().size(), p.side);
    Guarded<char> work(convWeightGradWorkBytes(s, jit.target()), GuardedBuffer::Side::High, 64);
    auto *kernel =
        jit.lookup<WeightGrad>(emitConvWeightGrad(jit.module(), s, jit.target()).getName().str());
    ConvWeightSplit split = convWeightGradSplit(s, jit.target());
    int64_t size = split.filters ? s.filters : s.terms();
    int64_t middle = std::min(size, size / split.step / 2 * split.step);
    for (int64_t group = 0; group < s.groups; ++group)
      for (auto [lo, hi] : {std::pair(int64_t(0), middle), {middle, size}}) {
        int64_t f0 = split.filters ? lo : 0, f1 = split.filters ? hi : s.filters;
        int64_t q0 = split.filters ? 0 : lo, q1 = split.filters ? s.terms() : hi;
        kernel(x.data() + group * s.channels * s.pixels(),
               g.data() + group * s.filters * s.outPixels(),
               dw.data() + group * s.filters * s.terms(), work.data(), p.examples, p.leaves, f0, f1,
               q0, q1);
      }
    compare("weight gradient", dw, {s.groups * s.filters, s.channels, s.kernelH, s.kernelW},
            [&](auto... index) { return reference.weightGrad(index...); });
  }

  template <typename Function>
  void compare(const char *what, Guarded<T> &found, std::array<int64_t, 4> shape,
               Function expected) {
    for (int64_t index = 0, size = found.values().size(); index < size; ++index) {
      int64_t d = index % shape[3], c = index / shape[3] % shape[2];
      int64_t b = index / (shape[3] * shape[2]) % shape[1];
      int64_t a = index / (shape[3] * shape[2] * shape[1]);
      T value = expected(a, b, c, d);
      ASSERT_TRUE(sameBits(value, found[index]))
          << what << "[" << a << "," << b << "," << c << "," << d << "]: expected " << value
          << ", found " << found[index];
    }
  }

  const Problem &p;
  const ConvSpec &s;
  KernelJit &jit;
  Guarded<T> x, w, g, bias;
};

void check(const std::vector<Problem> &problems, const TargetInfo &target) {
  KernelJit jit(target);
  for (const Problem &p : problems) {
    emitConvForward(jit.module(), p.spec, target);
    emitConvInputGrad(jit.module(), p.spec, target);
    emitConvWeightGrad(jit.module(), p.spec, target);
  }
  jit.compile();
  std::mt19937 random(3);
  for (const Problem &p : problems) {
    SCOPED_TRACE(describe(p, target));
    if (p.spec.isF64)
      ConvCheck<double>(p, jit, random).run();
    else
      ConvCheck<float>(p, jit, random).run();
    if (::testing::Test::HasFatalFailure())
      return;
  }
}

Problem square(int64_t examples, int64_t channels, int64_t size, int64_t filters, int64_t kernel,
               int64_t stride = 1, int64_t pad = 0) {
  Problem p;
  p.examples = examples;
  p.spec = {.channels = channels,
            .height = size,
            .width = size,
            .filters = filters,
            .kernelH = kernel,
            .kernelW = kernel,
            .strideH = stride,
            .strideW = stride,
            .padTop = pad,
            .padBottom = pad,
            .padLeft = pad,
            .padRight = pad};
  return p;
}

Problem randomProblem(std::mt19937 &random) {
  Problem p;
  auto upTo = [&](int64_t limit) -> int64_t { return 1 + random() % limit; };
  ConvSpec &s = p.spec;
  s.isF64 = random() % 3 == 0;
  s.channels = upTo(4), s.filters = upTo(20);
  s.kernelH = upTo(5), s.kernelW = upTo(5);
  s.strideH = upTo(3), s.strideW = upTo(3);
  for (int64_t *pad : {&s.padTop, &s.padBottom, &s.padLeft, &s.padRight})
    *pad = random() % 3;
  if (random() % 3 == 0)
    s.dilationH = upTo(3), s.dilationW = upTo(3);
  if (random() % 3 == 0)
    s.groups = upTo(3);
  int64_t reachH = (s.kernelH - 1) * s.dilationH + 1, reachW = (s.kernelW - 1) * s.dilationW + 1;
  s.height = std::max({upTo(12), reachH - s.padTop - s.padBottom});
  s.width = std::max({upTo(40), reachW - s.padLeft - s.padRight});
  s.epilogue = Epilogue(random() % 4);
  p.leaves = int64_t(1) << random() % 3;
  p.examples = p.leaves * (random() % 3);
  p.side = random() % 2 ? GuardedBuffer::Side::High : GuardedBuffer::Side::Low;
  p.special = random() % 4 == 0;
  return p;
}

class ConvTest : public ::testing::TestWithParam<TargetInfo> {};

TEST_P(ConvTest, RandomShapes) {
  std::mt19937 random(5);
  for (int batch = 0; batch < 3 && !HasFatalFailure(); ++batch) {
    std::vector<Problem> problems;
    for (int count = 0; count < 8; ++count)
      if (Problem p = randomProblem(random); takesTurn(GetParam(), count))
        problems.push_back(p);
    check(problems, GetParam());
  }
}

TEST_P(ConvTest, CommonShapes) {
  std::vector<Problem> problems = {square(3, 1, 28, 6, 5), square(2, 20, 12, 50, 5),
                                   square(2, 16, 32, 16, 3, 1, 1), square(2, 3, 30, 8, 3, 2, 1),
                                   square(2, 33, 9, 17, 1)};
  for (Problem &p : problems)
    p.spec.epilogue = Epilogue::BiasRelu;
  check(problems, GetParam());
}

// Wide pictures take several blocks of rows and several chunks of vectors.
TEST_P(ConvTest, LargePicture) {
  Problem p = square(1, 5, 90, 3, 3, 1, 1);
  p.spec.width = 150;
  check({p}, GetParam());
}

// The code for each vector of such a row would be too long.
TEST_P(ConvTest, LongRows) {
  Problem p;
  p.examples = 1;
  p.spec = {.channels = 2, .height = 1, .width = 3000, .filters = 2, .kernelH = 1, .kernelW = 3};
  p.spec.padLeft = 2;
  Problem strided = p;
  strided.spec.strideW = 3, strided.spec.dilationW = 2;
  check({p, strided}, GetParam());

  // Columns come in blocks; contributions to the input gradient are too many to keep.
  Problem wide = p;
  wide.spec.channels = 1, wide.spec.width = 9000, wide.spec.kernelW = 5000;
  check({wide}, GetParam());
}

TEST_P(ConvTest, SixteenLeaves) {
  Problem p = square(32, 2, 7, 5, 3);
  p.leaves = 16;
  check({p}, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Targets, ConvTest, ::testing::ValuesIn(testedTargets()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace pdg::test
