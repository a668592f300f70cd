// Powers of floats, and the reciprocal square root.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/math/exponential.h"
#include "ir/math/logarithm.h"

namespace pdg {

/// |x|^y in F32, by way of F64: 2^(y log2 |x|). With m = 1 + f and s = f / (m + 1),
/// log2 m = s v(s^2). v and e (2^r = 1 + r e(r)): coefficients.py pow_log32, pow_exp32.
template <MathValue V> V powMagnitude32(V x, V y) {
  auto a = convert<Elem::F64>(abs(x));
  auto split = reduceLog64(a);
  auto s = split.f / (split.f + 2.0);
  auto z = s * s;
  auto exponent = fma(s,
                      horner(z, {0x1.71547652b824fp+1, 0x1.ec709dc54014fp-1, 0x1.2776c28efc4b6p-1,
                                 0x1.a61a3238e8e47p-2, 0x1.4794c64fa1f1cp-2, 0x1.21b91e4497a3p-2}),
                      split.k);
  exponent = select(a < INFINITY, exponent, a);
  exponent = select(a == 0.0, exponent.like(-INFINITY), exponent);
  auto product = clampKeepingNan(exponent * convert<Elem::F64>(y), -200.0, 200.0);
  auto k = roundProduct64(product, 1.0);
  auto r = product - k.value;
  auto e = horner(r, {0x1.62e42fef7b64ap-1, 0x1.ebfbe07c44b5p-3, 0x1.c6b08df4980c1p-5,
                      0x1.3b29ef6bae5dcp-7, 0x1.5d8723194cb8p-10, 0x1.445fc565368d3p-13,
                      0x1.00f1ad53c7453p-16});
  auto scale = powerOfTwo64(k.integer);
  return convert<Elem::F32>(fma(r * e, scale, scale));
}

/// Returns log x for positive x as a pair, with a relative error of about 2^-65: with s = f / (2+f)
/// as a pair, 2 s + (2/3) s^3 + s^5 u(s^2), where only the last term is a single float.
/// u: coefficients.py pow_log64.
template <MathValue V> Pair<V> logPair64(V x) {
  auto split = reduceLog64(x);
  V f = split.f;
  Pair<V> d = fastTwoSum(f.like(2.0), f);
  V quotient = f / d.high;
  Pair<V> s{quotient, (fma(-quotient, d.high, f) - quotient * d.low) / d.high};
  Pair<V> z = multiply(s, s);
  Pair<V> cube = multiply(s, z);
  Pair<V> third = multiply(cube, {f.like(0x1.5555555555555p-1), f.like(0x1.5555555555555p-55)});
  V tail = cube.high * z.high *
           horner(z.high, {0x1.9999999999996p-2, 0x1.2492492492f55p-2, 0x1.c71c71c595c21p-3,
                           0x1.745d1829d65f5p-3, 0x1.3b1364a141dbbp-3, 0x1.112075e68fe5bp-3,
                           0x1.de3c48911e76bp-4, 0x1.eacfff34e57f5p-4});
  Pair<V> sum = fastTwoSum(s.high * 2.0, third.high);
  V low = sum.low + (fma(s.low, s.low.like(2.0), third.low) + tail);
  // k times the first part of log 2 is exact.
  Pair<V> scaled = twoSum(split.k * 0x1.62e42fefp-1, sum.high);
  low = scaled.low + fma(split.k, split.k.like(0x1.473de6af278edp-34), low);
  return fastTwoSum(scaled.high, low);
}

/// |x|^y in F64: exp(y log |x|), the logarithm and the product being pairs.
template <MathValue V> V powMagnitude64(V x, V y) {
  V a = abs(x);
  Pair<V> logarithm = logPair64(a);
  Pair<V> product = multiply(logarithm, {y, y.like(0.0)});
  V edge = select(a == 0.0, a.like(-INFINITY), a) * y;
  auto isInside = (a > 0.0) & (a < INFINITY);
  V high = select(isInside, product.high, edge);
  // Beyond that exp is 0 or infinite whatever the low part, which may be inf - inf.
  auto isLarge = !(abs(high) < 800.0);
  return expSum64(high, select(isLarge, high.like(0.0), product.low));
}

/// Returns x to the power y, with the special values of C's `pow` (IEEE 754-2019, 9.2.1): 1 for
/// y = 0 and for x = 1 even with NaN, and for x = -1 with infinite y; NaN for negative finite x
/// and y no integer; the sign of x where y is an odd integer, else positive.
template <MathValue V> V pow(V x, V y) {
  V magnitude = byWidth(
      x, [&](auto v) { return powMagnitude32(v, y); },
      [&](auto v) { return powMagnitude64(v, y); });
  V half = y * 0.5;
  auto isInteger = floor(y) == y;
  auto isOdd = isInteger & (floor(half) != half);
  auto sign = bits(x) ^ bits(abs(x));
  V result = fromBits(bits(magnitude) | select(isOdd, sign, sign.like(0)));
  auto isOutside = (x < 0.0) & (x > -INFINITY) & !isInteger;
  result = select(isOutside, x.like(NAN), result);
  auto isOne = (y == 0.0) | (x == 1.0) | ((abs(x) == 1.0) & (abs(y) == INFINITY));
  return select(isOne, x.like(1.0), result);
}

/// Returns 1 / sqrt(x), each operation rounded.
template <MathValue V> V rsqrt(V x) { return 1.0 / sqrt(x); }

} // namespace pdg
