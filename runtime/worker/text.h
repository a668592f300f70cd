// How values look in texts: prints and error messages of the running program.
//
// | value            | no format                                         | `.4`    | `.4g`     |
// |------------------|---------------------------------------------------|---------|-----------|
// | float            | shortest text that reads back as the same value:  | 0.5000  | 0.5,      |
// |                  | 0.1, 1.0, 1e-05, 1.5e+16 (laid out like Python's) |         | 1.235e+06 |
// | NaN, infinities  | nan (without sign), inf, -inf                     | same    | same      |
// | integer          | 42                                                | same    | same      |
// | bool             | true, false                                       | same    | same      |
//
// A width pads on the left. A tensor is its type and its elements, each formatted so:
// `f32[2] [1.0, 2.0]`, or, from two axes on, a line per row under the type.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/worker/program_info.h"

#include <string>

namespace pdg {

/// Appends the value at `value`, a scalar or a tensor with the sizes `dims` (`format.rank` of
/// them), to `out`. Tensors of more than 1000 elements show three at each end of an axis.
void appendValue(const ValueFormat &format, const char *value, const int64_t *dims,
                 std::string &out);

/// Appends the text `site` with its values to `out`. `values` has one address per value, `dims` the
/// sizes of all of them in a row. Allocates only where `out` has to grow.
void appendText(const TextSite &site, const char *const *values, const int64_t *dims,
                std::string &out);

} // namespace pdg
