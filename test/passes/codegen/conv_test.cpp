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
                        int64_t);

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
    return x[((n * s.channels + c) * s.height + i) * s.width + j];
  }
  T weight(int64_t o, int64_t c, int64_t u, int64_t v) const {
    return w[((o * s.channels + c) * s.kernelH + u) * s.kernelW + v];
  }
  T cotangent(int64_t n, int64_t o, int64_t i, int64_t j) const {
    return g[((n * s.filters + o) * oh + i) * ow + j];
  }

  T forward(int64_t n, int64_t o, int64_t i, int64_t j) const {
    T sum = 0;
    for (int64_t c = 0; c < s.channels; ++c)
      for (int64_t u = 0; u < s.kernelH; ++u)
        for (int64_t v = 0; v < s.kernelW; ++v)
          sum = std::fma(picture(n, c, i * s.strideH + u - s.padH, j * s.strideW + v - s.padW),
                         weight(o, c, u, v), sum);
    if (s.epilogue == Epilogue::Bias || s.epilogue == Epilogue::BiasRelu)
      sum = sum + bias[o];
    if (s.epilogue == Epilogue::Relu || s.epilogue == Epilogue::BiasRelu)
      sum = sum > 0 || sum != sum ? sum : T(0);
    return sum;
  }

  T inputGrad(int64_t n, int64_t c, int64_t h, int64_t l) const {
    T sum = 0;
    for (int64_t u = 0; u < s.kernelH; ++u)
      for (int64_t v = 0; v < s.kernelW; ++v) {
        int64_t i = h + s.padH - u, j = l + s.padW - v;
        if (i < 0 || i % s.strideH || i / s.strideH >= oh || j < 0 || j % s.strideW ||
            j / s.strideW >= ow)
          continue;
        T term = 0;
        for (int64_t o = 0; o < s.filters; ++o)
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
              std::fma(picture(n, c, i * s.strideH + u - s.padH, j * s.strideW + v - s.padW),
                       cotangent(n, o, i, j), partial[n / length]);
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
                       s.kernelW, s.strideH, s.strideW, s.padH, s.padW})
    text += " " + std::to_string(size);
  return text + " (examples leaves channels height width filters kernel stride padding)";
}

template <typename T> class ConvCheck {
public:
  ConvCheck(const Problem &p, KernelJit &jit, std::mt19937 &random)
      : p(p), s(p.spec), jit(jit), x(p.examples * s.channels * s.height * s.width, p.side),
        w(s.filters * s.terms(), p.side), g(p.examples * s.filters * s.outPixels(), p.side),
        bias(s.filters, p.side) {
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
    int64_t middle = p.examples / 2;
    kernel(x.data(), w.data(), y.data(), bias.data(), work.data(), 0, middle);
    kernel(x.data(), w.data(), y.data(), bias.data(), work.data(), middle, p.examples);
    compare("forward", y, {p.examples, s.filters, s.outHeight(), s.outWidth()},
            [&](auto... index) { return reference.forward(index...); });
  }

  void checkInputGrad(const Reference<T> &reference) {
    Guarded<T> dx(x.values().size(), p.side);
    Guarded<char> work(convInputGradWorkBytes(s, jit.target()), GuardedBuffer::Side::High, 64);
    auto *kernel =
        jit.lookup<InputGrad>(emitConvInputGrad(jit.module(), s, jit.target()).getName().str());
    int64_t middle = p.examples / 2;
    kernel(g.data(), w.data(), dx.data(), work.data(), 0, middle);
    kernel(g.data(), w.data(), dx.data(), work.data(), middle, p.examples);
    compare("input gradient", dx, {p.examples, s.channels, s.height, s.width},
            [&](auto... index) { return reference.inputGrad(index...); });
  }

  void checkWeightGrad(const Reference<T> &reference) {
    Guarded<T> dw(w.values().size(), p.side);
    Guarded<char> work(convWeightGradWorkBytes(s, jit.target()), GuardedBuffer::Side::High, 64);
    auto *kernel =
        jit.lookup<WeightGrad>(emitConvWeightGrad(jit.module(), s, jit.target()).getName().str());
    int64_t step = convWeightGradStep(s, jit.target());
    int64_t middle = std::min(s.terms(), s.terms() / step / 2 * step);
    kernel(x.data(), g.data(), dw.data(), work.data(), p.examples, p.leaves, 0, middle);
    kernel(x.data(), g.data(), dw.data(), work.data(), p.examples, p.leaves, middle, s.terms());
    compare("weight gradient", dw, {s.filters, s.channels, s.kernelH, s.kernelW},
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
            .padH = pad,
            .padW = pad};
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
  s.padH = random() % 3, s.padW = random() % 3;
  s.height = std::max(upTo(12), s.kernelH - 2 * s.padH);
  s.width = std::max(upTo(40), s.kernelW - 2 * s.padW);
  s.height = std::max<int64_t>(1, s.height), s.width = std::max<int64_t>(1, s.width);
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
  for (int batch = 0; batch < 4 && !HasFatalFailure(); ++batch) {
    std::vector<Problem> problems;
    for (int count = 0; count < 8; ++count)
      problems.push_back(randomProblem(random));
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

TEST_P(ConvTest, SixteenLeaves) {
  Problem p = square(32, 2, 7, 5, 3);
  p.leaves = 16;
  check({p}, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Targets, ConvTest, ::testing::ValuesIn(testedTargets()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace pdg::test
