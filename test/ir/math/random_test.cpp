// Philox against its published vectors, the distributions against their moments and tails, and
// emitted draws against plain ones.
// SPDX-License-Identifier: Apache-2.0
#include "ir/math/emit_loop.h"
#include "ir/math/random.h"
#include "test/ir/math/element_kernel.h"

#include <gtest/gtest.h>

namespace pdg::test {
namespace {

using Word = Scalar<uint32_t>;
using Wide = Scalar<uint64_t>;

struct KnownAnswer {
  std::array<uint32_t, 4> counter;
  std::array<uint32_t, 2> key;
  std::array<uint32_t, 4> words;
};

// The vectors for philox4x32 with 10 rounds that Random123 publishes.
TEST(Random, PhiloxGivesThePublishedVectors) {
  const KnownAnswer answers[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const KnownAnswer &answer : answers) {
    RandomWords<Word> counter;
    for (int i = 0; i < 4; ++i)
      counter[i] = {answer.counter[i]};
    auto words = philox4x32(counter, {Word{answer.key[0]}, Word{answer.key[1]}});
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(words[i].value, answer.words[i]) << "word " << i;
  }
}

TEST(Random, WordsComeFromKeyLoopsAndIndex) {
  auto words =
      randomWords(Wide{0x299f31d0a4093822}, Wide{0x0370734413198a2e}, Wide{0x85a308d3243f6a88});
  EXPECT_EQ(words[0].value, 0xd16cfe09u);
  EXPECT_EQ(words[3].value, 0x24126ea1u);
}

TEST(Random, MixingOfValuesIsMixingOfWords) {
  for (uint64_t word : {uint64_t{0}, uint64_t{1}, uint64_t{0x123456789abcdef0}, ~uint64_t{0}}) {
    EXPECT_EQ(mixValue(Wide{word}).value, mix(word));
    EXPECT_EQ(combineValues(Wide{word}, Wide{77}).value, combine(word, 77));
  }
}

RandomWords<Word> wordsOf(std::array<uint32_t, 4> words) {
  return {Word{words[0]}, Word{words[1]}, Word{words[2]}, Word{words[3]}};
}

TEST(Random, DistributionsStayInRange) {
  auto zeros = wordsOf({0, 0, 0, 0}), ones = wordsOf({~0u, ~0u, ~0u, ~0u});
  EXPECT_EQ(uniform32(zeros).value, 0.0f);
  EXPECT_EQ(uniform32(ones).value, 1 - 0x1p-24f);
  EXPECT_EQ(uniform64(zeros).value, 0.0);
  EXPECT_EQ(uniform64(ones).value, 1 - 0x1p-53);
  EXPECT_NEAR(normal32(zeros).value, std::sqrt(64 * std::log(2.0)), 1e-6);
  EXPECT_NEAR(normal64(zeros).value, std::sqrt(106 * std::log(2.0)), 1e-14);
  EXPECT_EQ(normal32(ones).value, 0.0f);
  EXPECT_EQ(normal64(ones).value, 0.0);
  // v = 1/2: cos(pi) = -1.
  EXPECT_EQ(normal32(wordsOf({0, 1u << 31, 0, 0})).value, -normal32(zeros).value);
  EXPECT_EQ(normal64(wordsOf({0, 0, 1u << 31, 0})).value, -normal64(zeros).value);
  EXPECT_FALSE(bernoulli(zeros, Scalar<float>{0.0f}).value);
  EXPECT_TRUE(bernoulli(ones, Scalar<double>{1.0}).value);
  EXPECT_FALSE(bernoulli(zeros, Scalar<float>{NAN}).value);
}

TEST(Random, UniformOfF64RefinesThatOfF32) {
  for (uint64_t i = 0; i < 1000; ++i) {
    auto words = randomWords(Wide{5}, Wide{0}, Wide{i});
    EXPECT_EQ(std::floor(uniform64(words).value * 0x1p24), uniform32(words).value * 0x1p24);
  }
}

constexpr int kDraws = 1 << 18;

/// Sums of powers of draws, and how many lie beyond 2.
struct Moments {
  double mean = 0, square = 0, cube = 0, fourth = 0, product = 0;
  int beyond2 = 0;
};

template <class Draw> Moments momentsOf(Draw draw) {
  Moments m;
  double before = 0;
  for (uint64_t i = 0; i < kDraws; ++i) {
    double x = draw(randomWords(Wide{0xfeed}, Wide{3}, Wide{i}));
    m.mean += x / kDraws;
    m.square += x * x / kDraws;
    m.cube += x * x * x / kDraws;
    m.fourth += x * x * x * x / kDraws;
    m.product += x * before / kDraws;
    m.beyond2 += std::fabs(x) > 2;
    before = x;
  }
  return m;
}

// The bounds below are about 4.5 standard deviations of each mean.
void expectNormal(const Moments &m) {
  double unit = 4.5 / std::sqrt(kDraws);
  EXPECT_NEAR(m.mean, 0, unit);
  EXPECT_NEAR(m.square, 1, unit * std::sqrt(2));
  EXPECT_NEAR(m.cube, 0, unit * std::sqrt(15));
  EXPECT_NEAR(m.fourth, 3, unit * std::sqrt(96));
  EXPECT_NEAR(m.product, 0, unit);
  EXPECT_NEAR(m.beyond2 / double(kDraws), std::erfc(std::sqrt(2)), unit * std::sqrt(0.0434));
}

TEST(Random, NormalHasItsMoments) {
  expectNormal(momentsOf([](auto words) { return normal32(words).value; }));
  expectNormal(momentsOf([](auto words) { return normal64(words).value; }));
}

void expectUniform(const Moments &m) {
  double unit = 4.5 / std::sqrt(kDraws);
  EXPECT_NEAR(m.mean, 1.0 / 2, unit * std::sqrt(1.0 / 12));
  EXPECT_NEAR(m.square, 1.0 / 3, unit * std::sqrt(4.0 / 45));
  EXPECT_NEAR(m.cube, 1.0 / 4, unit * std::sqrt(9.0 / 112));
  EXPECT_NEAR(m.product, 1.0 / 4, unit * std::sqrt(7.0 / 144));
}

TEST(Random, UniformHasItsMoments) {
  expectUniform(momentsOf([](auto words) { return uniform32(words).value; }));
  expectUniform(momentsOf([](auto words) { return uniform64(words).value; }));
}

TEST(Random, UniformFillsEqualCells) {
  constexpr int cells = 1024;
  std::vector<int> counts(cells);
  for (uint64_t i = 0; i < kDraws; ++i)
    ++counts[static_cast<int>(uniform32(randomWords(Wide{9}, Wide{i}, Wide{0})).value * cells)];
  double chiSquare = 0, expected = double(kDraws) / cells;
  for (int count : counts)
    chiSquare += (count - expected) * (count - expected) / expected;
  EXPECT_NEAR(chiSquare, cells - 1, 4.5 * std::sqrt(2.0 * cells));
}

TEST(Random, BernoulliHoldsWithItsProbability) {
  int count = 0;
  for (uint64_t i = 0; i < kDraws; ++i)
    count += bernoulli(randomWords(Wide{1}, Wide{2}, Wide{i}), Scalar<float>{0.3f}).value;
  EXPECT_NEAR(count / double(kDraws), 0.3, 4.5 * std::sqrt(0.21 / kDraws));
}

/// Draws element `index` (U64, like all operands) of the distribution.
template <class T, class Draw> void expectEmittedDraws(Draw draw) {
  constexpr size_t count = 1 << 14;
  std::vector<uint64_t> indices(count), seeds(count);
  for (size_t i = 0; i < count; ++i) {
    indices[i] = i < count / 2 ? i : mix(i);
    seeds[i] = mix(i / 100);
  }
  for (const TargetInfo &target : testedTargets())
    for (int width : {1, 16}) {
      SCOPED_TRACE(target.name + " width " + std::to_string(width));
      KernelJit jit(target);
      emitElementKernel(jit, "draw", Elem::U64, elemOf<T>(), width,
                        [&](Emitted index, Emitted seed) { return draw(index, seed); });
      jit.compile();
      std::vector<T> results(count);
      jit.lookup<ElementKernel>("draw")(indices.data(), seeds.data(), results.data(), count);
      for (size_t i = 0; i < count; ++i)
        ASSERT_TRUE(sameBits(results[i], draw(Wide{indices[i]}, Wide{seeds[i]}).value))
            << "element " << i;
    }
}

TEST(Random, EmittedDrawsGiveTheSameBits) {
  auto words = [](auto index, auto seed) {
    return randomWords(combineValues(seed, seed.like(7)), seed.like(11), index);
  };
  expectEmittedDraws<float>([&](auto i, auto s) { return uniform32(words(i, s)); });
  expectEmittedDraws<double>([&](auto i, auto s) { return uniform64(words(i, s)); });
  expectEmittedDraws<float>([&](auto i, auto s) { return normal32(words(i, s)); });
  expectEmittedDraws<double>([&](auto i, auto s) { return normal64(words(i, s)); });
}

} // namespace
} // namespace pdg::test
