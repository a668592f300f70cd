// Sine and cosine, exact in the reduction of every finite argument.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/math/polynomial.h"

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

namespace pdg {

/// |x| = quadrant pi/2 + angle with |angle| <= pi/4; the quadrant modulo 4, in U64.
template <class V, class Q> struct ReducedAngle {
  Q quadrant;
  V angle;
};

/// Returns `count` consecutive words of `table` from word `index` on, zeros behind its end, by a
/// select for each bit of the index: vectors without a gather.
template <MathValue V>
std::vector<V> selectWords(std::span<const uint64_t> table, V index, size_t count) {
  std::vector<V> words;
  for (uint64_t word : table)
    words.push_back(index.like(word));
  size_t step = std::bit_floor(table.size());
  for (; step != 0; step /= 2) {
    auto isSet = (index & step) != index.like(0);
    size_t kept = std::min(words.size(), count + step - 1);
    for (size_t i = 0; i < kept; ++i)
      words[i] = select(isSet, i + step < words.size() ? words[i + step] : index.like(0), words[i]);
    words.erase(words.begin() + kept, words.end());
  }
  return words;
}

/// Shifts the joined words `high`, `low` left and returns the upper one. *Requires*: shift below
/// the width, which is `width`.
template <MathValue V> V funnelShift(V high, V low, V shift, int width) {
  return (high << shift) | ((low >> 1) >> ((width - 1) - shift));
}

/// Reduces an F32 by integers (Payne and Hanek): |x| = m 2^(e-150), and the 96 bits of 2/pi behind
/// bit e - 152 give |x| 2/pi modulo 4 as a multiple of 2^-62. The angle is an F64.
template <MathValue V> auto reduceAngle32(V x) {
  // 32 zeros, then the bits of 2/pi.
  static constexpr uint64_t table[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                       0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
  V a = abs(x);
  auto word = bits(a);
  auto exponent = word >> 23;
  auto offset = select(exponent < 120, exponent.like(0), exponent - 120);
  auto words = selectWords<decltype(offset)>(table, offset >> 5, 4);
  auto shift = offset & 31;
  auto window = [&](int i) {
    return convert<Elem::U64>(funnelShift(words[i], words[i + 1], shift, 32));
  };
  auto m = convert<Elem::U64>((word & 0x7fffff) | 0x800000);
  auto product = ((m * window(0)) << 32) + m * window(1) + ((m * window(2)) >> 32);
  auto isSmall = a < 0x1.921fb6p-1; // pi/4, where |x| is the angle.
  auto quadrant = select(isSmall, product.like(0), (product + (uint64_t{1} << 61)) >> 62);
  auto fraction = product << 2;
  auto high = convert<Elem::F64>(convert<Elem::I32>(asSigned(fraction >> 32)));
  auto low = convert<Elem::F64>(convert<Elem::U32>(fraction));
  auto angle = fma(low, low.like(0x1p-32), high) * 0x1.921fb54442d18p-32;
  angle = select(isSmall, convert<Elem::F64>(a), angle);
  return ReducedAngle<decltype(angle), decltype(quadrant)>{quadrant, angle};
}

/// Returns the sine (or cosine) of an angle for an even quadrant and of the other for an odd one,
/// in F64 with an error of 2^-28: for results in F32. s, c: coefficients.py sin32, cos32.
template <class V, class Q> V sinOrCos32(ReducedAngle<V, Q> x) {
  V z = x.angle * x.angle;
  V sine = fma(x.angle * z,
               horner(z, {-0x1.5555458cab08dp-3, 0x1.11075b3dfa69fp-7, -0x1.994cf46be7587p-13}),
               x.angle);
  V cosine =
      fma(z * z, horner(z, {0x1.55554aacc3777p-5, -0x1.6c0c86f73b52p-10, 0x1.9a00ea3f1f6dp-16}),
          fma(z, z.like(-0.5), z.like(1.0)));
  V y = select((x.quadrant & 1) != x.quadrant.like(0), cosine, sine);
  // The sign is bit 1 of the quadrant.
  return fromBits(bits(y) ^ ((x.quadrant & 2) << 62));
}

/// Returns the upper 64 bits of the product of U64 m < 2^53 and w, from products of halves.
template <MathValue V> V multiplyHigh(V m, V w) {
  V m0 = m & 0xffffffff, m1 = m >> 32, w0 = w & 0xffffffff, w1 = w >> 32;
  V cross = m0 * w1;
  V middle = ((m0 * w0) >> 32) + (cross & 0xffffffff) + m1 * w0;
  return m1 * w1 + (cross >> 32) + (middle >> 32);
}

/// Reduces an F64 as `reduceAngle32`: |x| = m 2^(e-1075), 192 bits of 2/pi behind bit e - 1077, of
/// whose product the upper 128 are kept. The angle is a pair, since it can be as small as 2^-60.
template <MathValue V> auto reduceAngle64(V x) {
  // 64 zeros, then the bits of 2/pi.
  static constexpr uint64_t table[] = {0,
                                       0xa2f9836e4e441529,
                                       0xfc2757d1f534ddc0,
                                       0xdb6295993c439041,
                                       0xfe5163abdebbc561,
                                       0xb7246e3a424dd2e0,
                                       0x6492eea09d1921c,
                                       0xfe1deb1cb129a73e,
                                       0xe88235f52ebb4484,
                                       0xe99c7026b45f7e41,
                                       0x3991d639835339f4,
                                       0x9c845f8bbdf9283b,
                                       0x1ff897ffde05980f,
                                       0xef2f118b5a0a6d1f,
                                       0x6d367ecf27cb09b7,
                                       0x4f463f669e5fea2d,
                                       0x7527bac7ebe5f17b,
                                       0x3d0739f78a5292ea,
                                       0x6bfb5fb11f8d5d08,
                                       0x56033046fc7b6bab};
  V a = abs(x);
  auto word = bits(a);
  auto exponent = word >> 52;
  auto offset = select(exponent < 1013, exponent.like(0), exponent - 1013);
  auto words = selectWords<decltype(offset)>(table, offset >> 6, 4);
  auto shift = offset & 63;
  auto window = [&](int i) { return funnelShift(words[i], words[i + 1], shift, 64); };
  auto m = (word & 0xfffffffffffff) | 0x10000000000000;
  auto below = multiplyHigh(m, window(2));
  auto lower = m * window(1) + below;
  auto carry = select(lower < below, m.like(1), 0);
  auto upper = m * window(0) + multiplyHigh(m, window(1)) + carry;
  auto isSmall = a < 0x1.921fb54442d18p-1;
  auto quadrant = select(isSmall, m.like(0), (upper + (uint64_t{1} << 61)) >> 62);
  // The fraction of a quadrant in 128 bits, taken apart into four exact floats.
  auto fraction = (upper << 2) | (lower >> 62);
  auto rest = lower << 2;
  auto part = [](auto u) { return convert<Elem::F64>(convert<Elem::U32>(u)); };
  auto top = convert<Elem::F64>(convert<Elem::I32>(asSigned(fraction >> 32)));
  auto sum = twoSum(top * 0x1p-32, part(fraction) * 0x1p-64);
  auto low = fma(part(rest), x.like(0x1p-128), part(rest >> 32) * 0x1p-96);
  auto turn = fastTwoSum(sum.high, sum.low + low);
  auto angle = multiply(turn, {x.like(0x1.921fb54442d18p+0), x.like(0x1.1a62633145c07p-54)});
  angle = {select(isSmall, a, angle.high), select(isSmall, x.like(0.0), angle.low)};
  return ReducedAngle<Pair<V>, decltype(quadrant)>{quadrant, angle};
}

/// As `sinOrCos32` in full F64, of a pair. s, c: coefficients.py sin64, cos64.
template <class V, class Q> V sinOrCos64(ReducedAngle<Pair<V>, Q> x) {
  V r = x.angle.high, low = x.angle.low;
  V z = r * r;
  V sine = r + fma(r * z,
                   horner(z, {-0x1.5555555555549p-3, 0x1.111111110f89cp-7, -0x1.a01a019c1417p-13,
                              0x1.71de3578e796p-19, -0x1.ae5e669ed0d49p-26, 0x1.5d92ff76d4c79p-33}),
                   low);
  V half = z * 0.5;
  V first = 1.0 - half;
  V rest = ((1.0 - first) - half) +
           fma(z * z,
               horner(z, {0x1.555555555554cp-5, -0x1.6c16c16c15217p-10, 0x1.a01a019cbe0abp-16,
                          -0x1.27e4f8116d279p-22, 0x1.1ee9f045ca58bp-29, -0x1.8fb0921353306p-37}),
               -(r * low));
  V y = select((x.quadrant & 1) != x.quadrant.like(0), first + rest, sine);
  return fromBits(bits(y) ^ ((x.quadrant & 2) << 62));
}

/// Returns the sine; NaN of infinities.
template <MathValue V> V sin(V x) {
  V y = byWidth(
      x, [](auto v) { return convert<Elem::F32>(sinOrCos32(reduceAngle32(v))); },
      [](auto v) { return sinOrCos64(reduceAngle64(v)); });
  y = fromBits(bits(y) ^ (bits(x) ^ bits(abs(x))));
  return select(abs(x) < INFINITY, y, x - x);
}

/// Returns the cosine; NaN of infinities.
template <MathValue V> V cos(V x) {
  V y = byWidth(
      x,
      [](auto v) {
        auto reduced = reduceAngle32(v);
        reduced.quadrant = reduced.quadrant + 1;
        return convert<Elem::F32>(sinOrCos32(reduced));
      },
      [](auto v) {
        auto reduced = reduceAngle64(v);
        reduced.quadrant = reduced.quadrant + 1;
        return sinOrCos64(reduced);
      });
  return select(abs(x) < INFINITY, y, x - x);
}

} // namespace pdg
