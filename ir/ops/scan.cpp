// The ops of scan.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/scan.h"
#include "ir/interpret/evaluate_order.h"
#include "ir/ops/layout.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/scan.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/scan.cpp.inc"
      >();
});

using namespace mlir;

namespace pdg {

/// The element before each one in the order of the walk; zero, or one that nobody reads, for the
/// first.
static Value before(OpBuilder &b, Location loc, Value x, int64_t axis, bool reverse) {
  int64_t size = llvm::cast<RankedTensorType>(x.getType()).getDimSize(axis);
  if (size == 0)
    return x;
  if (reverse) {
    Value rest = SliceOp::create(b, loc, x, axis, 1, -1);
    return PadOp::create(b, loc, rest, axis, 0, 1);
  }
  Value rest = SliceOp::create(b, loc, x, axis, 0, size - 1);
  return PadOp::create(b, loc, rest, axis, 1, 0);
}

/// True if `before` can be built in both directions.
static bool isKnown(Value x, int64_t axis) {
  return !llvm::cast<RankedTensorType>(x.getType()).isDynamicDim(axis);
}

LogicalResult CumsumOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (g && reverse.isActive(getX()))
    reverse.add(getX(), CumsumOp::create(b, getLoc(), g, getAxis(), getExclusive(), !getReverse()));
  return success();
}

LogicalResult CumprodOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (!g || !reverse.isActive(getX()))
    return success();
  Location loc = getLoc();
  int64_t axis = getAxis();
  if (!isKnown(getX(), axis))
    return emitOpError("has no gradient along an axis that only the run knows");
  // dx[i] = (product before i) * s[i], with s[i] = g[i] + x[i+1] * s[i+1]: what the results from i
  // on get, but for the product before i and x[i] itself.
  bool back = !getReverse();
  Value product = CumprodOp::create(b, loc, getX(), axis, /*exclusive=*/true, getReverse());
  Value next = before(b, loc, getX(), axis, back);
  if (getExclusive())
    g = before(b, loc, g, axis, back);
  TensorExpr sent{b, loc, LinearScanOp::create(b, loc, next, g, axis, back)};
  reverse.add(getX(), (sent.with(product) * sent).value);
  return success();
}

LogicalResult LinearScanOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (!g || (!reverse.isActive(getA()) && !reverse.isActive(getB())))
    return success();
  Location loc = getLoc();
  int64_t axis = getAxis();
  if (!isKnown(getA(), axis))
    return emitOpError("has no gradient along an axis that only the run knows");
  // db[i] = g[i] + a[i+1] * db[i+1], da[i] = db[i] * y[i-1].
  Value next = before(b, loc, getA(), axis, !getReverse());
  TensorExpr sent{b, loc, LinearScanOp::create(b, loc, next, g, axis, !getReverse())};
  if (reverse.isActive(getA())) {
    TensorExpr last = sent.with(before(b, loc, getResult(), axis, getReverse()));
    reverse.add(getA(), (sent * last).value);
  }
  if (reverse.isActive(getB()))
    reverse.add(getB(), sent.value);
  return success();
}

} // namespace pdg
