// The ops of indexing.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/indexing.h"
#include "ir/interpret/evaluate_contraction.h"
#include "ir/interpret/evaluate_leaves.h"
#include "ir/ops/compare.h"
#include "ir/ops/leaves.h"
#include "ir/ops/shape.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/indexing.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/indexing.cpp.inc"
      >();
});

using namespace mlir;

namespace pdg {

/// A loaded index as an i64, or a vector of them.
static Value asIndex(ElementContext &context, Value loaded, Type element) {
  return convert(emitted(context, loaded, element), Elem::I64).value;
}

//===- GatherOp ------------------------------------------------------------===//

FailureOr<Dims> GatherOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (dims[0].empty()) {
    rule.error() << "expects a table with at least one axis";
    return failure();
  }
  Dims result = dims[1];
  result.append(dims[0].begin() + 1, dims[0].end());
  return result;
}

Type GatherOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getTable().getType()); }

std::optional<RunCheck> GatherOp::getRunCheck() {
  return RunCheck{RunCheck::IndexInRange, 1, 0, 0};
}

ShardingRule GatherOp::getShardingRule() {
  ShardingRule rule;
  int ids = llvm::cast<RankedTensorType>(getIds().getType()).getRank();
  int rank = llvm::cast<RankedTensorType>(getType()).getRank();
  SmallVector<int> table{-1};
  table.append(llvm::to_vector(llvm::seq<int>(ids, rank)));
  rule.operands = {table, llvm::to_vector(llvm::seq<int>(0, ids))};
  rule.results = {llvm::to_vector(llvm::seq<int>(0, rank))};
  rule.kinds.assign(rank, FactorKind::Parallel);
  return rule;
}

Value GatherOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  int64_t rank = llvm::cast<RankedTensorType>(getIds().getType()).getRank();
  Value id = context.load(1, index.take_front(rank));
  SmallVector<AxisIndex> at{{asIndex(context, id, getElementTypeOrSelf(getIds().getType()))}};
  llvm::append_range(at, index.drop_front(rank));
  return context.load(0, at);
}

LogicalResult GatherOp::evaluate(Evaluation &eval) {
  const HostTensor &table = eval.operand(0), &ids = eval.operand(1);
  SmallVector<int64_t> shape(ArrayRef<int64_t>(ids.shape()));
  shape.append(table.shape().begin() + 1, table.shape().end());
  HostTensor &out = eval.result(0, shape);
  int64_t row = ids.numElements() ? out.numBytes() / ids.numElements() : 0;
  for (int64_t i = 0; i < ids.numElements(); ++i)
    std::memcpy(out.bytes() + i * row, table.bytes() + integerAt(ids, i) * row, row);
  return success();
}

LogicalResult GatherOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (!g || !reverse.isActive(getTable()))
    return success();
  int64_t count = llvm::cast<RankedTensorType>(getTable().getType()).getDimSize(0);
  if (ShapedType::isDynamic(count))
    return emitOpError("has no gradient for a table whose length only the run knows");
  reverse.add(getTable(), ScatterAddOp::create(b, getLoc(), getIds(), g, count));
  return success();
}

//===- ScatterAddOp --------------------------------------------------------===//

FailureOr<Dims> ScatterAddOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (dims[1].size() < dims[0].size()) {
    rule.error() << "expects rows with at least the " << dims[0].size() << " axes of the indices";
    return failure();
  }
  for (size_t axis = 0; axis < dims[0].size(); ++axis)
    if (failed(rule.unify(dims[0][axis], dims[1][axis], std::to_string(axis))))
      return failure();
  Dims result{rule.constant(op.getCount())};
  result.append(dims[1].begin() + dims[0].size(), dims[1].end());
  return result;
}

Type ScatterAddOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getRows().getType()); }

ShardingRule ScatterAddOp::getShardingRule() {
  ShardingRule rule;
  int ids = llvm::cast<RankedTensorType>(getIds().getType()).getRank();
  int rank = llvm::cast<RankedTensorType>(getRows().getType()).getRank();
  SmallVector<int> result{-1};
  result.append(llvm::to_vector(llvm::seq<int>(ids, rank)));
  rule.operands = {llvm::to_vector(llvm::seq<int>(0, ids)),
                   llvm::to_vector(llvm::seq<int>(0, rank))};
  rule.results = {result};
  rule.kinds.assign(rank, FactorKind::Parallel);
  for (int axis = 0; axis < ids; ++axis)
    rule.kinds[axis] = axis == 0 ? FactorKind::Sum : FactorKind::Whole;
  return rule;
}

int64_t ScatterAddOp::getLeafBound() {
  auto ids = llvm::cast<RankedTensorType>(getIds().getType());
  return ids.getRank() ? leafBound(ids.getDimSize(0)) : 1;
}

Value ScatterAddOp::addToLeaves(OpBuilder &b, Value leaves) {
  return ScatterLeavesOp::create(b, getLoc(), getIds(), getRows(), leaves);
}

/// The sums of one leaf: contributions in order of their position; `touched` marks its rows.
template <class T>
static void addLeaf(const HostTensor &ids, const T *rows, int64_t begin, int64_t end, int64_t width,
                    std::vector<T> &sums, std::vector<bool> &touched) {
  for (int64_t i = begin; i < end; ++i) {
    int64_t id = integerAt(ids, i);
    touched[id] = true;
    for (int64_t j = 0; j < width; ++j)
      sums[id * width + j] += rows[i * width + j];
  }
}

