// The tangent and the inverse trigonometric functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/math/trigonometric.h"

namespace pdg {

/// Applies a function of F64 to F64 itself, or to F32 on the way through F64, rounded at the end.
template <MathValue V, class Function> V throughF64(V x, Function function) {
  return byWidth(
      x, [&](auto v) { return convert<Elem::F32>(function(convert<Elem::F64>(v))); }, function);
}

/// Returns the tangent: the quotient of sine and cosine of one reduced angle; NaN of infinities.
template <MathValue V> V tan(V x) {
  V y = byWidth(
      x,
      [](auto v) {
        auto sine = reduceAngle32(v), cosine = sine;
        cosine.quadrant = cosine.quadrant + 1;
        return convert<Elem::F32>(sinOrCos32(sine) / sinOrCos32(cosine));
      },
      [](auto v) {
        auto sine = reduceAngle64(v), cosine = sine;
        cosine.quadrant = cosine.quadrant + 1;
        return sinOrCos64(sine) / sinOrCos64(cosine);
      });
  y = fromBits(bits(y) ^ (bits(x) ^ bits(abs(x))));
  return select(abs(x) < INFINITY, y, x - x);
}

/// atan of F64 a >= 0: of t = a, (a - 1) / (a + 1) or -1 / a, none of which is above tan(pi/8),
/// plus 0, pi/4 or pi/2. atan t = t + t z p(z) with z = t^2 and p = `polynomial`.
template <MathValue V> V atanOfMagnitude(V a, std::initializer_list<double> polynomial) {
  auto isMiddle = a > 0x1.a827999fcef32p-2, isLarge = a > 0x1.3504f333f9de6p+1;
  V numerator = select(isLarge, a.like(-1.0), select(isMiddle, a - 1.0, a));
  V denominator = select(isLarge, a, select(isMiddle, a + 1.0, 1.0));
  V t = numerator / denominator;
  V base = select(isLarge, a.like(0x1.921fb54442d18p+0),
                  select(isMiddle, a.like(0x1.921fb54442d18p-1), 0.0));
  V low = select(isLarge, a.like(0x1.1a62633145c07p-54),
                 select(isMiddle, a.like(0x1.1a62633145c07p-55), 0.0));
  V z = t * t;
  return base + (t + fma(t * z, horner(z, polynomial), low));
}

/// atan of F64 a >= 0, for results in F32. p: coefficients.py atan32.
template <MathValue V> V atanOfMagnitude32(V a) {
  return atanOfMagnitude(a, {-0x1.555554c7f45e2p-2, 0x1.999919cb56d15p-3, -0x1.247ef789ede1ap-3,
                             0x1.c4667844baf0bp-4, -0x1.5b3c568054668p-4, 0x1.84ce50052cfebp-5});
}

/// atan of F64 a >= 0. p: coefficients.py atan64.
template <MathValue V> V atanOfMagnitude64(V a) {
  return atanOfMagnitude(a, {-0x1.5555555555554p-2, 0x1.9999999999583p-3, -0x1.249249246f48ep-3,
                             0x1.c71c71b44d6f9p-4, -0x1.745d144e3a0c8p-4, 0x1.3b1364b8e03d5p-4,
                             -0x1.110be7d625f7fp-4, 0x1.e1676cfc9065dp-5, -0x1.ab39d26f03206p-5,
                             0x1.6fdbb96ff07c5p-5, -0x1.0fbec7c6a6e7fp-5, 0x1.e7ed5557b7212p-7});
}

/// Returns the arc tangent.
template <MathValue V> V atan(V x) {
  V y = byWidth(
      x, [](auto v) { return convert<Elem::F32>(atanOfMagnitude32(abs(convert<Elem::F64>(v)))); },
      [](auto v) { return atanOfMagnitude64(abs(v)); });
  return copysign(y, x);
}

/// Returns the arc sine, atan(x / sqrt((1 - x) (1 + x))); NaN beyond 1.
template <MathValue V> V asin(V x) {
  return throughF64(x, [](auto v) {
    auto a = abs(v);
    return copysign(atanOfMagnitude64(a / sqrt((1.0 - a) * (1.0 + a))), v);
  });
}

/// Returns the arc cosine, 2 atan(sqrt((1 - x) / (1 + x))); NaN beyond 1.
template <MathValue V> V acos(V x) {
  return throughF64(x, [](auto v) { return 2.0 * atanOfMagnitude64(sqrt((1.0 - v) / (1.0 + v))); });
}

/// Returns the angle of the point (x, y) in [-pi, pi], with the special values of C's `atan2`.
template <MathValue V> V atan2(V y, V x) {
  auto angle = [](auto y, auto x) {
    auto a = abs(y), b = abs(x), infinity = abs(y).like(INFINITY);
    auto isOrigin = (a == 0.0) & (b == 0.0), isFar = (a == infinity) & (b == infinity);
    auto ratio = select(isOrigin, a.like(0.0), select(isFar, a.like(1.0), a / b));
    auto t = atanOfMagnitude64(ratio);
    // -0 counts as negative.
    auto isLeft = copysign(x.like(1.0), x) < 0.0;
    auto left = 0x1.921fb54442d18p+1 - (t - 0x1.1a62633145c07p-53);
    auto result = copysign(select(isLeft, left, t), y);
    return select((x != x) | (y != y), x + y, result);
  };
  return byWidth(
      y,
      [&](auto v) {
        return convert<Elem::F32>(angle(convert<Elem::F64>(v), convert<Elem::F64>(x)));
      },
      [&](auto v) { return angle(v, x); });
}

} // namespace pdg
