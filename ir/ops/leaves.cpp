// The ops of leaves.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/leaves.h"
#include "ir/interpret/evaluate_leaves.h"
#include "ir/ops/contraction.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/leaves.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/leaves.cpp.inc"
      >();
});

using namespace mlir;

namespace pdg {

static int64_t rankOf(Value value) {
  return llvm::cast<RankedTensorType>(value.getType()).getRank();
}

// C1
static LogicalResult verifyLeaves(Operation *op, Value leaves) {
  auto type = llvm::cast<RankedTensorType>(leaves.getType());
  int64_t count = type.getRank() ? type.getDimSize(0) : 0;
  if (count < 1 || count > kMaxLeaves || !llvm::isPowerOf2_64(count))
    return op->emitOpError("expects 1, 2, 4, 8 or 16 leaves on axis 0 of ") << type;
  return success();
}

/// `leaves` are leaves of a sum with the sizes `sum`.
static FailureOr<Dims> leavesDims(const Dims &leaves, Dims sum, ShapeRule &rule) {
  sum.insert(sum.begin(), leaves.empty() ? rule.constant(1) : leaves.front());
  return sameDims({leaves, sum}, rule);
}

//===- ContractLeavesOp ----------------------------------------------------===//

LogicalResult ContractLeavesOp::verify() {
  auto type = llvm::cast<RankedTensorType>(getLeaves().getType());
  // C2
  if (!getIsCut() && type.getRank() && type.getDimSize(0) != 1)
    return emitOpError("expects one leaf of a sum that is not cut, got ") << type.getDimSize(0);
  if (getIsCut() && !canCutContraction(getRule()))
    return emitOpError("expects a summed index on axis 0 of both operands to cut into leaves");
  return verifyLeaves(*this, getLeaves());
}

FailureOr<Dims> ContractLeavesOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  FailureOr<Dims> sum = contractionDims(op.getRule(), dims.take_front(2), rule);
  if (failed(sum))
    return failure();
  return leavesDims(dims[2], *sum, rule);
}

ContractionRule ContractLeavesOp::getContractionRule() {
  return parseContraction(getRule(), getIsCut());
}

ShardingRule ContractLeavesOp::getShardingRule() {
  ContractionRule contraction = getContractionRule();
  ShardingRule rule = contractionSharding(contraction);
  int leaf = -1;
  if (getIsCut()) {
    leaf = contraction.summed().front();
    rule.kinds[leaf] = FactorKind::Leaves;
  }
  rule.results[0].insert(rule.results[0].begin(), leaf);
  rule.operands.push_back(rule.results[0]);
  return rule;
}

LogicalResult ContractLeavesOp::evaluate(Evaluation &eval) {
  return evaluateContractLeaves(getContractionRule(), eval);
}

//===- SumLeavesOp ---------------------------------------------------------===//

LogicalResult SumLeavesOp::verify() { return verifyLeaves(*this, getLeaves()); }

FailureOr<Dims> SumLeavesOp::dimsOf(Adaptor, ArrayRef<Dims> dims, ShapeRule &rule) {
  FailureOr<Dims> sum = dropAxis(dims[0], 0, rule);
  if (failed(sum))
    return failure();
  return leavesDims(dims[1], *sum, rule);
}

int64_t SumLeavesOp::getReducedAxis() { return 0; }
ReductionKind SumLeavesOp::getReductionKind() { return ReductionKind::Sum; }

ShardingRule SumLeavesOp::getShardingRule() {
  ShardingRule rule;
  auto axes = llvm::to_vector(llvm::seq<int>(0, rankOf(getX())));
  rule.operands.assign(2, axes);
  rule.results.assign(1, axes);
  rule.kinds.assign(axes.size(), FactorKind::Parallel);
  rule.kinds[0] = FactorKind::Leaves;
  return rule;
}

LogicalResult SumLeavesOp::evaluate(Evaluation &eval) { return evaluateSumLeaves(eval); }

//===- ScatterLeavesOp -----------------------------------------------------===//

LogicalResult ScatterLeavesOp::verify() { return verifyLeaves(*this, getLeaves()); }

FailureOr<Dims> ScatterLeavesOp::dimsOf(Adaptor, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (dims[1].size() < dims[0].size() || dims[2].size() < 2) {
    rule.error() << "expects rows with at least the " << dims[0].size()
                 << " axes of the indices, and leaves of tables";
    return failure();
  }
  for (size_t axis = 0; axis < dims[0].size(); ++axis)
    if (failed(rule.unify(dims[0][axis], dims[1][axis], std::to_string(axis))))
      return failure();
  Dims sum{dims[2][1]};
  sum.append(dims[1].begin() + dims[0].size(), dims[1].end());
  return leavesDims(dims[2], sum, rule);
}

ShardingRule ScatterLeavesOp::getShardingRule() {
  ShardingRule rule;
  int ids = rankOf(getIds()), rank = rankOf(getRows());
  SmallVector<int> leaves{ids ? 0 : -1, -1};
  leaves.append(llvm::to_vector(llvm::seq<int>(ids, rank)));
  rule.operands = {llvm::to_vector(llvm::seq<int>(0, ids)),
                   llvm::to_vector(llvm::seq<int>(0, rank)), leaves};
  rule.results = {leaves};
  rule.kinds.assign(rank, FactorKind::Parallel);
  for (int axis = 0; axis < ids; ++axis)
    rule.kinds[axis] = axis == 0 ? FactorKind::Leaves : FactorKind::Whole;
  return rule;
}

LogicalResult ScatterLeavesOp::evaluate(Evaluation &eval) { return evaluateScatterLeaves(eval); }

//===- JoinLeavesOp --------------------------------------------------------===//

LogicalResult JoinLeavesOp::verify() { return verifyLeaves(*this, getX()); }

FailureOr<Dims> JoinLeavesOp::dimsOf(Adaptor, ArrayRef<Dims> dims, ShapeRule &rule) {
  return dropAxis(dims[0], 0, rule);
}

Type JoinLeavesOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }

ShardingRule JoinLeavesOp::getShardingRule() {
  ShardingRule rule;
  auto axes = llvm::to_vector(llvm::seq<int>(0, rankOf(getX())));
  rule.operands.assign(1, axes);
  rule.results.assign(1, SmallVector<int>(ArrayRef(axes).drop_front()));
  rule.kinds.assign(axes.size(), FactorKind::Parallel);
  rule.kinds[0] = FactorKind::Sum;
  return rule;
}

Value JoinLeavesOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  Type element = getElementTypeOrSelf(getType());
  SmallVector<Emitted> leaves;
  for (int64_t leaf = 0; leaf < llvm::cast<RankedTensorType>(getX().getType()).getDimSize(0);
       ++leaf) {
    Value at = arith::ConstantIntOp::create(context.b, context.loc, leaf, 64);
    SmallVector<AxisIndex> place{{at}};
    llvm::append_range(place, index);
    leaves.push_back(emitted(context, context.load(0, place), element));
  }
  while (leaves.size() > 1) {
    size_t half = leaves.size() / 2;
    for (size_t i = 0; i < half; ++i)
      leaves[i] = leaves[2 * i] + leaves[2 * i + 1];
    leaves.erase(leaves.begin() + half, leaves.end());
  }
  return (leaves.front() + 0.0).value;
}

LogicalResult JoinLeavesOp::evaluate(Evaluation &eval) { return evaluateJoinLeaves(eval); }

LogicalResult JoinLeavesOp::vjp(OpBuilder &, Reverse &) {
  return emitOpError("is made after gradients are taken");
}

} // namespace pdg
