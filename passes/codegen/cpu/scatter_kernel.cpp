// Rows added at indices, in one sweep over the positions.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "ir/math/emit_value.h"
#include "passes/codegen/cpu/kernel.h"
#include "passes/codegen/cpu/kernels/gemm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace pdg {
namespace {

/// Each table row has a stack of partial sums, one for each subtree of leaves that is not joined
/// yet; the last one is the chain of the leaf that is being summed. Contributions are met in order
/// of position: when a row meets a new leaf, subtrees that are nearer to each other than to it are
/// joined. A leaf in which a row does not occur is absent from its tree.
class ScatterLoops {
public:
  ScatterLoops(ScatterOpInterface op, KernelBuilder &k) : k_(k), b_(k.b), loc_(k.loc) {
    Value ids = op->getOperand(0), rows = op->getOperand(1);
    Dims idDims = k.shapes.dimsOf(ids), rowDims = k.shapes.dimsOf(rows);
    MLIRContext *context = op.getContext();
    ArrayRef<AffineExpr> width = ArrayRef<AffineExpr>(rowDims).drop_front(idDims.size());
    element_ = getElementTypeOrSelf(rows.getType());
    idType_ = getElementTypeOrSelf(ids.getType());
    ids_ = k.address(ids);
    rows_ = k.address(rows);
    out_ = k.address(op->getResult(0));
    width_ = k.size(productOf(width, context));
    count_ = k.size(k.shapes.dimsOf(op->getResult(0))[0]);
    positions_ = k.size(productOf(idDims, context));
    leaves_ = idDims.empty() ? k.c(1) : k.leafCount(k.size(idDims[0]));
    cost_ = productOf(rowDims, context) + productOf(k.shapes.dimsOf(op->getResult(0)), context);
    staticCount_ = cast<RankedTensorType>(op->getResult(0).getType()).getDimSize(0);
    auto widthBound = k.shapes.boundOf(productOf(width, context));
    widthBound_ = widthBound.value_or(1);
  }

  Kernel build() {
    // leafOf[row], then a stack of up to five subtrees a row: their leaves and their sums.
    int64_t bytes = elementBytes();
    Value work =
        k_.work(staticCount_ * 8 * (2 + kLevels) + staticCount_ * kLevels * widthBound_ * bytes);
    depth_ = work;
    leafAt_ = k_.pointerTo(work, k_.i64, k_.c(staticCount_));
    sums_ = k_.pointerTo(work, k_.i64, k_.c(staticCount_ * (2 + kLevels)));
    k_.loop(k_.c(0), count_, k_.c(1), [&](Value row) { k_.store(k_.c(0), depth_, k_.i64, row); });
    Value perLeaf = k_.div(positions_, leaves_);
    k_.loop(k_.c(0), positions_, k_.c(1), [&](Value at) {
      Emitted id(b_, loc_, k_.load(ids_, idType_, at), idType_.isUnsignedInteger());
      addPosition(at, convert(id, Elem::I64).value, k_.div(at, perLeaf));
    });
    k_.loop(k_.c(0), count_, k_.c(1), [&](Value row) { finishRow(row); });
    return k_.finish(cost_, false);
  }

private:
  static constexpr int64_t kLevels = 6; ///< log2(16 leaves) + 1 subtrees, and the open chain.

  int64_t elementBytes() { return element_.getIntOrFloatBitWidth() / 8; }

  Value levelOffset(Value row, Value level) {
    return k_.mul(k_.add(k_.mul(row, k_.c(kLevels)), level), width_);
  }
  Value leafSlot(Value row, Value level) { return k_.add(k_.mul(row, k_.c(kLevels)), level); }

  /// to[i] = from[i] + to[i], or from[i], over a row.
  void rowLoop(function_ref<void(Value)> body) { k_.loop(k_.c(0), width_, k_.c(1), body); }

  /// Whose highest set bit says where the subtrees of two leaves meet.
  Value distance(Value x, Value y) { return arith::XOrIOp::create(b_, loc_, x, y); }

  /// Joins the two last subtrees of `row` while they are nearer to each other than to `leaf`.
  void joinNearer(Value row, Value leaf) {
    // At most so many joins: a loop of conditions is simplest.
    k_.loop(k_.c(1), k_.c(kLevels), k_.c(1), [&](Value) {
      Value depth = k_.load(depth_, k_.i64, row);
      k_.when(k_.less(k_.c(1), depth), [&] {
        Value top = k_.sub(depth, k_.c(1)), below = k_.sub(depth, k_.c(2));
        Value topLeaf = k_.load(leafAt_, k_.i64, leafSlot(row, top));
        Value belowLeaf = k_.load(leafAt_, k_.i64, leafSlot(row, below));
        // Subtrees meet at the highest bit in which their leaves differ.
        Value near = distance(topLeaf, belowLeaf), far = distance(topLeaf, leaf);
        // near's highest bit is below far's (T. Chan's comparison of Morton codes).
        Value differing = arith::XOrIOp::create(b_, loc_, near, far);
        Value isNearer =
            arith::AndIOp::create(b_, loc_, k_.less(near, far), k_.less(near, differing));
        k_.when(isNearer, [&] { join(row, below, top); });
      });
    });
  }

  void join(Value row, Value below, Value top) {
    Value left = levelOffset(row, below), right = levelOffset(row, top);
    rowLoop([&](Value j) {
      Value x = k_.load(sums_, element_, k_.add(left, j));
      Value y = k_.load(sums_, element_, k_.add(right, j));
      k_.store(arith::AddFOp::create(b_, loc_, x, y), sums_, element_, k_.add(left, j));
    });
    k_.store(top, depth_, k_.i64, row);
  }

