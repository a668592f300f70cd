// Loops of reductions: the tensor is seen as [outer, n, inner], and n is folded in the order that
// the op promises (docs/numbers.md).
// SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "ir/math/emit_value.h"
#include "passes/codegen/cpu/kernel.h"
#include "passes/codegen/cpu/kernels/gemm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;

namespace pdg {
namespace {

constexpr int64_t kSumLanes = 16;  ///< Lanes of a sum along the last axis.
constexpr int64_t kBlock = 4096;   ///< Elements whose lanes are joined before the next block.
constexpr int64_t kMaxLeaves = 16; ///< Leaves of a sum over a first axis.

class ReductionLoops {
public:
  ReductionLoops(ReductionOpInterface op, KernelBuilder &k)
      : k_(k), b_(k.b), loc_(k.loc), kind_(op.getReductionKind()),
        element_(getElementTypeOrSelf(op->getOperand(0).getType())),
        isLeading_(op.getReducedAxis() == 0 && kind_ == ReductionKind::Sum),
        leaves_(isa<UpdateOpInterface>(*op) ? op->getResult(0) : Value()) {
    Dims dims = k.shapes.dimsOf(op->getOperand(0));
    ArrayRef<AffineExpr> all(dims);
    MLIRContext *context = op.getContext();
    int64_t axis = op.getReducedAxis();
    isLast_ = axis + 1 == static_cast<int64_t>(all.size());
    outerSize_ = productOf(all.take_front(axis), context);
    innerSize_ = productOf(all.drop_front(axis + 1), context);
    cost_ = productOf(all, context);
    outer_ = k.size(outerSize_);
    n_ = k.size(dims[axis]);
    inner_ = k.size(innerSize_);
    from_ = k.address(op->getOperand(0));
    to_ = k.address(op->getResult(0));
    toElement_ = getElementTypeOrSelf(op->getResult(0).getType());
    lanes_ = k.target.vectorBits / registerType(element_).getIntOrFloatBitWidth();
    lanes_ = std::clamp<int64_t>(lanes_, 2, 16);
  }

  Kernel build() {
    // The order of a sum follows the axis, not its sizes; extremes have no order.
    bool isExact = kind_ != ReductionKind::Sum;
    bool isRow = isLast_ || (isExact && innerSize_ == getAffineConstantExpr(1, b_.getContext()));
    bool isOuterOne = outerSize_ == getAffineConstantExpr(1, b_.getContext());
    if (leaves_)
      return goOn();
    bool isArg = kind_ == ReductionKind::ArgMax || kind_ == ReductionKind::ArgMin;
    if (isArg)
      arguments();
    else if (isRow)
      rows();
    else
      columns(isOuterOne);
    return k_.finish(cost_, isArg || !isOuterOne || !isRow);
  }

private:
  //===- Joining -----------------------------------------------------------===//

  Value identity(int64_t lanes) {
    Type type = registerType(element_);
    TypedAttr value = cast<TypedAttr>(b_.getZeroAttr(type));
    bool isMax = kind_ == ReductionKind::Max;
    if (kind_ != ReductionKind::Sum) {
      double infinity = std::numeric_limits<double>::infinity();
      if (isa<FloatType>(type))
        value = b_.getFloatAttr(type, isMax ? -infinity : infinity);
      else
        value = extremeInteger(cast<IntegerType>(type), isMax);
    }
    Value scalar = arith::ConstantOp::create(b_, loc_, value);
    return lanes == 1 ? scalar : k_.splat(scalar, lanes);
  }

  /// The integer that every other one beats.
  TypedAttr extremeInteger(IntegerType type, bool isMax) {
    unsigned width = type.getWidth();
    if (element_.isUnsignedInteger())
      return IntegerAttr::get(type, isMax ? APInt(width, 0) : APInt::getMaxValue(width));
    return IntegerAttr::get(type, isMax ? APInt::getSignedMinValue(width)
                                        : APInt::getSignedMaxValue(width));
  }