/// Joins the leaves that touch a row, an absent one moves its partner up.
template <class T> static T joinPresent(ArrayRef<std::optional<T>> leaves) {
  SmallVector<std::optional<T>> level(leaves);
  while (level.size() > 1) {
    SmallVector<std::optional<T>> next;
    for (size_t i = 0; i < level.size(); i += 2) {
      auto left = level[i], right = level[i + 1];
      next.push_back(left && right ? std::optional<T>(*left + *right) : left ? left : right);
    }
    level = next;
  }
  return level.front().value_or(T(0));
}

template <class T>
static void scatterAdd(const HostTensor &ids, const HostTensor &rows, HostTensor &out) {
  int64_t count = out.shape()[0], width = count ? out.numElements() / count : 0;
  int64_t examples = ids.rank() ? ids.shape()[0] : 1;
  int64_t leaves = leafCount(examples), perLeaf = ids.numElements() / leaves;
  std::vector<std::vector<T>> sums(leaves, std::vector<T>(out.numElements(), T(0)));
  std::vector<std::vector<bool>> touched(leaves, std::vector<bool>(count, false));
  for (int64_t leaf = 0; leaf < leaves; ++leaf)
    addLeaf(ids, rows.data<T>(), leaf * perLeaf, (leaf + 1) * perLeaf, width, sums[leaf],
            touched[leaf]);
  for (int64_t i = 0; i < out.numElements(); ++i) {
    SmallVector<std::optional<T>> present;
    for (int64_t leaf = 0; leaf < leaves; ++leaf)
      present.push_back(touched[leaf][i / width] ? std::optional<T>(sums[leaf][i]) : std::nullopt);
    out.data<T>()[i] = joinPresent<T>(present);
  }
}

LogicalResult ScatterAddOp::evaluate(Evaluation &eval) {
  const HostTensor &ids = eval.operand(0), &rows = eval.operand(1);
  SmallVector<int64_t> shape{static_cast<int64_t>(getCount())};
  shape.append(rows.shape().begin() + ids.rank(), rows.shape().end());
  HostTensor &out = eval.result(0, shape);
  // The gather that this is the gradient of has checked the indices; in IR written by hand there
  // may be none.
  for (int64_t i = 0; i < ids.numElements(); ++i)
    if (integerAt(ids, i) < 0 || integerAt(ids, i) >= shape.front())
      return failure();
  return success(
      dispatch(Floats{}, rows.dtype(), [&]<class T>() { scatterAdd<T>(ids, rows, out); }));
}

LogicalResult ScatterAddOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (g && reverse.isActive(getRows()))
    reverse.add(getRows(), GatherOp::create(b, getLoc(), g, getIds()));
  return success();
}

//===- PickOp --------------------------------------------------------------===//

FailureOr<Dims> PickOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (dims[0].empty()) {
    rule.error() << "expects at least one axis to pick from";
    return failure();
  }
  Dims front(dims[0].begin(), dims[0].end() - 1);
  return sameDims({front, dims[1]}, rule);
}

Type PickOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getX().getType()); }

std::optional<RunCheck> PickOp::getRunCheck() {
  int64_t last = llvm::cast<RankedTensorType>(getX().getType()).getRank() - 1;
  return RunCheck{RunCheck::IndexInRange, 1, 0, last};
}

ShardingRule PickOp::getShardingRule() {
  ShardingRule rule = elementwiseSharding(*this);
  rule.operands[0].push_back(-1);
  return rule;
}

Value PickOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  Value id = context.load(1, index);
  SmallVector<AxisIndex> at(index);
  at.push_back({asIndex(context, id, getElementTypeOrSelf(getIds().getType()))});
  return context.load(0, at);
}

LogicalResult PickOp::evaluate(Evaluation &eval) {
  const HostTensor &x = eval.operand(0), &ids = eval.operand(1);
  if (!std::equal(ids.shape().begin(), ids.shape().end(), x.shape().begin(), x.shape().end() - 1))
    return eval.mismatch(x, ids);
  HostTensor &out = eval.result(0, ids.shape());
  int64_t row = x.shape().back();
  size_t size = sizeOf(x.dtype());
  for (int64_t i = 0; i < ids.numElements(); ++i)
    std::memcpy(out.bytes() + i * size, x.bytes() + (i * row + integerAt(ids, i)) * size, size);
  return success();
}

LogicalResult PickOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (!g || !reverse.isActive(getX()))
    return success();
  // The cotangent at the picked place, zero at the others.
  Location loc = getLoc();
  int64_t last = llvm::cast<RankedTensorType>(getX().getType()).getRank() - 1;
  SmallVector<int64_t> shape, column;
  SmallVector<Value> sizes, columnSizes;
  shapeOf(b, loc, getX(), shape, sizes);
  shapeOf(b, loc, g, column, columnSizes);
  column.push_back(1);
  auto spread = [&](Value value) {
    return broadcastTo(b, loc, ReshapeOp::create(b, loc, value, columnSizes, column), getX());
  };
  Value position = IotaOp::create(b, loc, b.getI64Type(), last, sizes, shape);
  Value ids = spread(CastOp::create(b, loc, getIds(), b.getI64Type()));
  TensorExpr ct{b, loc, spread(g)};
  reverse.add(getX(), select(ct.with(EqOp::create(b, loc, position, ids)), ct, 0.0).value);
  return success();
}

} // namespace pdg