  void addPosition(Value at, Value row, Value leaf) {
    Value depth = k_.load(depth_, k_.i64, row);
    Value isOpen =
        k_.equal(k_.select(k_.equal(depth, k_.c(0)), k_.c(-1), lastLeaf(row, depth)), leaf);
    k_.when(arith::XOrIOp::create(b_, loc_, isOpen, arith::ConstantIntOp::create(b_, loc_, 1, 1)),
            [&] { openChain(row, leaf); });
    Value top = k_.sub(k_.load(depth_, k_.i64, row), k_.c(1));
    Value offset = levelOffset(row, top), from = k_.mul(at, width_);
    rowLoop([&](Value j) {
      Value sum = k_.load(sums_, element_, k_.add(offset, j));
      Value x = k_.load(rows_, element_, k_.add(from, j));
      k_.store(arith::AddFOp::create(b_, loc_, sum, x), sums_, element_, k_.add(offset, j));
    });
  }

  /// The leaf of the last subtree of `row`. Reads slot 0 when there is none.
  Value lastLeaf(Value row, Value depth) {
    Value last = k_.select(k_.less(k_.c(0), depth), k_.sub(depth, k_.c(1)), k_.c(0));
    return k_.load(leafAt_, k_.i64, leafSlot(row, last));
  }

  void openChain(Value row, Value leaf) {
    joinNearer(row, leaf);
    Value depth = k_.load(depth_, k_.i64, row);
    k_.store(leaf, leafAt_, k_.i64, leafSlot(row, depth));
    Value offset = levelOffset(row, depth);
    Value zero = k_.zero(element_);
    rowLoop([&](Value j) { k_.store(zero, sums_, element_, k_.add(offset, j)); });
    k_.store(k_.add(depth, k_.c(1)), depth_, k_.i64, row);
  }

  void finishRow(Value row) {
    // No further leaf: everything is nearer than one that differs in a higher bit.
    joinNearer(row, k_.c(int64_t(1) << 40));
    Value isTouched = k_.less(k_.c(0), k_.load(depth_, k_.i64, row));
    Value zero = k_.zero(element_), offset = levelOffset(row, k_.c(0)), to = k_.mul(row, width_);
    rowLoop([&](Value j) {
      Value sum = k_.load(sums_, element_, k_.add(offset, j));
      k_.store(k_.select(isTouched, sum, zero), out_, element_, k_.add(to, j));
    });
  }

  KernelBuilder &k_;
  OpBuilder &b_;
  Location loc_;
  Type element_, idType_;
  Value ids_, rows_, out_, width_, count_, positions_, leaves_;
  Value depth_, leafAt_, sums_;
  AffineExpr cost_;
  int64_t staticCount_ = 0, widthBound_ = 1;
};

/// Adds rows to those of each leaf's table, in place. Tasks have columns of their own.
Kernel addToLeaves(ScatterOpInterface op, KernelBuilder &k) {
  Value ids = op->getOperand(0), rows = op->getOperand(1), leaves = op->getResult(0);
  Dims idDims = k.shapes.dimsOf(ids), rowDims = k.shapes.dimsOf(rows);
  MLIRContext *context = op.getContext();
  Type element = getElementTypeOrSelf(rows.getType()), idType = getElementTypeOrSelf(ids.getType());
  Value width = k.size(productOf(ArrayRef<AffineExpr>(rowDims).drop_front(idDims.size()), context));
  Value table = k.size(k.shapes.dimsOf(leaves)[1]), positions = k.size(productOf(idDims, context));
  Value count = idDims.empty() ? k.c(1) : k.leafCount(k.size(idDims[0]), leaves);
  Value perLeaf = k.div(positions, count);
  Value idsAt = k.address(ids), from = k.address(rows), to = k.address(leaves);
  int64_t lanes = k.target.vectorBits / element.getIntOrFloatBitWidth();
  auto [lo, hi] = emitTaskRange(k.b, k.loc, width, 4 * lanes, k.task, k.tasks);
  Value begin = lo, length = k.sub(hi, lo);
  Value whole = k.mul(k.div(length, k.c(lanes)), k.c(lanes));
  k.loop(k.c(0), positions, k.c(1), [&](Value at) {
    Emitted id(k.b, k.loc, k.load(idsAt, idType, at), idType.isUnsignedInteger());
    Value row = k.add(k.mul(k.div(at, perLeaf), table), convert(id, Elem::I64).value);
    Value source = k.add(k.mul(at, width), begin), target = k.add(k.mul(row, width), begin);
    auto add = [&](Value column, Value mask) {
      Value x = k.loadLanes(from, element, k.add(source, column), lanes, mask);
      Value offset = k.add(target, column);
      Value sum = k.loadLanes(to, element, offset, lanes, mask);
      k.storeLanes(arith::AddFOp::create(k.b, k.loc, sum, x), to, element, offset, mask);
    };
    k.loop(k.c(0), whole, k.c(lanes), [&](Value column) { add(column, nullptr); });
    k.when(k.less(whole, length), [&] { add(whole, k.lanesBelow(k.sub(length, whole), lanes)); });
  });
  return k.finish(productOf(rowDims, context), true);
}

} // namespace

Kernel buildScatterKernel(ScatterOpInterface op, KernelBuilder &k) {
  if (isa<UpdateOpInterface>(*op))
    return addToLeaves(op, k);
  return ScatterLoops(op, k).build();
}

} // namespace pdg
