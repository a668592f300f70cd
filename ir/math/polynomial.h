// Tools for the elementary functions: polynomials, sums and products with their rounding errors,
// powers of two. No function here depends on the kind of value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/math/value.h"

#include <initializer_list>

namespace pdg {

/// Returns the polynomial with `coefficients` from the constant up, by Horner's rule with FMA.
template <MathValue V> V horner(V x, std::initializer_list<double> coefficients) {
  const double *c = coefficients.end() - 1;
  V sum = x.like(*c);
  while (c != coefficients.begin())
    sum = fma(sum, x, x.like(*--c));
  return sum;
}

/// An unevaluated sum of two floats, the second within the rounding of the first.
template <class V> struct Pair {
  V high;
  V low;
};

/// Returns a + b with its rounding error (Knuth).
template <MathValue V> Pair<V> twoSum(V a, V b) {
  V sum = a + b;
  V second = sum - a;
  return {sum, (a - (sum - second)) + (b - second)};
}

/// Returns a + b with its rounding error (Dekker). *Requires*: |a| >= |b| or a = 0.
template <MathValue V> Pair<V> fastTwoSum(V a, V b) {
  V sum = a + b;
  return {sum, b - (sum - a)};
}

/// Returns a * b with its rounding error.
template <MathValue V> Pair<V> twoProduct(V a, V b) {
  V product = a * b;
  return {product, fma(a, b, -product)};
}

/// Returns a * b for pairs, with a relative error of about 2 to twice the precision.
template <MathValue V> Pair<V> multiply(Pair<V> a, Pair<V> b) {
  Pair<V> product = twoProduct(a.high, b.high);
  return {product.high, product.low + fma(a.high, b.low, a.low * b.high)};
}

/// Returns the F32 2^k. *Requires*: I32 k in [-126, 127].
template <MathValue V> auto powerOfTwo32(V k) { return fromBits(asUnsigned((k + 127) << 23)); }

/// Returns the F64 2^k. *Requires*: I64 k in [-1022, 1023].
template <MathValue V> auto powerOfTwo64(V k) { return fromBits(asUnsigned((k + 1023) << 52)); }

/// An integer as a float and as an integer of the same width.
template <class V, class K> struct Rounded {
  V value;
  K integer;
};

/// Rounds a * b to an integer, by adding a number whose last bit is worth 1: that is one FMA, and
/// the integer stands in the low bits. *Requires*: |a b| < 2^22 for F32, 2^51 for F64.
template <MathValue V> auto roundProduct32(V a, double b) {
  V magic = a.like(0x1.8p23);
  V shifted = fma(a, a.like(b), magic);
  auto integer = asSigned(bits(shifted)) - 0x4b400000;
  return Rounded<V, decltype(integer)>{shifted - magic, integer};
}
template <MathValue V> auto roundProduct64(V a, double b) {
  V magic = a.like(0x1.8p52);
  V shifted = fma(a, a.like(b), magic);
  auto integer = asSigned(bits(shifted)) - 0x4338000000000000;
  return Rounded<V, decltype(integer)>{shifted - magic, integer};
}

/// Returns the F64 of an I64 k. *Requires*: |k| < 2^51. (AVX2 has no instruction for it.)
template <MathValue V> auto smallToFloat64(V k) {
  auto shifted = fromBits(asUnsigned(k + 0x4338000000000000));
  return shifted - 0x1.8p52;
}

} // namespace pdg
