// Edit distance by the usual table, one row of it at a time.
// SPDX-License-Identifier: Apache-2.0
#include "tools/nearest.h"

#include <algorithm>
#include <numeric>

namespace pdg {

size_t editDistance(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= from.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      size_t replaced = diagonal + (from[i - 1] != to[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

std::string nearest(std::string_view text, const std::vector<std::string> &candidates,
                    size_t limit) {
  std::string best;
  size_t least = limit + 1;
  for (const std::string &candidate : candidates) {
    size_t distance = editDistance(text, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

} // namespace pdg
