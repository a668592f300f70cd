// The table of runtime/worker/text.h, element by element, and the shape of printed tensors.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/text.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace pdg {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <typename T> std::string show(DType dtype, T value, ValueFormat format = {}) {
  format.dtype = dtype;
  std::string out;
  appendValue(format, reinterpret_cast<const char *>(&value), nullptr, out);
  return out;
}

std::string showF32(float value) { return show(DType::F32, value); }
std::string showF64(double value) { return show(DType::F64, value); }

ValueFormat decimals(int64_t precision) { return {.precision = precision}; }
ValueFormat significant(int64_t precision) { return {.precision = precision, .significant = true}; }

TEST(Text, ShortestFloats) {
  EXPECT_EQ(showF32(1), "1.0");
  EXPECT_EQ(showF32(0), "0.0");
  EXPECT_EQ(showF32(-0.0f), "-0.0");
  EXPECT_EQ(showF32(0.1f), "0.1");
  EXPECT_EQ(showF32(-12.5f), "-12.5");
  EXPECT_EQ(showF32(16777216.0f), "16777216.0");
  EXPECT_EQ(showF64(0.1), "0.1");
  EXPECT_EQ(showF64(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(showF64(123456.789), "123456.789");
  EXPECT_EQ(showF64(1e-4), "0.0001");
  EXPECT_EQ(showF64(1e-5), "1e-05");
  EXPECT_EQ(showF64(1.5e-5), "1.5e-05");
  EXPECT_EQ(showF64(1e15), "1000000000000000.0");
  EXPECT_EQ(showF64(1.5e16), "1.5e+16");
  EXPECT_EQ(showF64(-1e300), "-1e+300");
  EXPECT_EQ(showF64(5e-324), "5e-324");
}

TEST(Text, SpecialFloats) {
  for (const ValueFormat &format : {ValueFormat(), decimals(4), significant(4)}) {
    EXPECT_EQ(show(DType::F64, kNaN, format), "nan");
    EXPECT_EQ(show(DType::F64, -kNaN, format), "nan");
    EXPECT_EQ(show(DType::F32, -static_cast<float>(kNaN), format), "nan");
    EXPECT_EQ(show(DType::F64, kInf, format), "inf");
    EXPECT_EQ(show(DType::F64, -kInf, format), "-inf");
  }
}

TEST(Text, Decimals) {
  EXPECT_EQ(show(DType::F64, 0.5, decimals(4)), "0.5000");
  EXPECT_EQ(show(DType::F32, 2.0f / 3, decimals(4)), "0.6667");
  EXPECT_EQ(show(DType::F64, 1234.56789, decimals(2)), "1234.57");
  EXPECT_EQ(show(DType::F64, 2.5, decimals(0)), "2");
  EXPECT_EQ(show(DType::F64, -1e-9, decimals(3)), "-0.000");
  EXPECT_EQ(show(DType::F64, 1e300, decimals(5000)).size(), 301u + 1 + 1000);
}

TEST(Text, SignificantDigits) {
  EXPECT_EQ(show(DType::F64, 0.5, significant(4)), "0.5");
  EXPECT_EQ(show(DType::F64, 1234567.0, significant(4)), "1.235e+06");
  EXPECT_EQ(show(DType::F64, 0.000123456, significant(3)), "0.000123");
  EXPECT_EQ(show(DType::F32, 98.7654f, significant(4)), "98.77");
}

TEST(Text, IntegersAndBools) {
  EXPECT_EQ(show<int32_t>(DType::I32, -7), "-7");
  EXPECT_EQ(show<int64_t>(DType::I64, INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(show<uint8_t>(DType::U8, 255), "255");
  EXPECT_EQ(show<int8_t>(DType::I8, -128), "-128");
  EXPECT_EQ(show<int64_t>(DType::I64, 5, decimals(4)), "5");
  EXPECT_EQ(show<uint8_t>(DType::Bool, 1), "true");
  EXPECT_EQ(show<uint8_t>(DType::Bool, 0), "false");
}

TEST(Text, SixteenBits) {
  EXPECT_EQ(show<uint16_t>(DType::F16, 0x3c00), "1.0");
  EXPECT_EQ(show<uint16_t>(DType::F16, 0x2e66), "0.1");
  EXPECT_EQ(show<uint16_t>(DType::F16, 0x7bff), "65500.0");
  EXPECT_EQ(show<uint16_t>(DType::F16, 0x0001), "6e-08");
  EXPECT_EQ(show<uint16_t>(DType::F16, 0x8000), "-0.0");
  EXPECT_EQ(show<uint16_t>(DType::F16, 0xfc00), "-inf");
  EXPECT_EQ(show<uint16_t>(DType::F16, 0xfe01), "nan");
  EXPECT_EQ(show<uint16_t>(DType::BF16, 0x3f80), "1.0");
  EXPECT_EQ(show<uint16_t>(DType::BF16, 0x3dcd), "0.1");
  EXPECT_EQ(show<uint16_t>(DType::BF16, 0x7f80), "inf");
  EXPECT_EQ(show<uint16_t>(DType::BF16, 0x3dcd, decimals(4)), "0.1001");
}

TEST(Text, ShortestReadsBack) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    uint64_t bits = random();
    double f64;
    float f32;
    std::memcpy(&f64, &bits, 8);
    std::memcpy(&f32, &bits, 4);
    if (std::isfinite(f64)) {
      std::string text = showF64(f64);
      double read = 0;
      std::from_chars(text.data(), text.data() + text.size(), read);
      ASSERT_EQ(read, f64) << text;
    }
    if (std::isfinite(f32)) {
      std::string text = showF32(f32);
      float read = 0;
      std::from_chars(text.data(), text.data() + text.size(), read);
      ASSERT_EQ(read, f32) << text;
    }
  }
}

TEST(Text, Width) {
  EXPECT_EQ(show<int64_t>(DType::I64, 5, {.width = 8}), "       5");
  EXPECT_EQ(show(DType::F64, 0.5, {.width = 8, .precision = 4}), "  0.5000");
  EXPECT_EQ(show<int64_t>(DType::I64, 123456789, {.width = 3}), "123456789");
}

template <typename T>
std::string showTensor(DType dtype, std::vector<int64_t> dims, const std::vector<T> &values,
                       ValueFormat format = {}) {
  format.dtype = dtype;
  format.rank = static_cast<int64_t>(dims.size());
  std::string out;
  appendValue(format, reinterpret_cast<const char *>(values.data()), dims.data(), out);
  return out;
}

TEST(Text, Tensors) {
  EXPECT_EQ(showTensor<float>(DType::F32, {2}, {1, 2.5}), "f32[2] [1.0, 2.5]");
  EXPECT_EQ(showTensor<int64_t>(DType::I64, {2, 2}, {1, 20, 300, 4}),
            "i64[2, 2]\n[[  1,  20],\n [300,   4]]");
  EXPECT_EQ(showTensor<int64_t>(DType::I64, {2, 1, 2}, {1, 2, 3, 4}),
            "i64[2, 1, 2]\n[[[1, 2]],\n\n [[3, 4]]]");
  EXPECT_EQ(showTensor<float>(DType::F32, {3, 0}, {}), "f32[3, 0] []");
  EXPECT_EQ(showTensor<double>(DType::F64, {2}, {1, 0.25}, {.width = 6, .precision = 2}),
            "f64[2] [  1.00,   0.25]");
}

TEST(Text, AbridgesLongTensors) {
  std::vector<int64_t> values(1200);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int64_t>(i);
  EXPECT_EQ(showTensor(DType::I64, {1200}, values), "i64[1200] [0, 1, 2, ..., 1197, 1198, 1199]");
  EXPECT_EQ(showTensor(DType::I64, {600, 2}, values),
            "i64[600, 2]\n[[   0,    1],\n [   2,    3],\n [   4,    5],\n ...,\n"
            " [1194, 1195],\n [1196, 1197],\n [1198, 1199]]");
  std::string whole = showTensor(DType::I64, {1000}, values);
  EXPECT_EQ(whole.find("..."), std::string::npos);
}

TEST(Text, Sites) {
  TextSite site;
  site.segments = {"epoch ", " loss ", " of ", "."};
  site.values = {{.dtype = DType::I64},
                 {.dtype = DType::F32, .precision = 4},
                 {.dtype = DType::I64, .rank = 1}};
  int64_t epoch = 3, many[2] = {7, 8}, dims[1] = {2};
  float loss = 0.5f;
  const char *values[] = {reinterpret_cast<char *>(&epoch), reinterpret_cast<char *>(&loss),
                          reinterpret_cast<char *>(many)};
  std::string out = "> ";
  appendText(site, values, dims, out);
  EXPECT_EQ(out, "> epoch 3 loss 0.5000 of i64[2] [7, 8].");
}

} // namespace
} // namespace pdg
