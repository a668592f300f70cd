// Arithmetic that the basic operators do not settle: flooring division, casts between kinds, and
// powers with integer exponents.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/math/value.h"

namespace pdg {

/// A quotient and the remainder that belongs to it.
template <class V> struct Division {
  V quotient;
  V remainder;
};

/// Divides integers, rounding down; the remainder has the divisor's sign. The lowest integer
/// divided by -1 wraps to itself. By zero both are 0: whoever divides checks that first
/// (docs/numbers.md), here it only must not trap.
template <MathValue V> Division<V> floorDivideInt(V x, V y) {
  V one = x.like(1), zero = x.like(0);
  auto isZero = y == zero;
  if (x.elem() == Elem::U8) {
    V safe = select(isZero, one, y);
    V quotient = truncDiv(x, safe);
    return {select(isZero, zero, quotient), select(isZero, zero, x - quotient * safe)};
  }
  // The lowest integer is the only one but 0 that negation keeps.
  auto overflows = (y == x.like(-1)) & (x == -x);
  V safe = select(isZero | overflows, one, y);
  V quotient = truncDiv(x, safe);
  V remainder = x - quotient * safe;
  auto adjust = (remainder != zero) & ((remainder < zero) != (safe < zero));
  quotient = select(adjust, quotient - one, quotient);
  remainder = select(adjust, remainder + safe, remainder);
  return {select(isZero, zero, quotient), select(isZero, zero, remainder)};
}

/// Divides floats, rounding down. The remainder x - q y is rounded once and lies in [0, y] (or
/// [y, 0]); it is 0 where |x / y| is so large that floats have no fractions there. By an infinity:
/// quotient 0 and remainder x for equal signs, else -1 and y. NaN by zero or of an infinity.
template <MathValue V> Division<V> floorDivideFloat(V x, V y) {
  V quotient = floor(x / y);
  V remainder = fma(-quotient, y, x);
  // x / y may have been rounded up to an integer, and then the remainder has the wrong sign.
  auto isWrong = ((remainder < 0.0) & (y > 0.0)) | ((remainder > 0.0) & (y < 0.0));
  quotient = select(isWrong, quotient - 1.0, quotient);
  remainder = select(isWrong, remainder + y, remainder);
  V limit =
      byWidth(x, [](auto v) { return v.like(0x1p24); }, [](auto v) { return v.like(0x1p53); });
  remainder = select(abs(quotient) >= limit, remainder * 0.0, remainder);
  remainder = select(remainder == 0.0, copysign(remainder, y), remainder);
  V infinity = x.like(INFINITY);
  auto byInfinity = (abs(y) == infinity) & (abs(x) < infinity);
  auto isOpposite = ((x < 0.0) & (y > 0.0)) | ((x > 0.0) & (y < 0.0));
  remainder = select(byInfinity, select(isOpposite, y, x), remainder);
  return {select(byInfinity & isOpposite, -1.0 * x.like(1.0), quotient), remainder};
}

/// Returns the floor of x / y, as the language's `//`.
template <MathValue V> V floorDiv(V x, V y) {
  return byKind(
      x, [&](auto v) { return floorDivideFloat(v, y).quotient; },
      [&](auto v) { return floorDivideInt(v, y).quotient; });
}

/// Returns the remainder of `floorDiv`, as the language's `%`.
template <MathValue V> V floorMod(V x, V y) {
  return byKind(
      x, [&](auto v) { return floorDivideFloat(v, y).remainder; },
      [&](auto v) { return floorDivideInt(v, y).remainder; });
}

/// Converts a float to an integer kind: towards zero, beyond the range to the nearest end, NaN to
/// 0.
template <Elem to, MathValue V> auto saturate(V x) {
  constexpr bool isByte = to == Elem::U8;
  constexpr double low = isByte ? 0 : to == Elem::I32 ? -0x1p31 : -0x1p63;
  constexpr double high = isByte ? 256 : -low;
  auto fits = (x >= low) & (x < high);
  // A byte goes through 32 bits: direct conversions to it are no vector instructions.
  auto whole = convert<to>(convert<isByte ? Elem::I32 : to>(select(fits, x, 0.0)));
  auto lowest = whole.like(isByte ? int64_t{0} : to == Elem::I32 ? INT32_MIN : INT64_MIN);
  auto highest = whole.like(isByte ? int64_t{255} : to == Elem::I32 ? INT32_MAX : INT64_MAX);
  whole = select(x >= high, highest, whole);
  return select(x < low, lowest, whole);
}

/// Converts between kinds as the language's casts do: to a float the nearest one; from a float to
/// an integer as `saturate`; to fewer bits by dropping the high ones; to Bool whether it is not 0.
template <Elem to, MathValue V> auto cast(V x) {
  auto convertAll = [](auto v) { return convert<to>(v); };
  if constexpr (isFloatElem(to) || to == Elem::Bool)
    return convertAll(x);
  else
    return byKind(x, [](auto v) { return saturate<to>(v); }, convertAll);
}

/// The number of bits of x's kind, an integer.
template <MathValue V> int widthOf(V x) {
  return x.elem() == Elem::U8 ? 8 : x.elem() == Elem::I32 ? 32 : 64;
}

/// Returns x times 2^n, wrapping; 0 for n outside of [0, width).
template <MathValue V> V shiftLeft(V x, V n) {
  auto isInside = (n >= n.like(0)) & (n < n.like(widthOf(x)));
  return select(isInside, x << select(isInside, n, 0), 0);
}

/// Returns x over 2^n, rounded down; for n outside of [0, width) only the sign is left.
template <MathValue V> V shiftRight(V x, V n) {
  auto isInside = (n >= n.like(0)) & (n < n.like(widthOf(x)));
  return select(isInside, x >> select(isInside, n, 0), select(x < x.like(0), x.like(-1), 0));
}

/// Returns x to the constant power n: squares from the lowest bit of |n| up, multiplied into the
/// result from the left, and for negative n one division at the end. x^0 is 1, also of NaN.
/// *Requires*: n >= 0 for integers.
template <MathValue V> V powConstant(V x, int64_t n) {
  uint64_t rest = n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
  V result = x.like(1);
  bool isFirst = true;
  for (V square = x; rest != 0; square = square * square) {
    if (rest & 1) {
      result = isFirst ? square : result * square;
      isFirst = false;
    }
    rest >>= 1;
    if (rest == 0)
      break;
  }
  return n >= 0 ? result : byKind(result, [](auto v) { return 1.0 / v; }, [](auto v) { return v; });
}

/// Returns x to the power y for integers, wrapping. For y < 0 the exact value rounded towards zero:
/// 0 unless x is 1 or -1; also 0 for x = 0.
template <MathValue V> V powInt(V x, V y) {
  V result = x.like(1), zero = x.like(0), one = x.like(1);
  V rest = y, square = x;
  for (int bit = 0; bit < widthOf(x); ++bit) {
    result = select((rest & 1) != zero, result * square, result);
    rest = rest >> 1;
    square = square * square;
  }
  if (x.elem() == Elem::U8)
    return result;
  V sign = select((y & 1) != zero, x, one);
  V reciprocal = select((x == one) | (x == x.like(-1)), sign, zero);
  return select(y < zero, reciprocal, result);
}

} // namespace pdg
