// Accuracy of the elementary functions against the C library in long double, over bit patterns of
// all numbers and over the range of interest, and their special values. The bounds are those of
// docs/numbers.md; each test prints what it measured.
// SPDX-License-Identifier: Apache-2.0
#include "ir/math/functions.h"
#include "test/ir/math/ulp.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdio>
#include <random>

namespace pdg::test {
namespace {

#ifdef PDG_SLOW_TESTS
constexpr int kSamples = 1 << 18;
#else
constexpr int kSamples = 1 << 15;
#endif

template <class T> T randomPattern(std::mt19937_64 &random) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(static_cast<uint32_t>(random()));
  else
    return std::bit_cast<T>(static_cast<uint64_t>(random()));
}

double randomBetween(std::mt19937_64 &random, double low, double high) {
  return low + (high - low) * ((random() >> 11) * 0x1p-53);
}

template <class T> std::vector<T> specialValues() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {Limits::quiet_NaN()};
  for (T x : {T(0), T(0.5), T(1), T(2), T(3), T(20), T(1000.5), Limits::denorm_min(), Limits::min(),
              Limits::min() / 3, Limits::max(), Limits::infinity(), T(1e30), T(1e-30)})
    values.insert(values.end(), {x, -x});
  return values;
}

/// A function of one operand: ours, the reference, the range of interest.
template <class Ours, class Reference> struct Subject {
  const char *name;
  Ours ours;
  Reference reference;
  double low, high;
};
template <class A, class B> Subject(const char *, A, B, double, double) -> Subject<A, B>;

template <class T, class Subject> void expectAccuracy(const Subject &subject, double bound) {
  std::mt19937_64 random(1);
  long double worst = 0;
  T worstAt = 0;
  auto measure = [&](T x) {
    long double exact = subject.reference(static_cast<long double>(x));
    long double error = ulpError(subject.ours(Scalar<T>{x}).value, exact);
    if (error > worst)
      worst = error, worstAt = x;
  };
  for (T x : specialValues<T>())
    measure(x);
  for (int i = 0; i < kSamples; ++i) {
    measure(randomPattern<T>(random));
    measure(static_cast<T>(randomBetween(random, subject.low, subject.high)));
  }
  std::printf("%-8s %s  %.3Lf ulp at %a\n", subject.name, sizeof(T) == 4 ? "f32" : "f64", worst,
              static_cast<double>(worstAt));
  EXPECT_LE(worst, bound) << subject.name << " at " << worstAt << ": "
                          << subject.ours(Scalar<T>{worstAt}).value;
}

/// Checks both widths with their bounds.
template <class Subject> void expectAccuracies(const Subject &subject, double f32, double f64) {
  expectAccuracy<float>(subject, f32);
  expectAccuracy<double>(subject, f64);
}

using Long = long double;

TEST(Functions, Exp) {
  Subject subject{"exp", [](auto x) { return exp(x); }, [](Long x) { return std::exp(x); }, -104,
                  89};
  expectAccuracies(subject, 1.1, 1.1);
  subject.low = -746, subject.high = 710;
  expectAccuracy<double>(subject, 1.1);
}

TEST(Functions, Expm1) {
  expectAccuracies(Subject{"expm1", [](auto x) { return expm1(x); },
                           [](Long x) { return std::expm1(x); }, -2, 2},
                   1.7, 2.1);
}

TEST(Functions, Log) {
  expectAccuracies(
      Subject{"log", [](auto x) { return log(x); }, [](Long x) { return std::log(x); }, 0, 2.5},
      1.0, 1.0);
}

TEST(Functions, Log1p) {
  expectAccuracies(Subject{"log1p", [](auto x) { return log1p(x); },
                           [](Long x) { return std::log1p(x); }, -1, 2},
                   1.0, 1.0);
}

TEST(Functions, Tanh) {
  expectAccuracies(
      Subject{"tanh", [](auto x) { return tanh(x); }, [](Long x) { return std::tanh(x); }, -3, 3},
      1.5, 1.5);
}

TEST(Functions, Sigmoid) {
  expectAccuracies(Subject{"sigmoid", [](auto x) { return sigmoid(x); },
                           [](Long x) { return 1 / (1 + std::exp(-x)); }, -20, 20},
                   2.5, 2.5);
}

TEST(Functions, Erf) {
  expectAccuracies(
      Subject{"erf", [](auto x) { return erf(x); }, [](Long x) { return std::erf(x); }, -4, 4}, 1.1,
      1.1);
}

