// Emits, compiles and runs loops over arrays whose body is a function of values, for comparison
// with the same function on plain numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/math/emit_value.h"
#include "test/passes/codegen/kernel_jit.h"

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace pdg::test {

/// The body of a kernel: a result from two operands of one kind.
using EmitBody = std::function<Emitted(Emitted, Emitted)>;

/// The signature of an emitted kernel: operands, result, number of elements.
using ElementKernel = void(const void *, const void *, void *, int64_t);

/// Appends a kernel to the module of `jit` that applies `body` to `width` elements at a time
/// (1: to scalars). Requires: the number of elements is a multiple of `width`.
void emitElementKernel(KernelJit &jit, const std::string &name, Elem in, Elem out, int width,
                       const EmitBody &body);

/// Returns `count` numbers: every pair of special values of T first, then bit patterns and numbers
/// of moderate size in turn. `side` chooses the operand.
template <class T> std::vector<T> testOperands(size_t count, int side) {
  using Word = std::conditional_t<sizeof(T) == 8, uint64_t,
                                  std::conditional_t<sizeof(T) == 4, uint32_t, uint8_t>>;
  std::vector<T> special = {T(0),
                            T(1),
                            T(-1),
                            T(2),
                            T(3),
                            T(10),
                            std::numeric_limits<T>::max(),
                            std::numeric_limits<T>::lowest()};
  if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    for (T x : {T(0), Limits::denorm_min(), Limits::min(), Limits::infinity(), T(0.5), T(1.5),
                T(2.5), T(2147483648.0), T(9223372036854775808.0), T(255.5), T(88.8), T(-104)})
      special.insert(special.end(), {x, -x});
    special.push_back(Limits::quiet_NaN());
  }
  std::vector<T> values;
  for (T x : special)
    for (T y : special)
      values.push_back(side == 0 ? x : y);
  std::mt19937_64 random(17 + side);
  while (values.size() < count) {
    values.push_back(std::bit_cast<T>(static_cast<Word>(random())));
    values.push_back(T(20 * ((random() >> 11) * 0x1p-53) - 10));
  }
  values.resize(count);
  return values;
}

} // namespace pdg::test
