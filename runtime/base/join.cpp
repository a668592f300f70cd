// Joins values of several processes element by element.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/join.h"

#include <cmath>
#include <type_traits>

namespace pdg {
namespace {

template <class T> T larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || b != b)
      return a + b;
    if (a == b)
      return std::signbit(a) ? b : a;
  }
  return a > b ? a : b;
}

template <class T> T smaller(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || b != b)
      return a + b;
    if (a == b)
      return std::signbit(a) ? a : b;
  }
  return a < b ? a : b;
}

template <class T> T sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    // Integers wrap around, which signed ones may not in C++.
    using Word = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Word>(static_cast<Word>(a) + static_cast<Word>(b)));
  } else {
    return a + b;
  }
}

template <class T> void joinTyped(Joining joining, char *into, const char *other, int64_t count) {
  T *a = reinterpret_cast<T *>(into);
  const T *b = reinterpret_cast<const T *>(other);
  switch (joining) {
  case Joining::Sum:
    for (int64_t i = 0; i < count; ++i)
      a[i] = sum(a[i], b[i]);
    return;
  case Joining::Max:
    for (int64_t i = 0; i < count; ++i)
      a[i] = larger(a[i], b[i]);
    return;
  case Joining::Min:
    for (int64_t i = 0; i < count; ++i)
      a[i] = smaller(a[i], b[i]);
    return;
  }
}

} // namespace

void joinElements(Joining joining, DType dtype, char *into, const char *other, int64_t count) {
  switch (dtype) {
  case DType::F32:
    return joinTyped<float>(joining, into, other, count);
  case DType::F64:
    return joinTyped<double>(joining, into, other, count);
  case DType::I32:
    return joinTyped<int32_t>(joining, into, other, count);
  case DType::I64:
    return joinTyped<int64_t>(joining, into, other, count);
  case DType::U8:
    return joinTyped<uint8_t>(joining, into, other, count);
  case DType::I8:
    return joinTyped<int8_t>(joining, into, other, count);
  case DType::Bool:
  case DType::BF16:
  case DType::F16:
    return;
  }
}

void joinTree(Joining joining, DType dtype, std::span<char *const> parts, int64_t count) {
  for (size_t step = 1; step < parts.size(); step *= 2)
    for (size_t i = 0; i + step < parts.size(); i += 2 * step)
      joinElements(joining, dtype, parts[i], parts[i + step], count);
}

} // namespace pdg
