// bf16, f16 and i8, which are stored and converted but not computed with: their bits from and to
// the kinds of ir/math/value.h. A stored element is the low bits of a U32.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/math/arithmetic.h"

namespace pdg {

/// Returns the F32 that the bf16 `word` is: the upper half of its bits.
template <MathValue V> auto decodeBf16(V word) { return fromBits(word << 16); }

/// Returns the F32 that the f16 `word` is. Denormal numbers are found by taking away the leading 1
/// that they do not have.
template <MathValue V> auto decodeF16(V word) {
  V magnitude = (word & 0x7fff) << 13, exponent = magnitude & 0x0f800000;
  auto denormal = fromBits(magnitude + (113 << 23)) - 0x1p-14;
  V infinite = magnitude + (224 << 23), normal = magnitude + (112 << 23);
  V bitsOf = select(exponent == word.like(0x0f800000), infinite,
                    select(exponent == word.like(0), bits(denormal), normal));
  return fromBits(bitsOf | ((word & 0x8000) << 16));
}

/// Returns the I32 that the i8 in the low bits of `word` is.
template <MathValue V> auto decodeI8(V word) { return asSigned((word & 0xff) ^ 0x80) - 128; }

/// Returns the nearest bf16 of an F32, ties to even.
template <MathValue V> auto encodeBf16(V x) {
  auto word = bits(x);
  auto rounded = (word + 0x7fff + ((word >> 16) & 1)) >> 16;
  return select(x == x, rounded, rounded.like(0x7fc0));
}

/// Returns the nearest f16 of an F32, ties to even; too large is infinite.
template <MathValue V> auto encodeF16(V x) {
  auto word = bits(x), sign = (word >> 16) & 0x8000;
  auto magnitude = bits(abs(x));
  // Adding 1/2 rounds at the place of the last bit of a denormal number.
  auto denormal = bits(abs(x) + 0.5) - 0x3f000000;
  auto normal = (magnitude - (112u << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  auto result = select(magnitude < magnitude.like(0x38800000), denormal, normal);
  result = select(magnitude >= magnitude.like(0x47800000), result.like(0x7c00), result);
  result = select(x == x, result, result.like(0x7e00));
  return result | sign;
}

/// An F64 rounded to an F32 whose last bit is 1 if it is not exact, so that rounding it once more
/// to fewer bits gives what rounding at once would.
template <MathValue V> auto roundToOdd(V x) {
  auto rounded = convert<Elem::F32>(x);
  auto back = convert<Elem::F64>(rounded);
  auto word = bits(rounded);
  auto isExact = back == x;
  word = select(!isExact & (abs(back) > abs(x)), word - 1, word);
  return fromBits(select(isExact, word, word | 1));
}

/// An I64 as an F64, exactly; of large ones the lowest bits become one that is 1 if they were not
/// 0.
template <MathValue V> auto stickyToFloat(V x) {
  V low = x & 0x7ff;
  V sticky = (x & ~int64_t(0x7ff)) | select(low != low.like(0), low.like(0x800), low.like(0));
  auto isSmall = abs(x) < x.like(int64_t(1) << 53);
  return convert<Elem::F64>(select(isSmall, x, sticky));
}

/// A number of any kind as an F32 that rounds to bf16 or f16 as the number itself does.
template <MathValue V> auto toHalfWay(V x) {
  auto fromOther = [](auto v) { return roundToOdd(convert<Elem::F64>(v)); };
  auto fromInt = [](auto v) { return roundToOdd(stickyToFloat(v)); };
  if constexpr (!V::isStatic)
    return x.elem() == Elem::F32 ? x : x.elem() == Elem::I64 ? fromInt(x) : fromOther(x);
  else if constexpr (V::elem() == Elem::F32)
    return x;
  else if constexpr (V::elem() == Elem::I64)
    return fromInt(x);
  else
    return fromOther(x);
}

/// The I32 whose low bits are `x` as an i8: floats towards zero and into the range, integers by
/// their low bits.
template <MathValue V> auto encodeI8(V x) {
  auto fromFloat = [](auto v) {
    auto whole = cast<Elem::I32>(v);
    return select(whole > 127, whole.like(127), select(whole < -128, whole.like(-128), whole));
  };
  return byKind(x, fromFloat, [](auto v) { return convert<Elem::I32>(v); });
}

} // namespace pdg
