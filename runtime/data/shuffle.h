// The data order of a shuffled source. Part of what a program means: never changes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace pdg {

/// Fills `order` with the permutation of 0, 1, ... for one pass: a pure function of the run's seed,
/// the source's own seed, the pass and the number of examples. Every permutation is equally likely.
void shuffleOrder(uint64_t runSeed, int64_t sourceSeed, int64_t pass, std::span<int64_t> order);

} // namespace pdg
