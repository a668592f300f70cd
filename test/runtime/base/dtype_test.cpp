// Names, sizes and NumPy codes of the element types.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/dtype.h"

#include <gtest/gtest.h>

namespace pdg {
namespace {

constexpr DType kAll[] = {DType::F32,  DType::F64,  DType::I32, DType::I64, DType::U8,
                          DType::Bool, DType::BF16, DType::F16, DType::I8};

TEST(DType, NamesAndNumpyCodesReadBack) {
  for (DType dtype : kAll) {
    EXPECT_EQ(parseDType(nameOf(dtype)), dtype);
    EXPECT_EQ(parseNumpyDescr(numpyDescr(dtype)), dtype);
  }
}

TEST(DType, HasTheSizesOfItsCppType) {
  EXPECT_EQ(sizeOf(dtypeOf<float>), sizeof(float));
  EXPECT_EQ(sizeOf(dtypeOf<double>), sizeof(double));
  EXPECT_EQ(sizeOf(dtypeOf<int64_t>), sizeof(int64_t));
  EXPECT_EQ(sizeOf(dtypeOf<bool>), 1u);
  EXPECT_EQ(sizeOf(DType::BF16), 2u);
}

TEST(DType, RefusesOtherNames) {
  for (const char *name : {"", "f", "f320", "F32", "int", "u16"})
    EXPECT_EQ(parseDType(name), std::nullopt) << name;
}

TEST(DType, RefusesBigEndianCodes) {
  for (const char *descr : {"", "<", ">f4", "|f4", "<f8x", "<c8", "<u2"})
    EXPECT_EQ(parseNumpyDescr(descr), std::nullopt) << descr;
  EXPECT_EQ(parseNumpyDescr("=f4"), DType::F32);
  EXPECT_EQ(parseNumpyDescr("<u1"), DType::U8);
}

TEST(DType, KindsAreDisjoint) {
  for (DType dtype : kAll)
    EXPECT_FALSE(isFloat(dtype) && isInteger(dtype));
  EXPECT_TRUE(isFloat(DType::BF16));
  EXPECT_TRUE(isInteger(DType::I8));
  EXPECT_FALSE(isInteger(DType::Bool));
}

} // namespace
} // namespace pdg
