// Creation, copying and refusal of host tensors.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/tensor.h"

#include <gtest/gtest.h>

#include <limits>

namespace pdg {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(HostTensor, IsMadeOfAlignedZeros) {
  for (int64_t n : {0, 1, 3, 1000}) {
    absl::StatusOr<HostTensor> tensor = HostTensor::create(DType::F64, {n, 2});
    ASSERT_TRUE(tensor.ok());
    ASSERT_NE(tensor->bytes(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->bytes()) % 64, 0u);
    EXPECT_EQ(tensor->numElements(), 2 * n);
    EXPECT_EQ(tensor->numBytes(), 16 * n);
    for (double value : tensor->values<double>())
      EXPECT_EQ(value, 0);
  }
}

TEST(HostTensor, ScalarHasOneElement) {
  absl::StatusOr<HostTensor> tensor = HostTensor::fromValues<int64_t>({}, {42});
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->rank(), 0);
  EXPECT_EQ(tensor->data<int64_t>()[0], 42);
  EXPECT_EQ(tensor->typeString(), "i64");
}

TEST(HostTensor, CloneIsIndependent) {
  absl::StatusOr<HostTensor> tensor = HostTensor::fromValues<float>({2, 2}, {1, 2, 3, 4});
  ASSERT_TRUE(tensor.ok());
  absl::StatusOr<HostTensor> copy = tensor->clone();
  ASSERT_TRUE(copy.ok());
  tensor->data<float>()[3] = 9;
  EXPECT_EQ(copy->data<float>()[3], 4);
  EXPECT_EQ(copy->shape(), tensor->shape());
}

TEST(HostTensor, MovingKeepsTheBytes) {
  absl::StatusOr<HostTensor> tensor = HostTensor::fromValues<uint8_t>({3}, {1, 2, 3});
  ASSERT_TRUE(tensor.ok());
  const uint8_t *bytes = tensor->bytes();
  HostTensor moved = *std::move(tensor);
  EXPECT_EQ(moved.bytes(), bytes);
  EXPECT_EQ(moved.typeString(), "u8[3]");
}

TEST(HostTensor, RefusesImpossibleSizes) {
  for (const std::vector<int64_t> &shape :
       {std::vector<int64_t>{-1}, {kMax}, {kMax, kMax}, {int64_t{1} << 40, int64_t{1} << 23}})
    EXPECT_FALSE(HostTensor::create(DType::F64, shape).ok());
  // 2^61 elements can be counted, their bytes cannot.
  EXPECT_FALSE(HostTensor::create(DType::F64, {int64_t{1} << 61}).ok());
}

TEST(HostTensor, EmptyTensorsHaveNoLimitOnOtherSizes) {
  EXPECT_TRUE(HostTensor::create(DType::F64, {kMax, kMax, 0}).ok());
}

TEST(HostTensor, RefusesAWrongNumberOfValues) {
  absl::StatusOr<HostTensor> tensor = HostTensor::fromValues<float>({2, 2}, {1, 2, 3});
  ASSERT_FALSE(tensor.ok());
  EXPECT_EQ(tensor.status().message(), "expected 16 bytes for f32[2, 2], found 12");
}

TEST(TypeString, WritesUnknownSizesAsQuestionMarks) {
  EXPECT_EQ(typeString(DType::Bool, std::vector<int64_t>{-1, 28}), "bool[?, 28]");
}

} // namespace
} // namespace pdg
