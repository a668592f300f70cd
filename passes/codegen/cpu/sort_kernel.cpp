// Loops of argsort: each line becomes keys whose order as integers is the wanted one, and these are
// merged with their positions, runs of 1, 2, 4, ... elements at a time.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "ir/math/emit_value.h"
#include "passes/codegen/cpu/kernels/gemm.h"
#include "passes/codegen/cpu/order_kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace pdg {
namespace {

/// Lines longer than this are sorted by one task: each task has scratch memory for a line.
constexpr int64_t kMaxParallelLine = 1 << 14;

class SortLoops {
public:
  SortLoops(SortOpInterface op, KernelBuilder &k)
      : k_(k), b_(k.b), loc_(k.loc), form_(op.getSortForm()),
        sizes_(op->getOperand(0), form_.axis, k),
        element_(getElementTypeOrSelf(op->getOperand(0).getType())) {
    from_ = k.address(op->getOperand(0));
    to_ = k.address(op->getResult(0));
    int64_t bound = k.shapes.boundOf(sizes_.nSize).value_or(1);
    // Two areas of keys and two of positions; a word behind each is read and not used.
    room_ = bound + 1;
    keys_ = k.work(4 * 8 * room_);
    positions_ = k.pointerTo(keys_, k.i64, k.c(2 * room_));
    isParallel_ = bound <= kMaxParallelLine;
    cost_ = productOf(k.shapes.dimsOf(op->getOperand(0)), op.getContext()) * 32;
  }

  Kernel build() {
    auto [lo, hi] =
        emitTaskRange(b_, loc_, k_.mul(sizes_.outer, sizes_.inner), 1, k_.task, k_.tasks);
    k_.loop(lo, hi, k_.c(1), [&](Value line) {
      Value row = k_.mul(k_.div(line, sizes_.inner), k_.mul(sizes_.n, sizes_.inner));
      sortLine(k_.add(row, k_.rem(line, sizes_.inner)));
    });
    return k_.finish(cost_, isParallel_);
  }

private:
  /// Float bits whose order as signed integers is that of the numbers; -0 becomes +0.
  static Emitted orderOf(Emitted x) {
    Emitted word = asSigned(bits(x + 0.0));
    Emitted magnitude = word.like(x.isF32() ? int64_t(INT32_MAX) : INT64_MAX);
    return select(word < word.like(0), word ^ magnitude, word);
  }

  /// An i64 for each element: smaller ones come first, and a NaN last.
  Value keyOf(Value element) {
    Emitted x(b_, loc_, element, element_.isUnsignedInteger());
    Emitted key = convert(x.isFloat() ? orderOf(x) : x, Elem::I64);
    if (form_.descending)
      key = ~key;
    return (x.isFloat() ? select(x != x, key.like(INT64_MAX), key) : key).value;
  }

  Value key(Value at) { return k_.load(keys_, k_.i64, at); }
  Value position(Value at) { return k_.load(positions_, k_.i64, at); }
  void put(Value at, Value key, Value position) {
    k_.store(key, keys_, k_.i64, at);
    k_.store(position, positions_, k_.i64, at);
  }

  void sortLine(Value begin) {
    auto offsetOf = [&](Value i) { return k_.add(begin, k_.mul(i, sizes_.inner)); };
    k_.loop(k_.c(0), sizes_.n, k_.c(1),
            [&](Value i) { put(i, keyOf(k_.load(from_, element_, offsetOf(i))), i); });
    Value sorted = mergeAll();
    k_.loop(k_.c(0), sizes_.n, k_.c(1),
            [&](Value i) { k_.store(position(k_.add(sorted, i)), to_, k_.i64, offsetOf(i)); });
  }

  /// Doubles the length of sorted runs until one is left; returns the area in which it is.
  Value mergeAll() {
    auto loop =
        scf::WhileOp::create(b_, loc_, TypeRange{k_.i64, k_.i64}, ValueRange{k_.c(1), k_.c(0)});
    OpBuilder::InsertionGuard guard(b_);
    Block *before = b_.createBlock(&loop.getBefore(), {}, {k_.i64, k_.i64}, {loc_, loc_});
    scf::ConditionOp::create(b_, loc_, k_.less(before->getArgument(0), sizes_.n),
                             before->getArguments());
    Block *after = b_.createBlock(&loop.getAfter(), {}, {k_.i64, k_.i64}, {loc_, loc_});
    Value width = after->getArgument(0), from = after->getArgument(1);
    Value to = k_.sub(k_.c(room_), from), twice = k_.add(width, width);
    k_.loop(k_.c(0), sizes_.n, twice, [&](Value begin) { merge(from, to, begin, width); });
    scf::YieldOp::create(b_, loc_, ValueRange{twice, to});
    return loop.getResult(1);
  }

  Value smaller(Value x, Value y) { return k_.select(k_.less(x, y), x, y); }

  /// Merges the two runs of `width` from `begin` on. Of equal keys the left one goes first.
  void merge(Value from, Value to, Value begin, Value width) {
    Value middle = smaller(k_.add(begin, width), sizes_.n);
    Value end = smaller(k_.add(middle, width), sizes_.n);
    k_.loop(begin, end, k_.c(1), {begin, middle},
            [&](Value out, ValueRange at) -> SmallVector<Value> {
              Value left = k_.add(from, at[0]), right = k_.add(from, at[1]);
              Value leftKey = key(left), rightKey = key(right);
              Value isFirst =
                  arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::sle, leftKey, rightKey);
              Value isRightDone = k_.equal(at[1], end), isLeftThere = k_.less(at[0], middle);
              Value goesFirst = arith::OrIOp::create(b_, loc_, isRightDone, isFirst);
              Value takesLeft = arith::AndIOp::create(b_, loc_, isLeftThere, goesFirst);
              put(k_.add(to, out), k_.select(takesLeft, leftKey, rightKey),
                  k_.select(takesLeft, position(left), position(right)));
              return {k_.select(takesLeft, k_.add(at[0], k_.c(1)), at[0]),
                      k_.select(takesLeft, at[1], k_.add(at[1], k_.c(1)))};
            });
  }

  KernelBuilder &k_;
  OpBuilder &b_;
  Location loc_;
  SortForm form_;
  AxisSizes sizes_;
  Type element_;
  Value from_, to_, keys_, positions_;
  int64_t room_;
  bool isParallel_;
  AffineExpr cost_;
};

} // namespace

Kernel buildSortKernel(SortOpInterface op, KernelBuilder &k) { return SortLoops(op, k).build(); }

} // namespace pdg
