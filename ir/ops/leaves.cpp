// The ops of leaves.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/leaves.h"
#include "ir/interpret/evaluate_leaves.h"
#include "ir/interpret/strided_copy.h"
#include "ir/ops/contraction.h"
#include "ir/rules.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

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
LogicalResult verifyLeaves(Operation *op, Value leaves) {
  auto type = llvm::cast<RankedTensorType>(leaves.getType());
  int64_t count = type.getRank() ? type.getDimSize(0) : 0;
  if (count < 1 || count > kMaxLeaves || !llvm::isPowerOf2_64(count))
    return op->emitOpError("expects 1, 2, 4, 8 or 16 leaves on axis 0 of ") << type;
  return success();
}

FailureOr<Dims> leavesDims(const Dims &leaves, Dims sum, ShapeRule &rule) {
  sum.insert(sum.begin(), leaves.empty() ? rule.constant(1) : leaves.front());
  return sameDims({leaves, sum}, rule);
}

//===- ContractLeavesOp ----------------------------------------------------===//

LogicalResult ContractLeavesOp::verify() {
  // C2
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

//===- TakeRowOp -----------------------------------------------------------===//

LogicalResult TakeRowOp::verify() {
  if (rankOf(getAt()) != 0)
    return emitOpError("expects a position without axes");
  return success();
}

FailureOr<Dims> TakeRowOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  return dropAxis(dims[0], op.getAxis(), rule);
}

Type TakeRowOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }

std::optional<RunCheck> TakeRowOp::getRunCheck() {
  return RunCheck{RunCheck::IndexInRange, 1, 0, static_cast<int64_t>(getAxis())};
}

ShardingRule TakeRowOp::getShardingRule() {
  ShardingRule rule;
  auto axes = llvm::to_vector(llvm::seq<int>(0, rankOf(getX()) - 1));
  SmallVector<int> table(axes);
  table.insert(table.begin() + getAxis(), -1);
  rule.operands = {table, {}};
  rule.results = {axes};
  rule.kinds.assign(axes.size(), FactorKind::Parallel);
  return rule;
}

Value TakeRowOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  Emitted at = emitted(context, context.load(1, {}), getElementTypeOrSelf(getAt().getType()));
  SmallVector<AxisIndex> place(index);
  place.insert(place.begin() + getAxis(), AxisIndex{convert(at, Elem::I64).value});
  return context.load(0, place);
}

LogicalResult TakeRowOp::evaluate(Evaluation &eval) {
  const HostTensor &x = eval.operand(0);
  SmallVector<int64_t> shape(ArrayRef<int64_t>(x.shape())), strides = rowMajorStrides(x.shape());
  int64_t begin = integerAt(eval.operand(1), 0) * strides[getAxis()];
  shape.erase(shape.begin() + getAxis());
  strides.erase(strides.begin() + getAxis());
  copyStrided(x, begin, strides, eval.result(0, shape));
  return success();
}

LogicalResult TakeRowOp::vjp(OpBuilder &, Reverse &) {
  return emitOpError("is made after gradients are taken");
}

//===- PutSliceOp ----------------------------------------------------------===//

LogicalResult PutSliceOp::verify() {
  // C1
  if (getStep() < 1 || getElementTypeOrSelf(getX()) != getElementTypeOrSelf(getPart()))
    return emitOpError("expects a step of at least 1 and a part of the same element type");
  return success();
}

FailureOr<Dims> PutSliceOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  int64_t axis = op.getAxis();
  if (failed(checkAxis(axis, dims[0].size(), rule)))
    return failure();
  Dims others[2] = {dims[0], dims[1]};
  for (Dims &side : others)
    if (axis < static_cast<int64_t>(side.size()))
      side[axis] = rule.constant(0);
  if (failed(sameDims(others, rule)))
    return failure();
  return dims[0];
}

Type PutSliceOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }
unsigned PutSliceOp::getUpdatedOperand() { return 0; }

