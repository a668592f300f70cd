// Names that are nearly the same, for "did you mean".
// SPDX-License-Identifier: Apache-2.0
#include "frontend/names.h"

#include <algorithm>

namespace pdg {

size_t editDistance(std::string_view a, std::string_view b) {
  size_t columns = b.size() + 1;
  std::vector<size_t> beforeLast(columns), last(columns), row(columns);
  for (size_t j = 0; j < columns; ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    beforeLast.swap(last);
    last.swap(row);
    row[0] = i;
    for (size_t j = 1; j < columns; ++j) {
      size_t replace = last[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], beforeLast[j - 2] + 1);
    }
  }
  return row.back();
}

static bool equalsIgnoringCase(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [&](char x, char y) { return lower(x) == lower(y); });
}

std::string findNearest(std::string_view name, const std::vector<std::string> &candidates) {
  // A name this long is no slip of another one, and the distance costs the product of the lengths.
  constexpr size_t MaxLength = 64;
  size_t limit = std::min<size_t>(3, (name.size() + 1) / 3);
  std::string best;
  size_t bestDistance = limit + 1;
  for (const std::string &candidate : candidates) {
    size_t longer = std::max(candidate.size(), name.size());
    if (longer > MaxLength || longer - std::min(candidate.size(), name.size()) > limit ||
        candidate == name)
      continue;
    size_t distance = equalsIgnoringCase(name, candidate) ? 0 : editDistance(name, candidate);
    if (distance < bestDistance || (distance == bestDistance && candidate < best)) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return bestDistance <= limit ? best : "";
}

} // namespace pdg
