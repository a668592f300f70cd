// Tables of the element types, all made from PDG_DTYPES.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/dtype.h"

#include <cassert>

namespace pdg {

namespace {

struct DTypeRow {
  std::string_view name;
  size_t size;
  std::string_view descr;
};

constexpr DTypeRow kRows[] = {
#define PDG_DTYPE_ROW(enumerator, name, size, descr) {name, size, descr},
    PDG_DTYPES(PDG_DTYPE_ROW)
#undef PDG_DTYPE_ROW
};
constexpr size_t kNumRows = sizeof(kRows) / sizeof(kRows[0]);

const DTypeRow &rowOf(DType dtype) {
  assert(static_cast<size_t>(dtype) < kNumRows && "not a DType");
  return kRows[static_cast<size_t>(dtype)];
}

} // namespace

size_t sizeOf(DType dtype) { return rowOf(dtype).size; }

std::string_view nameOf(DType dtype) { return rowOf(dtype).name; }

std::string_view numpyDescr(DType dtype) { return rowOf(dtype).descr; }

std::optional<DType> parseDType(std::string_view name) {
  for (size_t i = 0; i < kNumRows; ++i)
    if (kRows[i].name == name)
      return static_cast<DType>(i);
  return std::nullopt;
}

std::optional<DType> parseNumpyDescr(std::string_view descr) {
  if (descr.size() < 2)
    return std::nullopt;
  char order = descr[0];
  for (size_t i = 0; i < kNumRows; ++i) {
    const DTypeRow &row = kRows[i];
    if (row.descr.substr(1) != descr.substr(1))
      continue;
    bool anyOrder = row.size == 1 || static_cast<DType>(i) == DType::BF16;
    bool isLittle = order == '<' || order == '=';
    if (isLittle || (anyOrder && (order == '|' || order == '>')))
      return static_cast<DType>(i);
  }
  return std::nullopt;
}

bool isFloat(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F64 || dtype == DType::F16 || dtype == DType::BF16;
}

bool isInteger(DType dtype) { return dtype != DType::Bool && !isFloat(dtype); }

} // namespace pdg
