// Functions made of the exponential: exp, expm1, sigmoid, tanh.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/math/polynomial.h"

namespace pdg {

/// exp(x) = 2^k (1 + p) for a k near x / log 2.
template <class V, class K> struct ScaledExp {
  K k;
  V p;
};

/// Reduces x = k log 2 + r and returns p = exp(r) - 1 = r + r^2 q(r) (Cody and Waite's reduction
/// with log 2 in two parts; k times the first is exact). q: coefficients.py exp32.
template <MathValue V> auto reduceExp32(V x) {
  auto k = roundProduct32(x, 0x1.715476p+0);
  V r = fma(k.value, x.like(-0x1.62e4p-1), x);
  r = fma(k.value, x.like(-0x1.7f7d1cp-20), r);
  V q = horner(r, {0x1p-1, 0x1.5554aep-3, 0x1.555486p-5, 0x1.122876p-7, 0x1.6d9a3p-10});
  return ScaledExp<V, decltype(k.integer)>{k.integer, fma(r * r, q, r)};
}

/// The same in F64, of the sum x + low with a |low| far below 1. q: coefficients.py exp64.
template <MathValue V> auto reduceExp64(V x, V low) {
  auto k = roundProduct64(x, 0x1.71547652b82fep+0);
  V r = fma(k.value, x.like(-0x1.62e42fefp-1), x);
  r = fma(k.value, x.like(-0x1.473de6af278edp-34), r) + low;
  V q = horner(r, {0x1.0000000000005p-1, 0x1.555555555555cp-3, 0x1.5555555552094p-5,
                   0x1.111111110e6d6p-7, 0x1.6c16c17f518b5p-10, 0x1.a01a01b5db9f3p-13,
                   0x1.a019a63334359p-16, 0x1.71dde9f63ea87p-19, 0x1.28a3016f85b09p-22,
                   0x1.af76ce8197f41p-26});
  return ScaledExp<V, decltype(k.integer)>{k.integer, fma(r * r, q, r)};
}

/// Returns x within [low, high]; NaN stays.
template <MathValue V> V clampKeepingNan(V x, double low, double high) {
  return select(x > high, x.like(high), select(x < low, x.like(low), x));
}

/// exp in F32 without the care for large results: the bits of `exp32`. *Requires*: |x| <= 80.
template <MathValue V> V expInside32(V x) {
  auto e = reduceExp32(x);
  V scale = powerOfTwo32(e.k);
  return fma(e.p, scale, scale);
}

/// exp in F64, as `expInside32`. *Requires*: |x| <= 700.
template <MathValue V> V expInside64(V x) {
  auto e = reduceExp64(x, x.like(0.0));
  V scale = powerOfTwo64(e.k);
  return fma(e.p, scale, scale);
}

/// exp in F32. 2^k is applied in two halves, so that results run into denormals and infinity by
/// themselves; only the last product rounds.
template <MathValue V> V exp32(V x) {
  auto e = reduceExp32(clampKeepingNan(x, -104.0, 89.0));
  auto half = e.k >> 1;
  V scale = powerOfTwo32(half);
  return fma(e.p, scale, scale) * powerOfTwo32(e.k - half);
}

/// exp(x + low) in F64, as `exp32`.
template <MathValue V> V expSum64(V x, V low) {
  auto e = reduceExp64(clampKeepingNan(x, -746.0, 710.0), low);
  auto half = e.k >> 1;
  V scale = powerOfTwo64(half);
  return fma(e.p, scale, scale) * powerOfTwo64(e.k - half);
}

/// exp in F64.
template <MathValue V> V exp64(V x) { return expSum64(x, x.like(0.0)); }

/// Returns e to the power x.
template <MathValue V> V exp(V x) {
  return byWidth(x, [](auto v) { return exp32(v); }, [](auto v) { return exp64(v); });
}

/// expm1 in F32: 2 (2^(k-1) p + (2^(k-1) - 1/2)), where the difference is exact.
template <MathValue V> V expm1F32(V x) {
  auto e = reduceExp32(clampKeepingNan(x, -30.0, 89.0));
  V scale = powerOfTwo32(e.k - 1);
  V y = fma(e.p, scale, scale - 0.5) * 2.0;
  return select(abs(x) < 0x1p-26, x, y);
}

/// expm1 in F64, as `expm1F32`.
template <MathValue V> V expm1F64(V x) {
  auto e = reduceExp64(clampKeepingNan(x, -60.0, 710.0), x.like(0.0));
  V scale = powerOfTwo64(e.k - 1);
  V y = fma(e.p, scale, scale - 0.5) * 2.0;
  return select(abs(x) < 0x1p-55, x, y);
}

/// Returns exp(x) - 1 without cancellation.
template <MathValue V> V expm1(V x) {
  return byWidth(x, [](auto v) { return expm1F32(v); }, [](auto v) { return expm1F64(v); });
}

/// Returns 1 / (1 + exp(-x)), as e / (1 + e) with e = exp(x) for x < 0.
template <MathValue V> V sigmoid(V x) {
  V e = exp(-abs(x));
  return select(x < 0.0, e, x.like(1.0)) / (e + 1.0);
}

/// Returns the hyperbolic tangent: x + x z p(z) with z = x^2 where |x| < 0.6, else
/// 1 - 2 / (exp(2 |x|) + 1), whose quotient is at most half of the result. p: coefficients.py
/// tanh32, tanh64.
template <MathValue V> V tanh(V x) {
  V a = abs(x);
  // From 20 on (10 in F32) the result is 1.
  V e = byWidth(
      select(a > 20.0, x.like(20.0), a) * 2.0, [](auto v) { return expInside32(v); },
      [](auto v) { return expInside64(v); });
  V large = 1.0 - 2.0 / (e + 1.0);
  V z = a * a;
  V p = byWidth(
      z,
      [](auto v) {
        return horner(
            v, {-0x1.55553ep-2, 0x1.1109bep-3, -0x1.b89ab8p-5, 0x1.54c3aap-6, -0x1.8286e8p-8});
      },
      [](auto v) {
        return horner(v, {-0x1.555555555553p-2, 0x1.111111110e1d3p-3, -0x1.ba1ba1b781f02p-5,
                          0x1.664f47f049377p-6, -0x1.226e22977f74cp-7, 0x1.d6d0c6b2487eep-9,
                          -0x1.7d79def829b41p-10, 0x1.33db3a055d59ep-11, -0x1.e32e6542bf16ap-13,
                          0x1.4cad1002bc618p-14, -0x1.203aa8315f52cp-16});
      });
  return copysign(select(a < 0.6, fma(a * z, p, a), large), x);
}

} // namespace pdg
