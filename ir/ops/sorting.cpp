// The ops of sorting.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/sorting.h"
#include "ir/interpret/evaluate_order.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/sorting.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/sorting.cpp.inc"
      >();
});

using namespace mlir;

namespace pdg {

FailureOr<Dims> ArgSortOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (failed(checkAxis(op.getAxis(), dims[0].size(), rule)))
    return failure();
  return dims[0];
}

Type ArgSortOp::elementOf(Adaptor op) { return IntegerType::get(op.getX().getContext(), 64); }

ShardingRule ArgSortOp::getShardingRule() {
  ShardingRule rule = elementwiseSharding(*this);
  rule.kinds[getAxis()] = FactorKind::Whole;
  return rule;
}

LogicalResult ArgSortOp::evaluate(Evaluation &eval) { return evaluateSort(getSortForm(), eval); }
LogicalResult ArgSortOp::vjp(OpBuilder &, Reverse &) { return success(); }

} // namespace pdg
