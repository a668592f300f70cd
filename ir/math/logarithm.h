// Logarithms: log, log1p.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/math/polynomial.h"

namespace pdg {

/// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); k as a float.
template <class V> struct ScaledLog {
  V k;
  V f;
};

/// Splits F32 x, denormals included. *Requires*: x positive and finite for a meaningful result.
template <MathValue V> ScaledLog<V> reduceLog32(V x) {
  auto isTiny = x < 0x1p-126;
  auto word = asSigned(bits(select(isTiny, x * 0x1p25, x)));
  auto k = (word - 0x3f3504f3) >> 23;
  V f = fromBits(asUnsigned(word - (k << 23))) - 1.0;
  return {convert<Elem::F32>(k) + select(isTiny, x.like(-25.0), 0.0), f};
}

/// Splits F64 x, as `reduceLog32`.
template <MathValue V> ScaledLog<V> reduceLog64(V x) {
  auto isTiny = x < 0x1p-1022;
  auto word = asSigned(bits(select(isTiny, x * 0x1p54, x)));
  auto k = (word - 0x3fe6a09e667f3bcd) >> 52;
  V f = fromBits(asUnsigned(word - (k << 52))) - 1.0;
  return {smallToFloat64(k) + select(isTiny, x.like(-54.0), 0.0), f};
}

/// Returns k log 2 + log(1 + f) + low, where log(1 + f) = f - f^2 / 2 + f^3 p(f).
/// p: coefficients.py log32.
template <MathValue V> V joinLog32(ScaledLog<V> x, V low) {
  V p = horner(x.f, {0x1.55554ap-2, -0x1.000224p-2, 0x1.99a5aap-3, -0x1.547786p-3, 0x1.226bep-3,
                     -0x1.0ce8f4p-3, 0x1.07e5e6p-3, -0x1.41f152p-4});
  V y = fma(x.f * x.f, fma(x.f, p, x.f.like(-0.5)), low) + x.f;
  y = fma(x.k, x.k.like(0x1.7f7d1cp-20), y);
  return fma(x.k, x.k.like(0x1.62e4p-1), y);
}

/// The same in F64 with s = f / (2 + f): log(1 + f) = 2 s + s^3 t(s^2), and 2 s is written
/// f - f^2 / 2 + s f^2 / 2, so that the error of the quotient meets a small factor (the arrangement
/// is that of K. C. Ng). t: coefficients.py log64.
template <MathValue V> V joinLog64(ScaledLog<V> x, V low) {
  V s = x.f / (x.f + 2.0);
  V z = s * s;
  V t = horner(z, {0x1.5555555555593p-1, 0x1.999999997fa01p-2, 0x1.2492494229832p-2,
                   0x1.c71c51d8959a4p-3, 0x1.7466497ff0cdcp-3, 0x1.39a09af4f12ecp-3,
                   0x1.2f11431bb92e6p-3});
  V square = x.f * x.f * 0.5;
  V rest = fma(s, fma(z, t, square), fma(x.k, x.k.like(0x1.473de6af278edp-34), low));
  V y = x.f - (square - rest);
  return fma(x.k, x.k.like(0x1.62e42fefp-1), y);
}

/// Returns log at the edges of its domain, else y: -inf at 0, NaN below, inf and NaN unchanged.
template <MathValue V> V withLogEdges(V x, V zero, V y) {
  y = select(x < INFINITY, y, x);
  y = select(x == zero, x.like(-INFINITY), y);
  return select(x < zero, x.like(NAN), y);
}

/// Returns the natural logarithm.
template <MathValue V> V log(V x) {
  V y = byWidth(
      x, [](auto v) { return joinLog32(reduceLog32(v), v.like(0.0)); },
      [](auto v) { return joinLog64(reduceLog64(v), v.like(0.0)); });
  return withLogEdges(x, x.like(0.0), y);
}

/// Returns log(1 + x): the logarithm of the rounded sum, and its rounding error over the sum.
template <MathValue V> V log1p(V x) {
  Pair<V> sum = twoSum(x.like(1.0), x);
  V low = sum.low / sum.high;
  V y = byWidth(
      x, [&](auto v) { return joinLog32(reduceLog32(sum.high), low); },
      [&](auto v) { return joinLog64(reduceLog64(sum.high), low); });
  y = select(abs(x) < 0x1p-60, x, y);
  return withLogEdges(x, x.like(-1.0), y);
}

} // namespace pdg
