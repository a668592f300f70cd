// Joins values of several processes element by element.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/base/dtype.h"

#include <cstdint>
#include <span>

namespace pdg {

/// How elements are joined. The numbers are those of the dialect's `JoinKind`.
enum class Joining : int64_t { Sum, Max, Min };

/// into[i] = into[i] joined with other[i], for `count` elements. A sum rounds once; integers wrap
/// around; of a maximum or minimum NaN wins, and of zeros +0 is larger than -0. Does nothing for
/// element types that have no sum (bool, bf16, f16).
void joinElements(Joining joining, DType dtype, char *into, const char *other, int64_t count);

/// Joins `parts`, each of `count` elements, as a balanced tree, neighbours first; an odd one moves
/// up. The result is in parts[0]; the others are overwritten. Requires: there is a part.
void joinTree(Joining joining, DType dtype, std::span<char *const> parts, int64_t count);

} // namespace pdg
