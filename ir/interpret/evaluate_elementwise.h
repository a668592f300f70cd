// How the interpreter applies a formula to every element: the same text that code generation emits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/interfaces.h"
#include "ir/math/functions.h"

namespace pdg {

/// A list of C++ element types.
template <class... Ts> struct TypeList {};
using Floats = TypeList<float, double>;
using Ints = TypeList<int32_t, int64_t, uint8_t>;
using Bools = TypeList<bool>;
using Numbers = TypeList<float, double, int32_t, int64_t, uint8_t>;
using AnyType = TypeList<float, double, int32_t, int64_t, uint8_t, bool>;

/// Calls `fn.template operator()<T>()` for the T of `dtype`; false if it is not in the list.
template <class Fn, class... Ts> bool dispatch(TypeList<Ts...>, DType dtype, Fn fn) {
  return ((dtypeOf<Ts> == dtype && (fn.template operator()<Ts>(), true)) || ...);
}

/// Applies `fn` to the elements of operands of type T (the first of three is a bool).
template <class T, class Fn> mlir::LogicalResult evaluateTyped(Evaluation &eval, Fn fn) {
  using S = Scalar<T>;
  const HostTensor &x = eval.operand(0);
  int64_t n = x.numElements();
  if constexpr (std::is_invocable_v<Fn, S>) {
    using R = decltype(fn(S{}).value);
    R *out = eval.result(0, x.shape()).template data<R>();
    for (int64_t i = 0; i < n; ++i)
      out[i] = fn(S{x.data<T>()[i]}).value;
  } else if constexpr (std::is_invocable_v<Fn, S, S>) {
    using R = decltype(fn(S{}, S{}).value);
    const HostTensor &y = eval.operand(1);
    if (x.shape() != y.shape())
      return eval.mismatch(x, y);
    R *out = eval.result(0, x.shape()).template data<R>();
    for (int64_t i = 0; i < n; ++i)
      out[i] = fn(S{x.data<T>()[i]}, S{y.data<T>()[i]}).value;
  } else {
    const HostTensor &y = eval.operand(1), &z = eval.operand(2);
    if (x.shape() != y.shape() || y.shape() != z.shape())
      return eval.mismatch(x, x.shape() != y.shape() ? y : z);
    T *out = eval.result(0, x.shape()).template data<T>();
    for (int64_t i = 0; i < n; ++i)
      out[i] = fn(Scalar<bool>{x.data<bool>()[i]}, S{y.data<T>()[i]}, S{z.data<T>()[i]}).value;
  }
  return mlir::success();
}

/// The body of `evaluate` for an element-wise op on the types of `List`.
template <class List, class Fn> mlir::LogicalResult evaluateElementwise(Evaluation &eval, Fn fn) {
  mlir::LogicalResult result = mlir::failure();
  constexpr unsigned last =
      std::is_invocable_v<Fn, Scalar<bool>, Scalar<bool>, Scalar<bool>> ? 2 : 0;
  dispatch(List{}, eval.operand(last).dtype(),
           [&]<class T>() { result = evaluateTyped<T>(eval, fn); });
  return result;
}

/// Index `i` of an integer tensor of any type, as i64.
int64_t integerAt(const HostTensor &ids, int64_t i);

/// Evaluates a reduction plainly, in the order that the op promises.
mlir::LogicalResult evaluateReduction(ReductionOpInterface op, Evaluation &eval);

/// The number of leaves into which a sum over a first axis of length n is cut: the largest power of
/// two that divides n, is at most 16 and leaves at least 16 terms to a leaf; at least 1.
int64_t leafCount(int64_t n);

} // namespace pdg
