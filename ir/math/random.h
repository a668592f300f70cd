// Random numbers as pure functions: the generator Philox4x32-10 (J. Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", 2011) and the distributions drawn from its words. Nothing here has
// a state, so the numbers do not depend on order, threads or vector width.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/math/logarithm.h"
#include "ir/math/trigonometric.h"
#include "runtime/base/mix.h"

#include <array>

namespace pdg {

/// `mix` of runtime/base/mix.h on U64 values.
template <MathValue V> V mixValue(V word) {
  word = word + kGoldenIncrement;
  word = (word ^ (word >> 30)) * uint64_t{0xbf58476d1ce4e5b9};
  word = (word ^ (word >> 27)) * uint64_t{0x94d049bb133111eb};
  return word ^ (word >> 31);
}

/// `combine` of runtime/base/mix.h on U64 values. A call's key is combine(seed, hash of its path);
/// the hash of the loop counters starts with 0 and takes in each, the outermost first.
template <MathValue V> V combineValues(V left, V right) { return mixValue(left ^ mixValue(right)); }

/// Four U32 words.
template <class V> using RandomWords = std::array<V, 4>;

/// Applies `step` to `state` `times` times. Values that emit code have a loop for it
/// (ir/math/emit_loop.h).
template <MathValue V, size_t N, class Step>
  requires(V::isStatic)
std::array<V, N> repeated(int times, std::array<V, N> state, Step step) {
  for (int i = 0; i < times; ++i)
    state = step(state);
  return state;
}

/// Returns Philox4x32-10 of a counter and a key (its two words), all U32.
template <MathValue V> RandomWords<V> philox4x32(RandomWords<V> counter, std::array<V, 2> key) {
  auto upper = [](V product0, uint64_t factor) {
    return convert<Elem::U32>((convert<Elem::U64>(product0) * factor) >> 32);
  };
  constexpr uint32_t factor0 = 0xd2511f53, factor1 = 0xcd9e8d57;
  // The counter, and the key of the round.
  using State = std::array<V, 6>;
  auto round = [&](const State &s) {
    return State{upper(s[2], factor1) ^ s[1] ^ s[4], s[2] * factor1,
                 upper(s[0], factor0) ^ s[3] ^ s[5], s[0] * factor0,
                 s[4] + uint32_t{0x9e3779b9},        s[5] + uint32_t{0xbb67ae85}};
  };
  // Ten rounds; two of them are worth the loop around them.
  auto twoRounds = [&](const State &s) { return round(round(s)); };
  State last =
      repeated(5, State{counter[0], counter[1], counter[2], counter[3], key[0], key[1]}, twoRounds);
  return {last[0], last[1], last[2], last[3]};
}

/// Returns the words of one element. All arguments are U64: the call's key, the hash of the loop
/// counters, and the flat index in the global tensor (which may be wider than the others).
template <MathValue V> auto randomWords(V key, V loops, V index) {
  auto half = [&](V word, int shift) {
    return broadcastLike(convert<Elem::U32>(word >> shift), index);
  };
  using Words = RandomWords<decltype(half(key, 0))>;
  return philox4x32(Words{half(index, 0), half(index, 32), half(loops, 0), half(loops, 32)},
                    {half(key, 0), half(key, 32)});
}

/// Joins two U32 words to a U64.
template <MathValue V> auto joinWords(V high, V low) {
  return (convert<Elem::U64>(high) << 32) | convert<Elem::U64>(low);
}

/// Returns the F64 of a U64. *Requires*: below 2^53.
template <MathValue V> auto wordToFloat64(V word) {
  auto high = convert<Elem::F64>(convert<Elem::I32>(asSigned(word >> 32)));
  return fma(high, high.like(0x1p32), convert<Elem::F64>(convert<Elem::U32>(word)));
}

/// Returns an F32 in [0, 1), a multiple of 2^-24: the upper bits of word 0.
template <class V> auto uniform32(const RandomWords<V> &words) {
  return convert<Elem::F32>(asSigned(words[0] >> 8)) * 0x1p-24;
}

/// Returns an F64 in [0, 1), a multiple of 2^-53: the upper bits of words 0 and 1.
template <class V> auto uniform64(const RandomWords<V> &words) {
  return wordToFloat64(joinWords(words[0], words[1]) >> 11) * 0x1p-53;
}

/// Returns an F32 of the standard normal distribution, at most 6.7 in magnitude, by G. Box and
/// M. Muller: sqrt(-2 log u) cos(2 pi v), u from word 0 and v from word 1, both of 32 bits.
template <class V> auto normal32(const RandomWords<V> &words) {
  auto u = (convert<Elem::F32>(asSigned(words[0] >> 1)) + 0.5) * 0x1p-31;
  auto quadrant = convert<Elem::U64>((words[1] + (uint32_t{1} << 29)) >> 30) + 1;
  auto angle = convert<Elem::F64>(asSigned(words[1] << 2)) * 0x1.921fb54442d18p-32;
  ReducedAngle<decltype(angle), decltype(quadrant)> reduced{quadrant, angle};
  return sqrt(log(u) * -2.0) * convert<Elem::F32>(sinOrCos32(reduced));
}

/// Returns an F64 of the standard normal distribution, at most 8.6 in magnitude: as `normal32`, u
/// of 53 bits from words 0 and 1, v from words 2 and 3.
template <class V> auto normal64(const RandomWords<V> &words) {
  auto u = (wordToFloat64(joinWords(words[0], words[1]) >> 11) + 1.0) * 0x1p-53;
  auto turn = joinWords(words[2], words[3]);
  auto quadrant = ((turn + (uint64_t{1} << 61)) >> 62) + 1;
  auto fraction = turn << 2;
  auto high = convert<Elem::F64>(convert<Elem::I32>(asSigned(fraction >> 32)));
  auto low = convert<Elem::F64>(convert<Elem::U32>(fraction));
  auto angle = fma(low, low.like(0x1p-32), high) * 0x1.921fb54442d18p-32;
  using Angle = decltype(angle);
  ReducedAngle<Pair<Angle>, decltype(quadrant)> reduced{quadrant, {angle, angle.like(0.0)}};
  return sqrt(log(u) * -2.0) * sinOrCos64(reduced);
}

/// Returns a mask that holds with probability p, a float: where the uniform number of p's width is
/// below it. Never for p <= 0 or NaN, always for p >= 1.
template <class V, MathValue P> auto bernoulli(const RandomWords<V> &words, P p) {
  if constexpr (!P::isStatic)
    return p.isF32() ? uniform32(words) < p : uniform64(words) < p;
  else if constexpr (P::isF32())
    return uniform32(words) < p;
  else
    return uniform64(words) < p;
}

} // namespace pdg
