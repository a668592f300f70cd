// Element-wise ops on bits, and the angle of a point.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/elementwise_bits.h"
#include "ir/rules.h"

namespace pdg {
/// Integers and bools.
using Bits = TypeList<int32_t, int64_t, uint8_t, bool>;
} // namespace pdg

#define GET_OP_CLASSES
#include "ir/ops/elementwise_bits.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/elementwise_bits.cpp.inc"
      >();
});