ShardingRule PutSliceOp::getShardingRule() {
  ShardingRule rule;
  auto axes = llvm::to_vector(llvm::seq<int>(0, rankOf(getX())));
  rule.operands = {axes, axes, {}};
  rule.results = {axes};
  rule.kinds.assign(axes.size(), FactorKind::Parallel);
  rule.kinds[getAxis()] = FactorKind::Whole;
  return rule;
}

/// Copies runs of elements that lie together in both tensors: all of the part's positions, or with
/// a step one after the other. Nothing is written if there are no such positions.
LogicalResult PutSliceOp::lower(Lowering &lowering) {
  OpBuilder &b = lowering.b;
  Location loc = getLoc();
  auto times = [&](Value x, Value y) { return b.createOrFold<arith::MulIOp>(loc, x, y); };
  auto plus = [&](Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); };
  int64_t axis = getAxis();
  SmallVector<Value> part = lowering.sizes(getPart()), whole = lowering.sizes(getResult());
  Value inner = lowering.constant(sizeOf(*toDType(getX().getType()))), runs = lowering.constant(1);
  for (int64_t i = 0; i < rankOf(getX()); ++i)
    (i < axis ? runs : inner) = i == axis ? inner : times(i < axis ? runs : inner, whole[i]);
  // A run of several positions, or with a step a run for each.
  bool isDense = getStep() == 1;
  Value perRun = isDense ? part[axis] : lowering.constant(1);
  Value perOuter = isDense ? lowering.constant(1) : part[axis];
  Value bytes = times(perRun, inner), step = lowering.constant(getStep());
  Value begin = lowering.loadScalar(getBegin()), one = lowering.constant(1);
  Value last = plus(begin, times(arith::SubIOp::create(b, loc, part[axis], one), step));
  auto below = [&](Value x) {
    // As numbers without a sign, negative positions are too large as well.
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x, whole[axis]);
  };
  Block *head = lowering.newBlock(1), *body = lowering.newBlock(), *after = lowering.newBlock();
  Block *fits = lowering.newBlock();
  lowering.branchIf(arith::AndIOp::create(b, loc, below(begin), below(last)), fits, after);
  lowering.enter(fits);
  lowering.branch(head, lowering.constant(0));
  lowering.enter(head);
  Value run = head->getArgument(0);
  lowering.branchIf(
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, run, times(runs, perOuter)), body,
      after);
  lowering.enter(body);
  Value outer = arith::DivUIOp::create(b, loc, run, perOuter);
  Value inside = arith::RemUIOp::create(b, loc, run, perOuter);
  Value place = plus(times(outer, whole[axis]), plus(begin, times(inside, step)));
  auto address = [&](Value tensor, Value offset) -> Value {
    return LLVM::GEPOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), b.getI8Type(),
                               lowering.pointer(tensor), ArrayRef<LLVM::GEPArg>{offset});
  };
  LLVM::MemcpyOp::create(b, loc, address(getResult(), times(place, inner)),
                         address(getPart(), times(run, bytes)), bytes, /*isVolatile=*/false);
  lowering.branch(head, plus(run, one));
  lowering.enter(after);
  return success();
}

LogicalResult PutSliceOp::evaluate(Evaluation &eval) {
  const HostTensor &x = eval.operand(0), &part = eval.operand(1);
  int64_t begin = eval.operand(2).data<int64_t>()[0], axis = getAxis(), step = getStep();
  HostTensor &out = eval.result(0, x.shape());
  std::memcpy(out.bytes(), x.bytes(), x.numBytes());
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != axis && x.shape()[i] != part.shape()[i])
      return eval.mismatch(x, part);
  int64_t count = part.shape()[axis], length = x.shape()[axis];
  if (count < 1 || begin < 0 || begin >= length || (length - 1 - begin) / step < count - 1)
    return success();
  SmallVector<int64_t> strides = rowMajorStrides(x.shape());
  int64_t offset = begin * strides[axis];
  strides[axis] *= step;
  writeStrided(part, offset, strides, out);
  return success();
}

LogicalResult PutSliceOp::vjp(OpBuilder &, Reverse &) {
  return emitOpError("is made after gradients are taken");
}

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
