// Fisher-Yates with counted draws.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/shuffle.h"

#include "runtime/base/mix.h"

#include <numeric>
#include <utility>

namespace pdg {

void shuffleOrder(uint64_t runSeed, int64_t sourceSeed, int64_t pass, std::span<int64_t> order) {
  std::iota(order.begin(), order.end(), 0);
  uint64_t seed = combine(runSeed, static_cast<uint64_t>(sourceSeed));
  uint64_t key = combine(combine(hashString("shuffle"), seed), static_cast<uint64_t>(pass));
  // Place i is settled by draw i, from the last place to the first.
  for (uint64_t i = order.size(); i-- > 1;)
    std::swap(order[i], order[drawBelow(key, i, i + 1)]);
}

} // namespace pdg
