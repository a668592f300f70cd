// Indices are moved to where a slice begins, and held inside of it.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/shard_rows.h"
#include "ir/expr.h"
#include "ir/ops/compare.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/layout.h"
#include "ir/ops/shape.h"
#include "ir/program_tables.h"
#include "passes/distribute/place_groups.h"

using namespace mlir;

namespace pdg {

bool readsRowsOf(Operation *op, Value value) {
  auto checked = dyn_cast<CheckedOpInterface>(op);
  std::optional<RunCheck> check = checked ? checked.getRunCheck() : std::nullopt;
  return check && check->kind == RunCheck::IndexInRange && check->axis == 0 &&
         op->hasAttr("pdg.whole") && op->getOperand(check->table) == value;
}

/// A wrong index is an index of the whole table.
static void setTable(Operation *op, int64_t begin, int64_t size) {
  op->setAttr(kTableAttribute, DenseI64ArrayAttr::get(op->getContext(), {begin, size}));
}

static Operation *mark(Operation *op) {
  op->setAttr(kJoinsSlices, UnitAttr::get(op->getContext()));
  return op;
}

/// Indices as i64, made once where trainers have them.
static Value indicesOf(OpBuilder &b, Location loc, Value indices) {
  if (getElementTypeOrSelf(indices.getType()) == b.getI64Type())
    return indices;
  auto cast = CastOp::create(b, loc, indices, b.getI64Type());
  cast->setAttr("pdg.place", RoleAttr::get(b.getContext(), RoleKind::Trainer));
  return cast;
}

/// `indices`, one for each row of `rows`, compared with `bound`, in the sizes of `rows`.
static Value isBelow(OpBuilder &b, Location loc, Value indices, int64_t bound, Value rows) {
  Value limit = constantLike(b, loc, indices, bound);
  Value below = LtOp::create(b, loc, indices, limit);
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  shapeOf(b, loc, indices, shape, sizes);
  ArrayRef<int64_t> all = cast<RankedTensorType>(rows.getType()).getShape();
  SmallVector<int64_t> ones(shape);
  ones.append(all.size() - shape.size(), 1);
  Value narrow = ReshapeOp::create(b, loc, below, sizes, ones);
  llvm::append_range(shape, all.drop_front(shape.size()));
  return BroadcastOp::create(b, loc, narrow, sizes, shape);
}

Value gatherFromSlices(OpBuilder &b, Operation *op, ValueRange slices, ArrayRef<int64_t> bounds) {
  RunCheck check = *cast<CheckedOpInterface>(op).getRunCheck();
  Location loc = op->getLoc();
  TensorExpr indices{b, loc, indicesOf(b, loc, op->getOperand(check.operand))};
  SmallVector<Value> rows;
  for (unsigned r = 0; r < slices.size(); ++r) {
    Value own = (indices - double(bounds[r])).value;
    if (r + 1 < slices.size())
      own =
          MinimumOp::create(b, loc, own, constantLike(b, loc, own, bounds[r + 1] - bounds[r] - 1));
    if (r > 0)
      own = MaximumOp::create(b, loc, own, constantLike(b, loc, own, 0));
    Operation *clone = mark(b.clone(*op));
    clone->setOperand(check.table, slices[r]);
    clone->setOperand(check.operand, own);
    setTable(clone, bounds[r], bounds.back());
    rows.push_back(clone->getResult(0));
  }
  Value result = rows.back();
  for (unsigned r = slices.size() - 1; r-- > 0;) {
    Value isOwn = isBelow(b, loc, indices.value, bounds[r + 1], result);
    result = mark(SelectOp::create(b, loc, isOwn, rows[r], result))->getResult(0);
  }
  return result;
}

SmallVector<Value> scatterIntoSlices(OpBuilder &b, Operation *op, ArrayRef<int64_t> bounds) {
  Location loc = op->getLoc();
  TensorExpr indices{b, loc, indicesOf(b, loc, op->getOperand(0))};
  unsigned count = bounds.size() - 1;
  SmallVector<Value> slices;
  for (unsigned r = 0; r < count; ++r) {
    // A row before the first own one, and one after the last, take what belongs to others.
    int64_t before = r > 0, after = r + 1 < count, size = bounds[r + 1] - bounds[r];
    Value own = (indices - double(bounds[r] - before)).value;
    if (before)
      own = MaximumOp::create(b, loc, own, constantLike(b, loc, own, 0));
    if (after)
      own = MinimumOp::create(b, loc, own, constantLike(b, loc, own, before + size));
    Operation *clone = mark(b.clone(*op));
    clone->setOperand(0, own);
    setTable(clone, bounds[r] - before, bounds.back());
    clone->setAttr("count", b.getI64IntegerAttr(before + size + after));
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[0] = before + size + after;
    clone->getResult(0).setType(RankedTensorType::get(shape, type.getElementType()));
    slices.push_back(SliceOp::create(b, loc, clone->getResult(0), 0, before, size, 1));
  }
  return slices;
}

} // namespace pdg
