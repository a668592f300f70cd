// Mixing of 64-bit words: hashes of names, keys of random streams, and an unbiased draw that is a
// pure function of a key and a counter. Not for secrets. Everything here is part of what a program
// means (data order, random numbers), so the constants never change.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pdg {

/// 2^64 divided by the golden ratio: the usual increment of counters that are to be mixed.
inline constexpr uint64_t kGoldenIncrement = 0x9e3779b97f4a7c15u;

/// Maps words one to one so that each input bit moves about half of the output bits: the output
/// step of the SplitMix64 generator, whose state is `word`.
constexpr uint64_t mix(uint64_t word) {
  word += kGoldenIncrement;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

/// Joins two words into one. Order matters; for one fixed argument it is one to one in the other.
constexpr uint64_t combine(uint64_t left, uint64_t right) { return mix(left ^ mix(right)); }

/// Hashes a text, eight bytes at a time, lowest byte first on every machine.
constexpr uint64_t hashString(std::string_view text) {
  uint64_t hash = mix(text.size());
  for (size_t begin = 0; begin < text.size(); begin += 8) {
    uint64_t word = 0;
    for (size_t i = begin; i < text.size() && i < begin + 8; ++i)
      word |= uint64_t{static_cast<unsigned char>(text[i])} << (8 * (i - begin));
    hash = combine(hash, word);
  }
  return hash;
}

/// Draws an integer in [0, bound), each equally likely, as a pure function of `key` and `counter`.
/// Requires: bound > 0.
constexpr uint64_t drawBelow(uint64_t key, uint64_t counter, uint64_t bound) {
  uint64_t state = key ^ mix(counter);
  uint64_t word = mix(state);
  // The lowest 2^64 mod bound words would make small remainders likelier: step past those. Words
  // from `bound` on are never among them, which saves a division almost always.
  while (word < bound && word < (0 - bound) % bound)
    word = mix(state += kGoldenIncrement);
  return word % bound;
}

} // namespace pdg
