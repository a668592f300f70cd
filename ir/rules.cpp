// Shape and sharding rules shared by op classes.
// SPDX-License-Identifier: Apache-2.0
#include "ir/rules.h"
#include "ir/dims.h"
#include "ir/ops/compare.h"

using namespace mlir;

namespace pdg {

Dims dimsOfType(Type type, ShapeRule &rule) {
  Dims dims;
  for (int64_t size : cast<RankedTensorType>(type).getShape())
    dims.push_back(ShapedType::isDynamic(size) ? rule.fresh() : rule.constant(size));
  return dims;
}

SmallVector<int64_t> shapeFromDims(ArrayRef<AffineExpr> dims) { return staticShape(dims); }

FailureOr<Dims> sameDims(ArrayRef<Dims> dims, ShapeRule &rule) {
  Dims result = dims[0];
  for (const Dims &other : dims.drop_front()) {
    if (other.size() != result.size()) {
      rule.error() << "expects operands with equal numbers of axes, got " << result.size()
                   << " and " << other.size();
      return failure();
    }
    for (size_t axis = 0; axis < other.size(); ++axis) {
      auto size = rule.unify(result[axis], other[axis], std::to_string(axis));
      if (failed(size))
        return failure();
      result[axis] = *size;
    }
  }
  return result;
}

LogicalResult checkAxis(int64_t axis, size_t rank, ShapeRule &rule) {
  if (axis >= 0 && axis < static_cast<int64_t>(rank))
    return success();
  rule.error() << "expects an axis below " << rank << ", got " << axis;
  return failure();
}

FailureOr<Dims> dropAxis(const Dims &dims, int64_t axis, ShapeRule &rule) {
  if (failed(checkAxis(axis, dims.size(), rule)))
    return failure();
  Dims result = dims;
  result.erase(result.begin() + axis);
  return result;
}

ShardingRule elementwiseSharding(Operation *op) {
  ShardingRule rule;
  int64_t rank = cast<RankedTensorType>(op->getResult(0).getType()).getRank();
  auto axes = llvm::to_vector(llvm::seq<int>(0, rank));
  rule.operands.assign(op->getNumOperands(), axes);
  rule.results.assign(1, axes);
  rule.kinds.assign(rank, FactorKind::Parallel);
  return rule;
}

ShardingRule reductionSharding(ReductionOpInterface op) {
  ShardingRule rule;
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  auto axes = llvm::to_vector(llvm::seq<int>(0, rank));
  rule.operands.assign(1, axes);
  axes.erase(axes.begin() + op.getReducedAxis());
  rule.results.assign(1, axes);
  rule.kinds.assign(rank, FactorKind::Parallel);
  switch (op.getReductionKind()) {
  case ReductionKind::Sum:
    // Only a first axis has leaves: slices of another one are not subtrees of the sum.
    rule.kinds[op.getReducedAxis()] =
        op.getReducedAxis() == 0 ? FactorKind::Sum : FactorKind::Whole;
    break;
  case ReductionKind::Max:
  case ReductionKind::Min:
    rule.kinds[op.getReducedAxis()] = FactorKind::Max;
    break;
  case ReductionKind::ArgMax:
  case ReductionKind::ArgMin:
    rule.kinds[op.getReducedAxis()] = FactorKind::Whole;
    break;
  }
  return rule;
}

ShardingRule contractionSharding(const ContractionRule &contraction) {
  ShardingRule rule;
  rule.operands = {contraction.lhs, contraction.rhs};
  rule.results = {contraction.out};
  int factors = 0;
  for (ArrayRef<int> side : {ArrayRef<int>(contraction.lhs), ArrayRef<int>(contraction.rhs)})
    for (int index : side)
      factors = std::max(factors, index + 1);
  rule.kinds.assign(factors, FactorKind::Whole);
  for (int index : contraction.out)
    rule.kinds[index] = FactorKind::Parallel;
  if (contraction.leaves)
    rule.kinds[contraction.summed().front()] = FactorKind::Sum;
  return rule;
}

SmallVector<int> ContractionRule::summed() const {
  SmallVector<int> result;
  for (int index : lhs)
    if (!llvm::is_contained(out, index))
      result.push_back(index);
  return result;
}

Emitted emitted(ElementContext &context, Value value, Type element) {
  return Emitted(context.b, context.loc, value, element.isUnsignedInteger());
}

void sendSelect(Operation *op, OpBuilder &b, Reverse &reverse) {
  auto choice = cast<SelectOp>(op);
  Value g = reverse.cotangent(choice.getResult());
  if (!g)
    return;
  TensorExpr ct{b, op->getLoc(), g}, condition = ct.with(choice.getCondition());
  if (reverse.isActive(choice.getX()))
    reverse.add(choice.getX(), select(condition, ct, 0.0).value);
  if (reverse.isActive(choice.getY()))
    reverse.add(choice.getY(), select(condition, 0.0, ct).value);
}

} // namespace pdg