  Value join(Value x, Value y) {
    Emitted a(b_, loc_, x, element_.isUnsignedInteger());
    Emitted c(b_, loc_, y, element_.isUnsignedInteger());
    switch (kind_) {
    case ReductionKind::Max:
      return maximum(a, c).value;
    case ReductionKind::Min:
      return minimum(a, c).value;
    default:
      return (a + c).value;
    }
  }

  /// Joins neighbouring lanes until one is left.
  Value joinLanes(Value lanes) {
    for (int64_t width = kSumLanes; width > 1; width /= 2) {
      SmallVector<int64_t> even, odd;
      for (int64_t i = 0; i < width; i += 2) {
        even.push_back(i);
        odd.push_back(i + 1);
      }
      Value x = vector::ShuffleOp::create(b_, loc_, lanes, lanes, even);
      Value y = vector::ShuffleOp::create(b_, loc_, lanes, lanes, odd);
      lanes = join(x, y);
    }
    return vector::ExtractOp::create(b_, loc_, lanes, ArrayRef<int64_t>{0});
  }

  /// Room for one partial result a leaf.
  Value leafRoom(Type type) {
    OpBuilder start(b_.getContext());
    Operation *function = b_.getBlock()->getParentOp();
    while (!isa<LLVM::LLVMFuncOp>(function))
      function = function->getParentOp();
    start.setInsertionPointToStart(&function->getRegion(0).front());
    Value count = arith::ConstantIntOp::create(start, loc_, kMaxLeaves, 64);
    return LLVM::AllocaOp::create(start, loc_, k_.ptr, type, count, /*alignment=*/64);
  }

  Value leafAt(Value room, Type type, Value leaf) {
    return LLVM::GEPOp::create(b_, loc_, k_.ptr, type, room, ArrayRef<LLVM::GEPArg>{leaf});
  }

  /// Joins `leaves` partial results, a power of two of them, neighbours first.
  Value joinLeaves(Value room, Type type, Value leaves) {
    auto loop = scf::WhileOp::create(b_, loc_, TypeRange{k_.i64}, ValueRange{k_.c(1)});
    {
      OpBuilder::InsertionGuard guard(b_);
      Block *before = b_.createBlock(&loop.getBefore(), {}, {k_.i64}, {loc_});
      Value step = before->getArgument(0);
      scf::ConditionOp::create(b_, loc_, k_.less(step, leaves), step);
      Block *after = b_.createBlock(&loop.getAfter(), {}, {k_.i64}, {loc_});
      step = after->getArgument(0);
      Value twice = k_.add(step, step);
      k_.loop(k_.c(0), leaves, twice, [&](Value i) {
        Value left = leafAt(room, type, i), right = leafAt(room, type, k_.add(i, step));
        Value sum = join(LLVM::LoadOp::create(b_, loc_, type, left),
                         LLVM::LoadOp::create(b_, loc_, type, right));
        LLVM::StoreOp::create(b_, loc_, sum, left);
      });
      scf::YieldOp::create(b_, loc_, twice);
    }
    return LLVM::LoadOp::create(b_, loc_, type, room);
  }

  //===- Neighbours --------------------------------------------------------===//

  /// Folds `size` neighbours, at most a block, from `offset` on.
  Value foldBlock(Value offset, Value size) {
    Value lanes = k_.c(kSumLanes), end = k_.mul(k_.div(size, lanes), lanes);
    Value sums = k_.loop(k_.c(0), end, lanes, identity(kSumLanes),
                         [&](Value i, ValueRange carried) -> SmallVector<Value> {
                           Value x =
                               k_.loadLanes(from_, element_, k_.add(offset, i), kSumLanes, nullptr);
                           return {join(carried[0], x)};
                         })
                     .front();
    auto known = getConstantIntValue(size);
    if (!known || *known % kSumLanes) {
      Value mask = k_.lanesBelow(k_.sub(size, end), kSumLanes);
      Value x = k_.loadLanes(from_, element_, k_.add(offset, end), kSumLanes, mask);
      x = arith::SelectOp::create(b_, loc_, mask, x, identity(kSumLanes));
      sums = join(sums, x);
    }
    return joinLanes(sums);
  }

