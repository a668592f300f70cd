// How the leaves of a value pass by ops that put elements at other places (PlacingOpInterface).
// SPDX-License-Identifier: Apache-2.0
#include "ir/expr.h"
#include "ir/ops/compare.h"
#include "ir/ops/indexing.h"
#include "ir/ops/layout.h"
#include "ir/ops/leaves.h"
#include "ir/ops/shape.h"
#include "ir/rules.h"

using namespace mlir;

namespace pdg {

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// `shape` behind an axis for the leaves of `leaves`.
static SmallVector<int64_t> behindLeaves(Value leaves, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result{typeOf(leaves).getDimSize(0)};
  llvm::append_range(result, shape);
  return result;
}

static Value reshaped(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> shape) {
  return ReshapeOp::create(b, loc, value, ValueRange(), shape);
}

//===- TransposeOp ---------------------------------------------------------===//

Value TransposeOp::getPlaced() { return getX(); }
bool TransposeOp::isRearranged() { return true; }

Value TransposeOp::takeLeaves(OpBuilder &b, Value leaves) {
  SmallVector<int64_t> inverse(getPermutation().size() + 1);
  for (auto [axis, from] : llvm::enumerate(getPermutation()))
    inverse[from + 1] = axis + 1;
  return TransposeOp::create(b, getLoc(), leaves, inverse);
}

Value TransposeOp::putLeaves(OpBuilder &b, Value, Value taken) {
  SmallVector<int64_t> permutation{0};
  for (int64_t axis : getPermutation())
    permutation.push_back(axis + 1);
  return TransposeOp::create(b, getLoc(), taken, permutation);
}

//===- ReshapeOp -----------------------------------------------------------===//

Value ReshapeOp::getPlaced() {
  bool isKnown = typeOf(getX()).hasStaticShape() && typeOf(getResult()).hasStaticShape();
  return isKnown ? getX() : Value();
}

bool ReshapeOp::isRearranged() { return true; }

Value ReshapeOp::takeLeaves(OpBuilder &b, Value leaves) {
  return reshaped(b, getLoc(), leaves, behindLeaves(leaves, typeOf(getX()).getShape()));
}

Value ReshapeOp::putLeaves(OpBuilder &b, Value leaves, Value taken) {
  return reshaped(b, getLoc(), taken, typeOf(leaves).getShape());
}

//===- PadOp ---------------------------------------------------------------===//

Value PadOp::getPlaced() { return typeOf(getX()).isDynamicDim(getAxis()) ? Value() : getX(); }

Value PadOp::takeLeaves(OpBuilder &b, Value leaves) {
  int64_t size = typeOf(getX()).getDimSize(getAxis());
  return SliceOp::create(b, getLoc(), leaves, getAxis() + 1, getBefore(), size, getStep());
}

Value PadOp::putLeaves(OpBuilder &b, Value leaves, Value taken) {
  Value begin = sizeConstant(b, getLoc(), getBefore());
  return PutSliceOp::create(b, getLoc(), leaves, taken, begin, getAxis() + 1, getStep());
}

//===- ScatterAddOp --------------------------------------------------------===//

Value ScatterAddOp::getPlaced() {
  bool isRow = typeOf(getIds()).getRank() == 0 && typeOf(getRows()).hasStaticShape();
  return isRow ? getRows() : Value();
}

Value ScatterAddOp::takeLeaves(OpBuilder &b, Value leaves) {
  return TakeRowOp::create(b, getLoc(), leaves, getIds(), 1);
}

Value ScatterAddOp::putLeaves(OpBuilder &b, Value leaves, Value taken) {
  SmallVector<int64_t> shape(typeOf(taken).getShape());
  shape.insert(shape.begin() + 1, 1);
  Value begin = getIds();
  if (!getElementTypeOrSelf(begin).isInteger(64))
    begin = CastOp::create(b, getLoc(), begin, b.getI64Type());
  return PutSliceOp::create(b, getLoc(), leaves, reshaped(b, getLoc(), taken, shape), begin, 1, 1);
}

} // namespace pdg
