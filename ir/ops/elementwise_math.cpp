// Further elementary functions of one operand.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/elementwise_math.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/elementwise_math.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/elementwise_math.cpp.inc"
      >();
});
