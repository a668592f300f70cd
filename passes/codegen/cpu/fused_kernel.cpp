// Loops of fused element ops: vectors along the last axis, the last one masked.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "passes/codegen/cpu/kernel.h"
#include "passes/codegen/cpu/kernels/gemm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace pdg {
namespace {

/// A constant whose elements are all equal: the element, as a typed attribute.
TypedAttr splatOf(Value value) {
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return nullptr;
  auto elements = dyn_cast<DenseElementsAttr>(attribute);
  if (!elements || !elements.isSplat())
    return nullptr;
  auto typed = cast<TypedAttr>(elements.getSplatValue<Attribute>());
  Type type = registerType(typed.getType());
  if (type != typed.getType())
    return IntegerAttr::get(type, cast<IntegerAttr>(typed).getValue());
  return typed;
}

/// Builds elements of the values of one fused region.
class RegionContext : public ElementContext {
public:
  /// `here` is the index at which the region is computed; `mask` says which lanes exist.
  RegionContext(KernelBuilder &k, Block &block, ArrayRef<AxisIndex> here, int64_t lanes, Value mask)
      : ElementContext(k.b, k.loc), k_(k), block_(block), here_(here), lanes_(lanes), mask_(mask) {}

  /// The element of `value` at `index`.
  Value element(Value value, ArrayRef<AxisIndex> index) {
    if (TypedAttr constant = splatOf(value))
      return arith::ConstantOp::create(b, loc, constant);
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &block_)
      return loadElement(value, index);
    bool isHere = sameIndex(index);
    if (isHere)
      if (Value known = known_.lookup(value))
        return known;
    Operation *outer = std::exchange(op_, op);
    Value result = cast<ElementOpInterface>(op).emitElement(*this, index);
    op_ = outer;
    if (isHere)
      known_[value] = result;
    return result;
  }

  Value load(unsigned operand, ArrayRef<AxisIndex> index) override {
    return element(op_->getOperand(operand), index);
  }
  Value dim(unsigned operand, int64_t axis) override {
    return k_.size(k_.shapes.dimsOf(op_->getOperand(operand))[axis]);
  }
  Value resultDim(int64_t axis) override {
    return k_.size(k_.shapes.dimsOf(op_->getResult(0))[axis]);
  }
  Value materialize(const AxisIndex &index) override {
    if (!index.lanes)
      return index.value;
    return arith::AddIOp::create(b, loc, k_.splat(index.value, lanes_), k_.laneNumbers(lanes_));
  }
  int64_t lanes() const override { return lanes_; }

private:
  bool sameIndex(ArrayRef<AxisIndex> index) {
    return index.size() == here_.size() && llvm::all_of(llvm::zip(index, here_), [](auto pair) {
             auto &[x, y] = pair;
             return x.value == y.value && x.lanes == y.lanes;
           });
  }

  /// Loads from the memory of a value that is computed elsewhere.
  Value loadElement(Value tensor, ArrayRef<AxisIndex> index) {
    Type type = getElementTypeOrSelf(tensor.getType());
    Value address = k_.address(tensor);
    Dims dims = k_.shapes.dimsOf(tensor);
    if (index.size() != dims.size()) {
      // A flattened region: the one axis runs over all elements.
      assert(index.size() == 1 && "only flattened regions change the rank");
      return index[0].lanes ? k_.loadLanes(address, type, index[0].value, lanes_, mask_)
                            : k_.load(address, type, index[0].value);
    }
    Value offset = k_.c(0), offsets;
    AffineExpr stride = getAffineConstantExpr(1, b.getContext());
    bool isContiguous = false;
    for (size_t axis = dims.size(); axis-- > 0; stride = stride * dims[axis]) {
      const AxisIndex &at = index[axis];
      bool isUnit = stride == getAffineConstantExpr(1, b.getContext());
      if (at.lanes && isUnit) {
        isContiguous = true;
        offset = k_.add(offset, at.value);
      } else if (at.lanes || isa<VectorType>(at.value.getType())) {
        Value part =
            arith::MulIOp::create(b, loc, materialize(at), k_.splat(k_.size(stride), lanes_));
        offsets = offsets ? arith::AddIOp::create(b, loc, offsets, part).getResult() : part;
      } else {
        offset = k_.add(offset, k_.mul(at.value, k_.size(stride)));
      }
    }
    if (offsets) {
      if (isContiguous)
        offsets = arith::AddIOp::create(b, loc, offsets, k_.laneNumbers(lanes_));
      offsets = arith::AddIOp::create(b, loc, offsets, k_.splat(offset, lanes_));
      return k_.gatherLanes(address, type, offsets, mask_);
    }
    return isContiguous ? k_.loadLanes(address, type, offset, lanes_, mask_)
                        : k_.load(address, type, offset);
  }