  /// Folds `n` neighbours from `offset` on, block after block.
  Value foldNeighbours(Value offset, Value n) {
    auto known = getConstantIntValue(n);
    if (known && *known <= kBlock)
      return foldBlock(offset, n);
    return k_
        .loop(k_.c(0), n, k_.c(kBlock), identity(1),
              [&](Value begin, ValueRange carried) -> SmallVector<Value> {
                Value rest = k_.sub(n, begin);
                Value size = k_.select(k_.less(rest, k_.c(kBlock)), rest, k_.c(kBlock));
                return {join(carried[0], foldBlock(k_.add(offset, begin), size))};
              })
        .front();
  }

  /// Rows of neighbours; a lone row of a first axis has leaves.
  void rows() {
    if (isLeading_) {
      Type type = registerType(element_);
      Value leaves = k_.leafCount(n_), length = k_.div(n_, leaves), room = leafRoom(type);
      k_.loop(k_.c(0), leaves, k_.c(1), [&](Value leaf) {
        Value sum = foldNeighbours(k_.mul(leaf, length), length);
        LLVM::StoreOp::create(b_, loc_, sum, leafAt(room, type, leaf));
      });
      k_.store(joinLeaves(room, type, leaves), to_, toElement_, k_.c(0));
      return;
    }
    auto [lo, hi] = emitTaskRange(b_, loc_, outer_, 1, k_.task, k_.tasks);
    k_.loop(lo, hi, k_.c(1), [&](Value row) {
      k_.store(foldNeighbours(k_.mul(row, n_), n_), to_, toElement_, row);
    });
  }

  //===- Columns -----------------------------------------------------------===//

  /// Folds `length` rows of a vector of columns as a chain.
  Value chain(Value offset, Value length, Value mask) {
    return chain(offset, length, mask, identity(lanes_));
  }

  /// The same from `begin` on.
  Value chain(Value offset, Value length, Value mask, Value begin) {
    return k_
        .loop(k_.c(0), length, k_.c(1), begin,
              [&](Value i, ValueRange carried) -> SmallVector<Value> {
                Value at = k_.add(offset, k_.mul(i, inner_));
                return {join(carried[0], k_.loadLanes(from_, element_, at, lanes_, mask))};
              })
        .front();
  }

  void columnVector(Value row, Value column, Value mask) {
    Value offset = k_.add(k_.mul(row, k_.mul(n_, inner_)), column), result;
    if (isLeading_) {
      Type type = VectorType::get({lanes_}, registerType(element_));
      Value leaves = k_.leafCount(n_), length = k_.div(n_, leaves), room = leafRoom(type);
      Value rowsOfLeaf = k_.mul(length, inner_);
      k_.loop(k_.c(0), leaves, k_.c(1), [&](Value leaf) {
        Value sum = chain(k_.add(offset, k_.mul(leaf, rowsOfLeaf)), length, mask);
        LLVM::StoreOp::create(b_, loc_, sum, leafAt(room, type, leaf));
      });
      result = joinLeaves(room, type, leaves);
    } else {
      result = chain(offset, n_, mask);
    }
    k_.storeLanes(result, to_, toElement_, k_.add(k_.mul(row, inner_), column), mask);
  }

  void columns(bool isOuterOne) {
    Value rowLo = k_.c(0), rowHi = outer_, lo = k_.c(0), hi = inner_;
    if (isOuterOne)
      std::tie(lo, hi) = emitTaskRange(b_, loc_, inner_, lanes_, k_.task, k_.tasks);
    else
      std::tie(rowLo, rowHi) = emitTaskRange(b_, loc_, outer_, 1, k_.task, k_.tasks);
    k_.loop(rowLo, rowHi, k_.c(1), [&](Value row) {
      vectorsOf(lo, hi, [&](Value column, Value mask) { columnVector(row, column, mask); });
    });
  }

