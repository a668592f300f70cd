// Element-wise ops with one operand.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/elementwise_unary.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/elementwise_unary.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/elementwise_unary.cpp.inc"
      >();
});