  KernelBuilder &k_;
  Block &block_;
  ArrayRef<AxisIndex> here_;
  int64_t lanes_;
  Value mask_;
  Operation *op_ = nullptr;
  DenseMap<Value, Value> known_;
};

/// One fused region as loops.
class FusedLoops {
public:
  FusedLoops(Operation *fused, KernelBuilder &k)
      : fused_(fused), k_(k), block_(fused->getRegion(0).front()) {
    Value first = block_.getTerminator()->getOperand(0);
    sizes_ = k.shapes.dimsOf(first);
    isFlat_ = canFlatten();
    if (isFlat_)
      sizes_ = {productOf(sizes_, k.b.getContext())};
    lanes_ = k.target.vectorBits / 32;
    for (Operation &op : block_)
      for (Value result : op.getResults())
        if (getElementTypeOrSelf(result.getType()).isF64())
          lanes_ = k.target.vectorBits / 64;
  }

  Kernel build() {
    SmallVector<AxisIndex> index;
    if (sizes_.empty())
      emit(index, 1, nullptr);
    else
      axis(index);
    AffineExpr cost =
        productOf(sizes_, k_.b.getContext()) * static_cast<int64_t>(block_.getOperations().size());
    return k_.finish(cost, !sizes_.empty());
  }

private:
  /// True if the order of elements is all that matters: every op reads at its own index, or is the
  /// same everywhere.
  bool canFlatten() {
    if (sizes_.size() < 2)
      return false;
    for (Operation &op : block_.without_terminator()) {
      auto element = cast<ElementOpInterface>(&op);
      if (!element.isPointwise() && !element.isUniform())
        return false;
    }
    return true;
  }

  void axis(SmallVector<AxisIndex> &index) {
    size_t depth = index.size();
    bool isLast = depth + 1 == sizes_.size();
    Value lo = k_.c(0), hi = k_.size(sizes_[depth]);
    if (depth == 0)
      std::tie(lo, hi) =
          emitTaskRange(k_.b, k_.loc, hi, isLast ? 4 * lanes_ : 1, k_.task, k_.tasks);
    if (isLast)
      return lastAxis(index, lo, hi);
    k_.loop(lo, hi, k_.c(1), [&](Value i) {
      index.push_back({i});
      axis(index);
      index.pop_back();
    });
  }

  void lastAxis(SmallVector<AxisIndex> &index, Value lo, Value hi) {
    Value step = k_.c(lanes_);
    Value end = k_.add(lo, k_.mul(k_.div(k_.sub(hi, lo), step), step));
    auto at = [&](Value i, Value mask) {
      index.push_back({i, true});
      emit(index, lanes_, mask);
      index.pop_back();
    };
    auto size = dyn_cast<AffineConstantExpr>(sizes_.back());
    if (!size || size.getValue() >= lanes_)
      k_.loop(lo, end, step, [&](Value i) { at(i, nullptr); });
    if (size && size.getValue() % lanes_ == 0)
      return;
    k_.when(k_.less(end, hi), [&] { at(end, k_.lanesBelow(k_.sub(hi, end), lanes_)); });
  }

  /// Computes and stores all results at `index`.
  void emit(ArrayRef<AxisIndex> index, int64_t lanes, Value mask) {
    RegionContext context(k_, block_, index, lanes, mask);
    // All values before all stores: a result may lie where an operand was.
    SmallVector<Value> elements;
    for (Value output : block_.getTerminator()->getOperands())
      elements.push_back(context.element(output, index));
    for (auto [element, result] : llvm::zip(elements, fused_->getResults())) {
      Type type = getElementTypeOrSelf(result.getType());
      Value address = k_.address(result), offset = k_.c(0);
      for (auto [axis, at] : llvm::enumerate(index))
        offset = k_.add(k_.mul(offset, k_.size(sizes_[axis])), at.value);
      if (lanes > 1)
        k_.storeLanes(k_.splat(element, lanes), address, type, offset, mask);
      else
        k_.store(element, address, type, offset);
    }
  }

  Operation *fused_;
  KernelBuilder &k_;
  Block &block_;
  Dims sizes_;
  bool isFlat_ = false;
  int64_t lanes_ = 1;
};

} // namespace

Kernel buildFusedKernel(Operation *fused, KernelBuilder &k) { return FusedLoops(fused, k).build(); }

} // namespace pdg