  /// Calls `body` for each vector of the columns [lo, hi), with a mask if it is not whole.
  void vectorsOf(Value lo, Value hi, function_ref<void(Value, Value)> body) {
    Value step = k_.c(lanes_), end = k_.add(lo, k_.mul(k_.div(k_.sub(hi, lo), step), step));
    k_.loop(lo, end, step, [&](Value column) { body(column, nullptr); });
    auto known = getConstantIntValue(inner_);
    if (!known || *known % lanes_)
      k_.when(k_.less(end, hi), [&] { body(end, k_.lanesBelow(k_.sub(hi, end), lanes_)); });
  }

  //===- Leaves ------------------------------------------------------------===//

  /// Goes on with the chain of each leaf, in place.
  Kernel goOn() {
    Value count = k_.leafCount(n_, leaves_), length = k_.div(n_, count);
    if (isLast_) {
      k_.loop(k_.c(0), count, k_.c(1), [&](Value leaf) {
        Value sum = foldNeighbours(k_.mul(leaf, length), length);
        k_.store(join(k_.load(to_, element_, leaf), sum), to_, element_, leaf);
      });
      return k_.finish(cost_, false);
    }
    auto [lo, hi] = emitTaskRange(b_, loc_, inner_, lanes_, k_.task, k_.tasks);
    vectorsOf(lo, hi, [&](Value column, Value mask) {
      k_.loop(k_.c(0), count, k_.c(1), [&](Value leaf) {
        Value at = k_.add(k_.mul(leaf, inner_), column);
        Value old = k_.loadLanes(to_, element_, at, lanes_, mask);
        Value from = k_.add(k_.mul(leaf, k_.mul(length, inner_)), column);
        k_.storeLanes(chain(from, length, mask, old), to_, element_, at, mask);
      });
    });
    return k_.finish(cost_, true);
  }

  //===- Places ------------------------------------------------------------===//

  /// The index of the first extreme element; a NaN comes before all.
  void arguments() {
    auto [lo, hi] = emitTaskRange(b_, loc_, k_.mul(outer_, inner_), 1, k_.task, k_.tasks);
    k_.loop(lo, hi, k_.c(1), [&](Value i) {
      Value base = k_.add(k_.mul(k_.div(i, inner_), k_.mul(n_, inner_)), k_.rem(i, inner_));
      Value first = k_.load(from_, element_, base);
      Value best =
          k_.loop(k_.c(1), n_, k_.c(1), {first, k_.c(0)},
                  [&](Value j, ValueRange carried) -> SmallVector<Value> {
                    Value at = k_.add(base, k_.mul(j, inner_));
                    Emitted x(b_, loc_, k_.load(from_, element_, at), element_.isUnsignedInteger());
                    Emitted old = x.with(carried[0], x.isUnsigned);
                    Emitted beats = kind_ == ReductionKind::ArgMax ? x > old : x < old;
                    Emitted isNew = (old == old) & (beats | (x != x));
                    return {k_.select(isNew.value, x.value, old.value),
                            k_.select(isNew.value, j, carried[1])};
                  })[1];
      k_.store(best, to_, toElement_, i);
    });
  }

  KernelBuilder &k_;
  OpBuilder &b_;
  Location loc_;
  ReductionKind kind_;
  Type element_, toElement_;
  bool isLeading_, isLast_ = false;
  Value leaves_; ///< Null, or the leaves whose chains go on.
  AffineExpr outerSize_, innerSize_, cost_;
  Value outer_, n_, inner_, from_, to_;
  int64_t lanes_;
};

} // namespace

Kernel buildReductionKernel(ReductionOpInterface op, KernelBuilder &k) {
  return ReductionLoops(op, k).build();
}

} // namespace pdg
