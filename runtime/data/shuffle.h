// The data order of a shuffled source. Part of what a program means: never changes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace pdg {

/// Fills `order` with the permutation of 0, 1, ... for one pass: a pure function of the run's seed,
/// the source's own seed, the pass and the number of examples. Every permutation is equally likely.
void shuffleOrder(uint64_t runSeed, int64_t sourceSeed, int64_t pass, std::span<int64_t> order);

/// Shuffling inside windows of `size` examples, of data that has no random access. The windows of
/// a pass are [0, f), [f, f + size), [f + size, f + 2 size), ...; f differs from pass to pass, so
/// that examples meet other ones each time. Requires: size >= 1.
class WindowOrder {
public:
  WindowOrder(uint64_t runSeed, int64_t sourceSeed, int64_t pass, int64_t size);

  /// The window that holds example `index`.
  int64_t windowOf(int64_t index) const;

  /// The first example of a window; of window w + 1 it is the end of w.
  int64_t beginOf(int64_t window) const;

  /// Fills `order` with the permutation of the examples of a window, counted from its beginning.
  void shuffle(int64_t window, std::span<int64_t> order) const;

private:
  uint64_t key_;
  int64_t size_;
  int64_t first_; ///< The number of examples in window 0: 1 to size.
};

} // namespace pdg
