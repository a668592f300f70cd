// Arithmetic on numbers that are known when compiling.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/elaborate_value.h"

namespace pdg {

/// What an operator gives for two constants, or why it gives nothing. Integers are i64 and never
/// wrap; a fraction on one side makes both doubles.
struct Folded {
  Datum value;
  std::string error;
};

Folded foldUnary(UnaryOp op, const Datum &x);
/// Requires: both are numbers, bools, strings or types.
Folded foldBinary(BinaryOp op, const Datum &x, const Datum &y);

} // namespace pdg