TEST(Functions, Sin) {
  expectAccuracies(
      Subject{"sin", [](auto x) { return sin(x); }, [](Long x) { return std::sin(x); }, -20, 20},
      0.6, 1.1);
}

TEST(Functions, Cos) {
  expectAccuracies(
      Subject{"cos", [](auto x) { return cos(x); }, [](Long x) { return std::cos(x); }, -20, 20},
      0.6, 1.1);
}

template <class Ours, class Reference>
void expectAccuracyOf(const char *name, Ours ours, Reference reference, double low, double high,
                      double f32, double f64) {
  expectAccuracies(Subject{name, ours, reference, low, high}, f32, f64);
}

TEST(Functions, TanAndInverses) {
  expectAccuracyOf(
      "tan", [](auto x) { return tan(x); }, [](Long x) { return std::tan(x); }, -20, 20, 0.6, 2.5);
  expectAccuracyOf(
      "atan", [](auto x) { return atan(x); }, [](Long x) { return std::atan(x); }, -4, 4, 0.51,
      1.8);
  expectAccuracyOf(
      "asin", [](auto x) { return asin(x); }, [](Long x) { return std::asin(x); }, -1, 1, 0.51,
      2.9);
  expectAccuracyOf(
      "acos", [](auto x) { return acos(x); }, [](Long x) { return std::acos(x); }, -1, 1, 0.51,
      2.5);
}

TEST(Functions, Hyperbolic) {
  expectAccuracyOf(
      "sinh", [](auto x) { return sinh(x); }, [](Long x) { return std::sinh(x); }, -3, 3, 0.51,
      2.6);
  expectAccuracyOf(
      "cosh", [](auto x) { return cosh(x); }, [](Long x) { return std::cosh(x); }, -3, 3, 0.51,
      1.6);
  expectAccuracyOf(
      "asinh", [](auto x) { return asinh(x); }, [](Long x) { return std::asinh(x); }, -3, 3, 0.51,
      1.8);
  expectAccuracyOf(
      "acosh", [](auto x) { return acosh(x); }, [](Long x) { return std::acosh(x); }, 1, 3, 0.51,
      2.2);
  expectAccuracyOf(
      "atanh", [](auto x) { return atanh(x); }, [](Long x) { return std::atanh(x); }, -1, 1, 0.51,
      1.8);
}

TEST(Functions, OtherBases) {
  expectAccuracyOf(
      "exp2", [](auto x) { return exp2(x); }, [](Long x) { return std::exp2(x); }, -10, 10, 0.51,
      1.25);
  expectAccuracyOf(
      "log2", [](auto x) { return log2(x); }, [](Long x) { return std::log2(x); }, 0, 2.5, 0.51,
      0.51);
  expectAccuracyOf(
      "log10", [](auto x) { return log10(x); }, [](Long x) { return std::log10(x); }, 0, 2.5, 0.51,
      0.51);
  double power = 1;
  for (int i = 0; i <= 22; ++i, power *= 10)
    EXPECT_EQ(log10(Scalar<double>{power}).value, i);
  for (int i = -1022; i <= 1023; ++i) {
    EXPECT_EQ(log2(Scalar<double>{std::ldexp(1.0, i)}).value, i);
    EXPECT_EQ(exp2(Scalar<double>{double(i)}).value, std::ldexp(1.0, i));
  }
}

template <class T> void expectAtan2Accuracy(double bound) {
  std::mt19937_64 random(3);
  long double worst = 0;
  auto measure = [&](T y, T x) {
    T got = atan2(Scalar<T>{y}, Scalar<T>{x}).value;
    Long exact = std::atan2(Long(y), Long(x));
    EXPECT_EQ(std::signbit(got) && got == got, std::signbit(exact) && exact == exact) << y << x;
    worst = std::max(worst, ulpError(got, exact));
  };
  for (T y : specialValues<T>())
    for (T x : specialValues<T>())
      measure(y, x);
  for (int i = 0; i < kSamples; ++i)
    measure(T(randomBetween(random, -4, 4)), T(randomBetween(random, -4, 4)));
  std::printf("%-8s %s  %.3Lf ulp\n", "atan2", sizeof(T) == 4 ? "f32" : "f64", worst);
  EXPECT_LE(worst, bound);
}

TEST(Functions, Atan2) {
  expectAtan2Accuracy<float>(0.51);
  expectAtan2Accuracy<double>(2.3);
}

