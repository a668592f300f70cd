// Fisher-Yates with counted draws.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/shuffle.h"

#include "runtime/base/mix.h"

#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

namespace pdg {

namespace {

/// Permutes 0, 1, ... by the draws of `key`.
void permute(uint64_t key, std::span<int64_t> order) {
  std::iota(order.begin(), order.end(), 0);
  // Place i is settled by draw i, from the last place to the first.
  for (uint64_t i = order.size(); i-- > 1;)
    std::swap(order[i], order[drawBelow(key, i, i + 1)]);
}

uint64_t passKey(std::string_view name, uint64_t runSeed, int64_t sourceSeed, int64_t pass) {
  uint64_t seed = combine(runSeed, static_cast<uint64_t>(sourceSeed));
  return combine(combine(hashString(name), seed), static_cast<uint64_t>(pass));
}

} // namespace

void shuffleOrder(uint64_t runSeed, int64_t sourceSeed, int64_t pass, std::span<int64_t> order) {
  permute(passKey("shuffle", runSeed, sourceSeed, pass), order);
}

WindowOrder::WindowOrder(uint64_t runSeed, int64_t sourceSeed, int64_t pass, int64_t size)
    : key_(passKey("window", runSeed, sourceSeed, pass)), size_(size),
      first_(1 + static_cast<int64_t>(drawBelow(key_, 0, static_cast<uint64_t>(size)))) {}

int64_t WindowOrder::windowOf(int64_t index) const {
  return index < first_ ? 0 : 1 + (index - first_) / size_;
}

int64_t WindowOrder::beginOf(int64_t window) const {
  if (window == 0)
    return 0;
  int64_t begin = 0;
  // Beyond every file: as good as infinite.
  if (__builtin_mul_overflow(window - 1, size_, &begin) ||
      __builtin_add_overflow(begin, first_, &begin))
    return std::numeric_limits<int64_t>::max();
  return begin;
}

void WindowOrder::shuffle(int64_t window, std::span<int64_t> order) const {
  permute(combine(key_, static_cast<uint64_t>(window)), order);
}

} // namespace pdg
