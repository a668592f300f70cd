// Flooring division, casts, powers with integer exponents and the basic operators at their edges.
// SPDX-License-Identifier: Apache-2.0
#include "ir/math/arithmetic.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace pdg::test {
namespace {

template <class T> Scalar<T> s(T value) { return {value}; }

template <class T> void expectSame(T got, T expected) {
  if (expected != expected) {
    EXPECT_TRUE(got != got) << got;
  } else {
    EXPECT_EQ(got, expected);
    EXPECT_EQ(std::signbit(static_cast<double>(got)), std::signbit(static_cast<double>(expected)));
  }
}

constexpr int32_t kLowest32 = std::numeric_limits<int32_t>::min();
constexpr int64_t kLowest64 = std::numeric_limits<int64_t>::min();

template <class T> void expectDivision(T x, T y, T quotient, T remainder) {
  SCOPED_TRACE(std::to_string(x) + " by " + std::to_string(y));
  expectSame(floorDiv(s(x), s(y)).value, quotient);
  expectSame(floorMod(s(x), s(y)).value, remainder);
}

TEST(Arithmetic, IntegersDivideFlooring) {
  expectDivision<int32_t>(7, 2, 3, 1);
  expectDivision<int32_t>(-7, 2, -4, 1);
  expectDivision<int32_t>(7, -2, -4, -1);
  expectDivision<int32_t>(-7, -2, 3, -1);
  expectDivision<int32_t>(-6, 3, -2, 0);
  expectDivision<int64_t>(-1, std::numeric_limits<int64_t>::max(), -1,
                          std::numeric_limits<int64_t>::max() - 1);
  expectDivision<uint8_t>(200, 7, 28, 4);
  expectDivision<uint8_t>(128, 255, 0, 128);
}

TEST(Arithmetic, IntegerDivisionNeverTraps) {
  expectDivision<int32_t>(kLowest32, -1, kLowest32, 0);
  expectDivision<int64_t>(kLowest64, -1, kLowest64, 0);
  expectDivision<int32_t>(5, 0, 0, 0);
  expectDivision<int64_t>(kLowest64, 0, 0, 0);
  expectDivision<uint8_t>(5, 0, 0, 0);
}

template <class T> void expectFloatDivision() {
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  expectDivision<T>(7, 2, 3, 1);
  expectDivision<T>(-7, 2, -4, 1);
  expectDivision<T>(7, -2, -4, -1);
  expectDivision<T>(-7, -2, 3, -1);
  expectDivision<T>(-6, 3, -2, 0);
  expectDivision<T>(6, -3, -2, -T(0));
  expectDivision<T>(5, inf, 0, 5);
  expectDivision<T>(-5, inf, -1, inf);
  expectDivision<T>(5, 0, inf, nan);
  expectDivision<T>(inf, 2, inf, nan);
  expectDivision<T>(nan, 2, nan, nan);
  expectDivision<T>(2, nan, nan, nan);
}

TEST(Arithmetic, FloatsDivideFlooring) {
  expectFloatDivision<float>();
  expectFloatDivision<double>();
}

TEST(Arithmetic, FloatRemainderHasTheSignOfTheDivisorAndIsSmaller) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    float x = static_cast<float>((random() >> 11) * 0x1p-50 - 4);
    float y = static_cast<float>((random() >> 11) * 0x1p-53 - 0.5);
    float remainder = floorMod(s(x), s(y)).value, quotient = floorDiv(s(x), s(y)).value;
    ASSERT_TRUE(y > 0 ? remainder >= 0 && remainder <= y : remainder <= 0 && remainder >= y)
        << x << " by " << y;
    ASSERT_NEAR(double(quotient) * y + remainder, x, 1e-6 * std::fabs(y)) << x << " by " << y;
  }
}