// The F32 and the F64 that come nearest to a multiple of pi/2: the hardest of all reductions.
TEST(Functions, ReductionIsExactInTheWorstCases) {
  float f = 16367173.0f * 0x1p72f;
  EXPECT_LT(ulpError(cos(Scalar<float>{f}).value, std::cos(Long(f))), 0.6);
  double d = 6381956970095103.0 * 0x1p797;
  EXPECT_LT(ulpError(cos(Scalar<double>{d}).value, std::cos(Long(d))), 1.1);
  EXPECT_NEAR(cos(Scalar<double>{d}).value, 0, 1e-18);
}

TEST(Functions, Rsqrt) {
  expectAccuracies(Subject{"rsqrt", [](auto x) { return rsqrt(x); },
                           [](Long x) { return 1 / std::sqrt(x); }, 0, 10},
                   1.5, 1.5);
}

template <class T> void expectPowAccuracy(double bound) {
  std::mt19937_64 random(2);
  long double worst = 0;
  T worstX = 0, worstY = 0;
  auto measure = [&](T x, T y) {
    T got = pow(Scalar<T>{x}, Scalar<T>{y}).value;
    long double error = ulpError(got, std::pow(Long(x), Long(y)));
    if (error > worst)
      worst = error, worstX = x, worstY = y;
  };
  for (T x : specialValues<T>())
    for (T y : specialValues<T>())
      measure(x, y);
  Long span = std::numeric_limits<T>::max_exponent + std::numeric_limits<T>::digits;
  for (int i = 0; i < kSamples; ++i) {
    T x = std::fabs(randomPattern<T>(random));
    // Exponents that spread the results over the whole range.
    measure(x, T(randomBetween(random, -1, 1) * span / std::log2(Long(x))));
    measure(T(randomBetween(random, -4, 4)), T(std::floor(randomBetween(random, -20, 20))));
    measure(T(randomBetween(random, 0, 4)), T(randomBetween(random, -16, 16)));
  }
  std::printf("%-8s %s  %.3Lf ulp at %a, %a\n", "pow", sizeof(T) == 4 ? "f32" : "f64", worst,
              static_cast<double>(worstX), static_cast<double>(worstY));
  EXPECT_LE(worst, bound) << worstX << " to the power " << worstY;
}

TEST(Functions, Pow) {
  expectPowAccuracy<float>(0.51);
  expectPowAccuracy<double>(1.2);
}

template <class T> struct Expected {
  T operand;
  T result;
};

template <class T, class Function>
void expectValues(Function function, std::vector<Expected<T>> table) {
  for (auto [operand, result] : table) {
    T got = function(Scalar<T>{operand}).value;
    if (std::isnan(result)) {
      EXPECT_TRUE(std::isnan(got)) << operand;
    } else {
      EXPECT_EQ(got, result) << operand;
      EXPECT_EQ(std::signbit(got), std::signbit(result)) << operand;
    }
  }
}

template <class T> void expectSpecialValues() {
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  constexpr T tiny = std::numeric_limits<T>::denorm_min();
  auto unary = [&](auto function, std::vector<Expected<T>> table) {
    table.push_back({nan, nan});
    expectValues<T>(function, std::move(table));
  };
  unary([](auto x) { return exp(x); }, {{0, 1}, {-T(0), 1}, {inf, inf}, {-inf, 0}, {-1e4, 0}});
  unary([](auto x) { return expm1(x); }, {{-T(0), -T(0)}, {tiny, tiny}, {-inf, -1}, {inf, inf}});
  unary([](auto x) { return log(x); },
        {{1, 0}, {0, -inf}, {-T(0), -inf}, {-1, nan}, {inf, inf}, {-inf, nan}});
  unary([](auto x) { return log1p(x); }, {{-T(0), -T(0)}, {tiny, tiny}, {-1, -inf}, {-2, nan}});
  unary([](auto x) { return tanh(x); }, {{-T(0), -T(0)}, {tiny, tiny}, {inf, 1}, {-inf, -1}});
  unary([](auto x) { return sigmoid(x); }, {{0, T(0.5)}, {inf, 1}, {-inf, 0}});
  unary([](auto x) { return erf(x); }, {{-T(0), -T(0)}, {inf, 1}, {-inf, -1}});
  unary([](auto x) { return sin(x); }, {{-T(0), -T(0)}, {-tiny, -tiny}, {inf, nan}, {-inf, nan}});
  unary([](auto x) { return cos(x); }, {{0, 1}, {-T(0), 1}, {inf, nan}, {-inf, nan}});
  unary([](auto x) { return rsqrt(x); },
        {{4, T(0.5)}, {0, inf}, {-T(0), -inf}, {-1, nan}, {inf, 0}});
}

TEST(Functions, SpecialValues) {
  expectSpecialValues<float>();
  expectSpecialValues<double>();
}

} // namespace
} // namespace pdg::test
