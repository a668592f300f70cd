// Hyperbolic functions and their inverses; exponentials and logarithms of other bases.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/math/inverse_trigonometric.h"
#include "ir/math/power.h"

namespace pdg {

/// Returns the hyperbolic sine: (e + e / (e + 1)) / 2 of e = exp(|x|) - 1, and exp(|x| / 2) twice
/// where e^|x| overflows.
template <MathValue V> V sinh(V x) {
  return throughF64(x, [](auto v) {
    auto a = abs(v);
    auto e = expm1(select(a < 710.0, a, 0.0)), half = exp(a * 0.5);
    auto small = 0.5 * (e + e / (e + 1.0));
    auto isSmall = a < 709.0;
    auto y = select(a < 0x1p-27, a, select(isSmall, small, (half * 0.5) * half));
    return copysign(select(v == v, y, v), v);
  });
}

/// Returns the hyperbolic cosine, as `sinh`.
template <MathValue V> V cosh(V x) {
  return throughF64(x, [](auto v) {
    auto a = abs(v);
    auto e = exp(select(a < 710.0, a, 0.0)), half = exp(a * 0.5);
    auto y = select(a < 709.0, 0.5 * e + 0.5 / e, (half * 0.5) * half);
    return select(v == v, y, v);
  });
}

/// Returns the inverse of `sinh`: log1p(a + a^2 / (1 + sqrt(1 + a^2))) with the sign of x.
template <MathValue V> V asinh(V x) {
  return throughF64(x, [](auto v) {
    auto a = abs(v);
    auto isLarge = a > 0x1p28;
    auto b = select(isLarge, a.like(1.0), a);
    auto small = log1p(b + b * b / (1.0 + sqrt(1.0 + b * b)));
    return copysign(select(isLarge, log(a) + 0x1.62e42fefa39efp-1, small), v);
  });
}

/// Returns the inverse of `cosh` on [1, inf]: log1p(t + sqrt(t (t + 2))) of t = x - 1; NaN below.
template <MathValue V> V acosh(V x) {
  return throughF64(x, [](auto v) {
    auto isLarge = v > 0x1p28;
    auto t = select(isLarge, v.like(1.0), v) - 1.0;
    auto small = log1p(t + sqrt(t * (t + 2.0)));
    auto y = select(isLarge, log(v) + 0x1.62e42fefa39efp-1, small);
    return select(v < 1.0, v.like(NAN), y);
  });
}

/// Returns the inverse of `tanh`: log1p(2 a / (1 - a)) / 2 with the sign of x; NaN beyond 1.
template <MathValue V> V atanh(V x) {
  return throughF64(x, [](auto v) {
    auto a = abs(v);
    return copysign(0.5 * log1p(2.0 * a / (1.0 - a)), v);
  });
}

/// log of F64 x over the pair `base`, the reciprocal of the logarithm of a base.
template <MathValue V> V logOverBase(V x, double high, double low) {
  Pair<V> y = multiply(logPair64(x), {x.like(high), x.like(low)});
  return withLogEdges(x, x.like(0.0), y.high + y.low);
}

/// Returns the logarithm for base 2: exact for powers of 2.
template <MathValue V> V log2(V x) {
  return throughF64(
      x, [](auto v) { return logOverBase(v, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56); });
}

/// Returns the logarithm for base 10: exact for powers of 10.
template <MathValue V> V log10(V x) {
  return throughF64(
      x, [](auto v) { return logOverBase(v, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57); });
}

/// Returns 2 to the power x: exact for integers.
template <MathValue V> V exp2(V x) {
  return throughF64(x, [](auto v) {
    auto a = clampKeepingNan(v, -1100.0, 1100.0);
    Pair<decltype(a)> logarithm{a.like(0x1.62e42fefa39efp-1), a.like(0x1.abc9e3b39803fp-56)};
    auto product = multiply(Pair<decltype(a)>{a, a.like(0.0)}, logarithm);
    return expSum64(product.high, product.low);
  });
}

} // namespace pdg
