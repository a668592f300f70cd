// Loops of scans: lines along the axis are independent; neighbouring lines are the lanes of
// vectors. SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "ir/math/emit_value.h"
#include "passes/codegen/cpu/kernels/gemm.h"
#include "passes/codegen/cpu/order_kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pdg {

AxisSizes::AxisSizes(Value tensor, int64_t axis, KernelBuilder &k) {
  Dims dims = k.shapes.dimsOf(tensor);
  ArrayRef<AffineExpr> all(dims);
  MLIRContext *context = tensor.getContext();
  outerSize = productOf(all.take_front(axis), context);
  nSize = all[axis];
  innerSize = productOf(all.drop_front(axis + 1), context);
  outer = k.size(outerSize);
  n = k.size(nSize);
  inner = k.size(innerSize);
  isInnerOne = innerSize == getAffineConstantExpr(1, context);
}

namespace {

class ScanLoops {
public:
  ScanLoops(ScanOpInterface op, KernelBuilder &k)
      : k_(k), form_(op.getScanForm()), sizes_(op->getOperand(0), form_.axis, k),
        element_(getElementTypeOrSelf(op->getOperand(0).getType())) {
    for (Value operand : op->getOperands())
      from_.push_back(k.address(operand));
    to_ = k.address(op->getResult(0));
    cost_ = productOf(k.shapes.dimsOf(op->getResult(0)), op.getContext()) * 2;
    lanes_ = k.target.vectorBits / registerType(element_).getIntOrFloatBitWidth();
  }

  Kernel build() {
    bool isOuterOne = sizes_.outerSize == getAffineConstantExpr(1, k_.b.getContext());
    Value rowLo = k_.c(0), rowHi = sizes_.outer, lo = k_.c(0), hi = sizes_.inner;
    if (isOuterOne && !sizes_.isInnerOne)
      std::tie(lo, hi) = emitTaskRange(k_.b, k_.loc, hi, lanes_, k_.task, k_.tasks);
    else
      std::tie(rowLo, rowHi) = emitTaskRange(k_.b, k_.loc, rowHi, 1, k_.task, k_.tasks);
    k_.loop(rowLo, rowHi, k_.c(1), [&](Value row) {
      if (sizes_.isInnerOne)
        return line(row, k_.c(0), 1, nullptr);
      Value step = k_.c(lanes_);
      Value end = k_.add(lo, k_.mul(k_.div(k_.sub(hi, lo), step), step));
      k_.loop(lo, end, step, [&](Value column) { line(row, column, lanes_, nullptr); });
      k_.when(k_.less(end, hi),
              [&] { line(row, end, lanes_, k_.lanesBelow(k_.sub(hi, end), lanes_)); });
    });
    return k_.finish(cost_, true);
  }

private:
  Value load(Value address, Value offset, int64_t lanes, Value mask) {
    return lanes == 1 ? k_.load(address, element_, offset)
                      : k_.loadLanes(address, element_, offset, lanes, mask);
  }

  void store(Value value, Value offset, int64_t lanes, Value mask) {
    if (lanes == 1)
      k_.store(value, to_, element_, offset);
    else
      k_.storeLanes(value, to_, element_, offset, mask);
  }

  Emitted emitted(Value value) {
    return Emitted(k_.b, k_.loc, value, element_.isUnsignedInteger());
  }

  /// The state after the element at `offset`.
  Value advance(Value state, Value offset, int64_t lanes, Value mask) {
    Emitted x = emitted(load(from_[0], offset, lanes, mask)), old = emitted(state);
    switch (form_.kind) {
    case ScanForm::Sum:
      return (old + x).value;
    case ScanForm::Prod:
      return (old * x).value;
    case ScanForm::Linear:
      return (x * old + emitted(load(from_[1], offset, lanes, mask))).value;
    }
    llvm_unreachable("all kinds are listed");
  }

  /// Walks one line, or as many neighbouring ones as there are lanes.
  void line(Value row, Value column, int64_t lanes, Value mask) {
    Value begin = k_.add(k_.mul(row, k_.mul(sizes_.n, sizes_.inner)), column);
    auto offsetOf = [&](Value step) {
      Value i = form_.reverse ? k_.sub(k_.sub(sizes_.n, k_.c(1)), step) : step;
      return k_.add(begin, k_.mul(i, sizes_.inner));
    };
    Type type = registerType(element_);
    Value one = k_.zero(lanes == 1 ? type : VectorType::get({lanes}, type));
    Value state = form_.kind == ScanForm::Prod ? emitted(one).like(1).value : one;
    Value first = k_.c(0);
    if (form_.kind == ScanForm::Linear) {
      // The first result is b[0]: a[0] may be infinite, and infinity times zero is no number.
      Value empty = state;
      auto start = k_.loop(k_.c(0), k_.select(k_.less(k_.c(0), sizes_.n), k_.c(1), k_.c(0)),
                           k_.c(1), {empty}, [&](Value i, ValueRange) -> SmallVector<Value> {
                             Value b = load(from_[1], offsetOf(i), lanes, mask);
                             store(b, offsetOf(i), lanes, mask);
                             return {b};
                           });
      state = start.front();
      first = k_.c(1);
    }
    k_.loop(first, sizes_.n, k_.c(1), {state},
            [&](Value i, ValueRange carried) -> SmallVector<Value> {
              Value offset = offsetOf(i), next = advance(carried[0], offset, lanes, mask);
              store(form_.exclusive ? carried[0] : next, offset, lanes, mask);
              return {next};
            });
  }

  KernelBuilder &k_;
  ScanForm form_;
  AxisSizes sizes_;
  Type element_;
  SmallVector<Value> from_;
  Value to_;
  AffineExpr cost_;
  int64_t lanes_;
};

} // namespace

Kernel buildScanKernel(ScanOpInterface op, KernelBuilder &k) { return ScanLoops(op, k).build(); }

} // namespace pdg
