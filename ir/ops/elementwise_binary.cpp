// The ops of elementwise_binary.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/elementwise_binary.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/elementwise_binary.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/elementwise_binary.cpp.inc"
      >();
});

namespace pdg {

/// Integers cannot be divided by zero; floats give infinities and NaN.
static std::optional<RunCheck> divisorCheck(mlir::Operation *op) {
  if (isFloatTensor(op->getOperand(1).getType()))
    return std::nullopt;
  return RunCheck{RunCheck::NotZero, 1, 1, 0};
}

std::optional<RunCheck> FloorDivOp::getRunCheck() { return divisorCheck(*this); }
std::optional<RunCheck> ModOp::getRunCheck() { return divisorCheck(*this); }

} // namespace pdg