TEST(Arithmetic, FloatsBecomeIntegersTowardsZeroAndSaturate) {
  constexpr float inf = INFINITY;
  EXPECT_EQ(cast<Elem::I32>(s(-2.9f)).value, -2);
  EXPECT_EQ(cast<Elem::I32>(s(2147483648.0f)).value, 2147483647);
  EXPECT_EQ(cast<Elem::I32>(s(-inf)).value, kLowest32);
  EXPECT_EQ(cast<Elem::I32>(s(-2147483648.9)).value, kLowest32);
  EXPECT_EQ(cast<Elem::I32>(s(2147483647.9)).value, 2147483647);
  EXPECT_EQ(cast<Elem::I64>(s(inf)).value, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(cast<Elem::I64>(s(-1e300)).value, kLowest64);
  EXPECT_EQ(cast<Elem::I64>(s(double(NAN))).value, 0);
  EXPECT_EQ(cast<Elem::U8>(s(255.9f)).value, 255);
  EXPECT_EQ(cast<Elem::U8>(s(256.0f)).value, 255);
  EXPECT_EQ(cast<Elem::U8>(s(-0.9f)).value, 0);
  EXPECT_EQ(cast<Elem::U8>(s(-300.0)).value, 0);
  EXPECT_EQ(cast<Elem::U8>(s(float(NAN))).value, 0);
}

TEST(Arithmetic, OtherCasts) {
  EXPECT_EQ(cast<Elem::U8>(s(int32_t{-1})).value, 255);
  EXPECT_EQ(cast<Elem::I32>(s(int64_t{0x180000000})).value, kLowest32);
  EXPECT_EQ(cast<Elem::I64>(s(uint8_t{200})).value, 200);
  EXPECT_EQ(cast<Elem::F32>(s(int32_t{16777217})).value, 16777216.0f);
  EXPECT_EQ(cast<Elem::F32>(s(int64_t{16777219})).value, 16777220.0f);
  EXPECT_EQ(cast<Elem::F32>(s(true)).value, 1.0f);
  EXPECT_EQ(cast<Elem::F32>(s(1e300)).value, INFINITY);
  EXPECT_TRUE(cast<Elem::Bool>(s(float(NAN))).value);
  EXPECT_FALSE(cast<Elem::Bool>(s(-0.0)).value);
}

TEST(Arithmetic, ConstantPowersMultiplyInTheirOrder) {
  float x = 1.1f;
  EXPECT_EQ(powConstant(s(x), 2).value, x * x);
  EXPECT_EQ(powConstant(s(x), 3).value, x * (x * x));
  EXPECT_EQ(powConstant(s(x), -2).value, 1 / (x * x));
  EXPECT_EQ(powConstant(s(float(NAN)), 0).value, 1.0f);
  EXPECT_EQ(powConstant(s(2.0), std::numeric_limits<int64_t>::min()).value, 0.0);
  EXPECT_EQ(powConstant(s(int32_t{-3}), 3).value, -27);
}

TEST(Arithmetic, IntegerPowers) {
  EXPECT_EQ(powInt(s(int32_t{3}), s(int32_t{19})).value, 1162261467);
  EXPECT_EQ(powInt(s(int32_t{2}), s(int32_t{31})).value, kLowest32);
  EXPECT_EQ(powInt(s(int64_t{-2}), s(int64_t{63})).value, kLowest64);
  EXPECT_EQ(powInt(s(int64_t{0}), s(int64_t{0})).value, 1);
  EXPECT_EQ(powInt(s(int64_t{-1}), s(int64_t{-3})).value, -1);
  EXPECT_EQ(powInt(s(int64_t{2}), s(int64_t{-1})).value, 0);
  EXPECT_EQ(powInt(s(int64_t{0}), s(int64_t{-1})).value, 0);
  EXPECT_EQ(powInt(s(uint8_t{3}), s(uint8_t{255})).value, 171);
}

TEST(Arithmetic, MaximumAndMinimumKeepNanAndOrderZeros) {
  expectSame(maximum(s(-0.0f), s(0.0f)).value, 0.0f);
  expectSame(maximum(s(0.0), s(-0.0)).value, 0.0);
  expectSame(minimum(s(0.0f), s(-0.0f)).value, -0.0f);
  expectSame(maximum(s(float(NAN)), s(1.0f)).value, float(NAN));
  expectSame(minimum(s(1.0), s(double(NAN))).value, double(NAN));
  EXPECT_EQ(maximum(s(uint8_t{200}), s(uint8_t{100})).value, 200);
}

TEST(Arithmetic, IntegersWrap) {
  EXPECT_EQ((s(int32_t{2147483647}) + 1).value, kLowest32);
  EXPECT_EQ((s(kLowest64) * -1).value, kLowest64);
  EXPECT_EQ((-s(kLowest32)).value, kLowest32);
  EXPECT_EQ(abs(s(kLowest32)).value, kLowest32);
  EXPECT_EQ((s(uint8_t{3}) - uint8_t{5}).value, 254);
}

} // namespace
} // namespace pdg::test
