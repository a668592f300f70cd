// Loops that write or add elements at indices along an axis, in increasing order of position.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "ir/math/emit_value.h"
#include "passes/codegen/cpu/kernels/gemm.h"
#include "passes/codegen/cpu/order_kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pdg {
namespace {

class PlaceLoops {
public:
  PlaceLoops(PlaceOpInterface op, KernelBuilder &k)
      : k_(k), form_(op.getPlaceForm()), table_(op->getOperand(0), form_.axis, k),
        element_(getElementTypeOrSelf(op->getOperand(0).getType())),
        idType_(getElementTypeOrSelf(op->getOperand(1).getType())) {
    x_ = k.address(op->getOperand(0));
    ids_ = k.address(op->getOperand(1));
    values_ = k.address(op->getOperand(2));
    to_ = k.address(op->getResult(0));
    count_ = k.size(k.shapes.dimsOf(op->getOperand(1))[form_.axis]);
    MLIRContext *context = op.getContext();
    cost_ = productOf(k.shapes.dimsOf(op->getOperand(0)), context) +
            productOf(k.shapes.dimsOf(op->getOperand(1)), context) * 2;
  }

  Kernel build() {
    // Tasks split the axes before or behind the one with the indices.
    Value rowLo = k_.c(0), rowHi = table_.outer, lo = k_.c(0), hi = table_.inner;
    if (table_.isInnerOne)
      std::tie(rowLo, rowHi) = emitTaskRange(k_.b, k_.loc, rowHi, 1, k_.task, k_.tasks);
    else
      std::tie(lo, hi) = emitTaskRange(k_.b, k_.loc, hi, 16, k_.task, k_.tasks);
    k_.loop(rowLo, rowHi, k_.c(1), [&](Value row) {
      Value table = k_.mul(row, table_.n), from = k_.mul(row, count_);
      eachOf(table, table_.n, lo, hi,
             [&](Value, Value at) { k_.store(k_.load(x_, element_, at), to_, element_, at); });
      eachOf(from, count_, lo, hi, [&](Value column, Value at) {
        Emitted id(k_.b, k_.loc, k_.load(ids_, idType_, at), idType_.isUnsignedInteger());
        Value line = k_.add(table, convert(id, Elem::I64).value);
        place(k_.add(k_.mul(line, table_.inner), column), k_.load(values_, element_, at));
      });
    });
    return k_.finish(cost_, true);
  }

private:
  /// Calls `body` with column and offset of each element of `count` lines from `first` on.
  void eachOf(Value first, Value count, Value lo, Value hi, function_ref<void(Value, Value)> body) {
    k_.loop(first, k_.add(first, count), k_.c(1), [&](Value line) {
      Value begin = k_.mul(line, table_.inner);
      k_.loop(lo, hi, k_.c(1), [&](Value column) { body(column, k_.add(begin, column)); });
    });
  }

  void place(Value at, Value value) {
    if (form_.adds) {
      Emitted old(k_.b, k_.loc, k_.load(to_, element_, at), element_.isUnsignedInteger());
      value = (old + old.with(value, old.isUnsigned)).value;
    }
    k_.store(value, to_, element_, at);
  }

  KernelBuilder &k_;
  PlaceForm form_;
  AxisSizes table_;
  Type element_, idType_;
  Value x_, ids_, values_, to_, count_;
  AffineExpr cost_;
};

} // namespace

Kernel buildPlaceKernel(PlaceOpInterface op, KernelBuilder &k) { return PlaceLoops(op, k).build(); }

} // namespace pdg
