// Names that are nearly the same, for "did you mean".
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pdg {

/// The number of letters to insert, delete, replace or swap with their neighbour to get from `a` to
/// `b` (the restricted Damerau-Levenshtein distance).
size_t editDistance(std::string_view a, std::string_view b);

/// The candidate nearest to `name`, if one is near enough to be a likely slip; else an empty
/// string. Of equally near ones the first in alphabetical order.
std::string findNearest(std::string_view name, const std::vector<std::string> &candidates);

} // namespace pdg
