// Finds what a user probably meant to type.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pdg {

/// The number of single-character insertions, deletions and replacements that turn `from` into `to`
/// (Levenshtein distance).
size_t editDistance(std::string_view from, std::string_view to);

/// The candidate with the least edit distance to `text`, the first one of equals; empty if none is
/// within `limit`.
std::string nearest(std::string_view text, const std::vector<std::string> &candidates,
                    size_t limit);

} // namespace pdg
