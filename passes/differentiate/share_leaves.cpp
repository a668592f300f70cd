// Sums of contributions that a loop carries become leaves that it carries.
// SPDX-License-Identifier: Apache-2.0
#include "passes/differentiate/share_leaves.h"
#include "ir/dialect.h"
#include "ir/expr.h"
#include "ir/ops/autodiff.h"
#include "ir/ops/control.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/layout.h"
#include "ir/ops/leaves.h"
#include "ir/ops/shape.h"
#include "ir/placing_interface.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace pdg {
namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// True for zeros of any sizes.
bool isZero(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getX();
  return matchPattern(value, m_AnyZeroFloat());
}

/// The op that makes `value`, if it is in `block` and for one user only.
Operation *makerIn(Block *block, Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == block && value.hasOneUse() ? op : nullptr;
}

/// One value that a loop carries.
struct Carried {
  ForOp loop;
  unsigned index;

  explicit Carried(OpResult result)
      : loop(cast<ForOp>(result.getOwner())), index(result.getResultNumber()) {}

  Block *body() { return &loop.getBody().front(); }
  BlockArgument argument() { return loop.getBody().getArgument(1 + index); }
  OpOperand &init() { return loop->getOpOperand(2 + index); }
  OpOperand &yielded() { return body()->getTerminator()->getOpOperand(index); }

  /// True for a sum of contributions to one value:
  ///
  ///   %r = for carry (%a = zeros) { %s = contribute %a, %c; %t = contribute %s, %d; yield %t }
  bool isSum() {
    Value sum = yielded().get();
    if (!argument().hasOneUse() || sum == argument() || !isZero(init().get()))
      return false;
    while (auto contribute = dyn_cast_or_null<ContributeOp>(makerIn(body(), sum)))
      sum = contribute.getX();
    return sum == argument();
  }
};

/// What is added to a value in one block.
struct Contribution {
  /// What the core passes through on its way, the last one first: it is put at its places.
  SmallVector<PlacingOpInterface> path;
  /// A sum that has leaves; the result of a loop or of a condition that contributes inside; or any
  /// other value, which is one term.
  Value core;
  enum Kind { Sum, Region, Term } kind = Term;

  /// The contribution itself, behind the first `passed` ops of the path.
  Value from(size_t passed) {
    return passed < path.size() ? Value(path[passed]->getResult(0)) : core;
  }
};

/// Finds the contributions in a block.
class Collector {
public:
  /// `visited` receives the ops that the contributions pass through, users first.
  Collector(Block *block, SmallVectorImpl<Operation *> &visited)
      : block_(block), visited_(visited) {}

  /// The contributions in the order of the block, which is that of uses backwards, without
  /// `carried`.
  SmallVector<Contribution> collect(Value value, Value carried = {}) {
    carried_ = carried;
    visit(value);
    // Few, and mostly in order.
    for (size_t i = 1; i < found_.size(); ++i)
      for (size_t k = i; k > 0 && isBefore(placeOf(found_[k]), placeOf(found_[k - 1])); --k)
        std::swap(found_[k], found_[k - 1]);
    return std::move(found_);
  }

private:
  Operation *placeOf(const Contribution &contribution) {
    Operation *op = contribution.core.getDefiningOp();
    return op && op->getBlock() == block_ ? op : nullptr;
  }

  static bool isBefore(Operation *a, Operation *b) { return b && (!a || a->isBeforeInBlock(b)); }

  Contribution::Kind kindOf(Value value) {
    Operation *op = makerIn(block_, value);
    if (isa_and_nonnull<IfOp>(op) ||
        (isa_and_nonnull<ForOp>(op) && Carried(cast<OpResult>(value)).isSum()))
      return Contribution::Region;
    auto sum = dyn_cast_or_null<LeavesOpInterface>(op);
    return sum && sum.getLeafBound() > 0 ? Contribution::Sum : Contribution::Term;
  }

  /// The op that puts something at its places if `value` is made by one that leads on. A row that
  /// is no sum itself is a sum of one row.
  PlacingOpInterface placerOf(Value value) {
    auto placing = dyn_cast_or_null<PlacingOpInterface>(makerIn(block_, value));
    Value placed = placing ? placing.getPlaced() : Value();
    if (!placed)
      return nullptr;
    bool leadsOn = kindOf(placed) != Contribution::Term ||
                   isa_and_nonnull<ContributeOp, PlacingOpInterface>(makerIn(block_, placed));
    return leadsOn || kindOf(value) != Contribution::Sum ? placing : nullptr;
  }

  void visit(Value value) {
    while (auto contribute = dyn_cast_or_null<ContributeOp>(makerIn(block_, value))) {
      visited_.push_back(contribute);
      visit(contribute.getY());
      value = contribute.getX();
    }
    if (value == carried_ || isZero(value))
      return;
    if (PlacingOpInterface placing = placerOf(value)) {
      visited_.push_back(placing);
      path_.push_back(placing);
      visit(placing.getPlaced());
      path_.pop_back();
      return;
    }
    found_.push_back({path_, value, kindOf(value)});
    // Elements of a term need not be brought back and forth.
    Contribution &last = found_.back();
    while (last.kind == Contribution::Term && !last.path.empty() &&
           last.path.back().isRearranged()) {
      last.core = last.path.back()->getResult(0);
      last.path.pop_back();
    }
  }

  Block *block_;
  SmallVectorImpl<Operation *> &visited_;
  Value carried_;
  SmallVector<PlacingOpInterface> path_;
  SmallVector<Contribution> found_;
};

//===- What a sum is made of -----------------------------------------------===//

/// Looks at all contributions to one value before anything changes.
class Survey {
public:
  explicit Survey(Carried carried) { visitRegions(carried.loop->getResult(carried.index), true); }

  /// The most leaves that a sum has; 0 if nothing needs leaves.
  int64_t bound = 0;
  /// What all contributions pass through, so that leaves need not.
  SmallVector<PlacingOpInterface> common;

private:
  void visitRegions(Value core, bool leads) {
    auto result = cast<OpResult>(core);
    SmallVector<Operation *> visited;
    if (isa<ForOp>(result.getOwner())) {
      Carried carried(result);
      Collector collector(carried.body(), visited);
      visit(collector.collect(carried.yielded().get(), carried.argument()), leads);
      return;
    }
    for (Region &region : result.getOwner()->getRegions()) {
      Value yielded = region.front().getTerminator()->getOperand(result.getResultNumber());
      visit(Collector(&region.front(), visited).collect(yielded), leads);
    }
  }

  /// `leads` if everything so far was passed through by all of the value.
  void visit(SmallVector<Contribution> contributions, bool leads) {
    for (Contribution &contribution : contributions) {
      size_t before = passed_.size();
      bool stillLeads = leads;
      for (PlacingOpInterface placing : contribution.path) {
        stillLeads &= placing.isRearranged();
        if (stillLeads)
          passed_.push_back(placing);
        else
          bound = std::max<int64_t>(bound, 1);
      }
      if (contribution.kind == Contribution::Region) {
        if (!contribution.path.empty())
          bound = std::max<int64_t>(bound, 1);
        if (!stillLeads)
          limit();
        visitRegions(contribution.core, stillLeads);
      } else {
        limit();
        if (contribution.kind == Contribution::Sum)
          bound = std::max(
              bound, cast<LeavesOpInterface>(contribution.core.getDefiningOp()).getLeafBound());
      }
      passed_.truncate(before);
    }
  }

  static bool isSame(Operation *a, Operation *b) {
    return OperationEquivalence::isEquivalentTo(a, b, OperationEquivalence::ignoreValueEquivalence,
                                                nullptr, OperationEquivalence::IgnoreLocations);
  }

  /// What is common is passed through by this contribution as well.
  void limit() {
    if (isFirst_) {
      common = passed_;
      isFirst_ = false;
      return;
    }
    size_t same = 0;
    while (same < std::min(common.size(), passed_.size()) && isSame(common[same], passed_[same]))
      ++same;
    common.truncate(same);
  }

  bool isFirst_ = true;
  SmallVector<PlacingOpInterface> passed_;
};

//===- Going on with leaves ------------------------------------------------===//

/// Lets the contributions to one value add to what its loop carries.
class Extender {
public:
  Extender(ArrayRef<PlacingOpInterface> common, bool hasLeaves)
      : common_(common), hasLeaves_(hasLeaves) {}

  /// Carries `zeros` in the place of the sum.
  void run(Carried carried, Value zeros) { enterLoop(carried, zeros, 0); }

  /// Erases what nobody needs any more.
  void clean() {
    for (Operation *op : visited_)
      if (op->use_empty())
        op->erase();
  }

private:
  void enterLoop(Carried carried, Value leaves, size_t passed) {
    carried.init().set(leaves);
    carried.argument().setType(typeOf(leaves));
    carried.loop->getResult(carried.index).setType(typeOf(leaves));
    Collector collector(carried.body(), visited_);
    auto contributions = collector.collect(carried.yielded().get(), carried.argument());
    carried.yielded().set(extendAll(contributions, carried.argument(), carried.body(), passed));
  }

  void enterCondition(OpResult result, Value leaves, size_t passed) {
    result.setType(typeOf(leaves));
    for (Region &region : result.getOwner()->getRegions()) {
      Block *block = &region.front();
      OpOperand &yielded = block->getTerminator()->getOpOperand(result.getResultNumber());
      auto contributions = Collector(block, visited_).collect(yielded.get());
      yielded.set(extendAll(contributions, leaves, block, passed));
    }
  }

  Value extendAll(MutableArrayRef<Contribution> contributions, Value leaves, Block *block,
                  size_t passed) {
    for (Contribution &contribution : contributions)
      leaves = extend(contribution, leaves, block, passed);
    return leaves;
  }

  /// The last op of `block` that ops on `path` and on `leaves` need; null if there is none.
  static Operation *lastNeeded(ArrayRef<PlacingOpInterface> path, Value leaves, Block *block) {
    Operation *last = nullptr;
    auto need = [&](Value value) {
      Operation *op = value.getDefiningOp();
      if (op && op->getBlock() == block && (!last || last->isBeforeInBlock(op)))
        last = op;
    };
    need(leaves);
    for (PlacingOpInterface placing : path)
      for (Value operand : placing->getOperands())
        if (operand != placing.getPlaced())
          need(operand);
    return last;
  }

  Value extend(Contribution &contribution, Value leaves, Block *block, size_t passed) {
    // Of what is common, leaves need not pass through anything.
    size_t skipped = std::min(contribution.path.size(), common_.size() - passed);
    ArrayRef<PlacingOpInterface> path = ArrayRef(contribution.path).drop_front(skipped);
    Operation *core = contribution.core.getDefiningOp(), *last = lastNeeded(path, leaves, block);
    bool isInBlock = core && core->getBlock() == block;
    Contribution::Kind kind = contribution.kind;
    // A loop whose leaves come after it adds its sum as a whole.
    if (kind == Contribution::Region && last && !last->isBeforeInBlock(core))
      kind = Contribution::Term;
    if (kind == Contribution::Term && contribution.kind == Contribution::Region)
      path = {};
    OpBuilder b(block, block->begin());
    if (kind == Contribution::Region)
      b.setInsertionPoint(core);
    else if (isInBlock && (!last || last->isBeforeInBlock(core)))
      b.setInsertionPointAfter(core);
    else if (last)
      b.setInsertionPointAfter(last);
    SmallVector<Value> wholes;
    for (PlacingOpInterface placing : path) {
      wholes.push_back(leaves);
      leaves = placing.takeLeaves(b, leaves);
    }
    if (kind == Contribution::Sum)
      leaves = cast<LeavesOpInterface>(core).addToLeaves(b, leaves);
    else if (kind == Contribution::Region)
      leaves = enter(contribution.core, leaves, passed + skipped);
    else
      leaves = addTerm(b, path.empty() ? contribution.from(skipped) : contribution.core, leaves,
                       path.empty() ? passed + skipped : common_.size());
    if (kind == Contribution::Region)
      b.setInsertionPointAfter(core);
    for (PlacingOpInterface placing : llvm::reverse(path))
      leaves = placing.putLeaves(b, wholes.pop_back_val(), leaves);
    return leaves;
  }

  Value enter(Value core, Value leaves, size_t passed) {
    auto result = cast<OpResult>(core);
    if (isa<ForOp>(result.getOwner()))
      enterLoop(Carried(result), leaves, passed);
    else
      enterCondition(result, leaves, passed);
    return result;
  }

  /// Adds a term, of leaf 0, that has not yet passed through what is common behind `passed`.
  Value addTerm(OpBuilder &b, Value term, Value leaves, size_t passed) {
    Location loc = term.getLoc();
    if (!hasLeaves_)
      return AddOp::create(b, loc, leaves, term);
    SmallVector<int64_t> shape{1};
    llvm::append_range(shape, typeOf(term).getShape());
    SmallVector<Value> sizes;
    for (int64_t axis = 0; axis < typeOf(term).getRank(); ++axis)
      if (typeOf(term).isDynamicDim(axis))
        sizes.push_back(DimOp::create(b, loc, term, axis));
    Value row = ReshapeOp::create(b, loc, term, sizes, shape);
    for (PlacingOpInterface placing : common_.drop_front(passed))
      row = placing.takeLeaves(b, row);
    if (typeOf(leaves).getDimSize(0) == 1)
      return AddOp::create(b, loc, leaves, row);
    Value sum = AddOp::create(b, loc, SliceOp::create(b, loc, leaves, 0, 0, 1), row);
    return PutSliceOp::create(b, loc, leaves, sum, sizeConstant(b, loc, 0), 0, 1);
  }

  ArrayRef<PlacingOpInterface> common_;
  bool hasLeaves_;
  SmallVector<Operation *> visited_;
};

/// Leaves of zeros for a sum that began as `init`.
Value zerosOf(OpBuilder &b, Value init, int64_t count, ArrayRef<PlacingOpInterface> common) {
  SmallVector<int64_t> shape{count};
  PlacingOpInterface last = common.empty() ? nullptr : common.back();
  llvm::append_range(shape, typeOf(last ? last.getPlaced() : init).getShape());
  SmallVector<Value> sizes;
  for (auto [axis, size] : llvm::enumerate(ArrayRef(shape).drop_front()))
    if (ShapedType::isDynamic(size))
      sizes.push_back(DimOp::create(b, init.getLoc(), init, axis));
  Value zero = scalarConstant(b, init.getLoc(), typeOf(init), 0);
  return BroadcastOp::create(b, init.getLoc(), zero, sizes, shape);
}

/// Lets the contributions to the sum that `carried` is share leaves:
///
///   %l = for carry (%a = zeros) { %s = sum onto %a; %t = sum onto %s; yield %t }
///   %r = join_leaves %l
void carryLeaves(Carried carried) {
  Survey survey(carried);
  // Sizes that only the run knows are those of the value itself.
  if (!typeOf(carried.init().get()).hasStaticShape())
    survey.common.clear();
  if (survey.bound == 0) {
    Extender extender({}, false);
    extender.run(carried, carried.init().get());
    return extender.clean();
  }
  OpBuilder b(carried.loop);
  OpResult sum = carried.loop->getResult(carried.index);
  Value zeros = zerosOf(b, carried.init().get(), survey.bound, survey.common);
  sum.setType(typeOf(zeros));
  b.setInsertionPointAfter(carried.loop);
  Operation *join = JoinLeavesOp::create(b, carried.loop.getLoc(), sum);
  Value total = join->getResult(0);
  for (PlacingOpInterface placing : llvm::reverse(survey.common)) {
    Operation *again = b.clone(*placing);
    again->setOperand(0, total);
    total = again->getResult(0);
  }
  sum.replaceAllUsesExcept(total, join);
  Extender extender(survey.common, true);
  extender.run(carried, zeros);
  extender.clean();
}

} // namespace

void shareLeaves(ModuleOp module) {
  // Outer loops first: their chains go through those inside.
  module.walk<WalkOrder::PreOrder>([](ForOp loop) {
    for (OpResult result : loop->getResults())
      if (Carried carried(result); carried.isSum())
        carryLeaves(carried);
  });
  module.walk([](ContributeOp op) {
    OpBuilder b(op);
    op.replaceAllUsesWith(AddOp::create(b, op.getLoc(), op.getX(), op.getY()).getResult());
    op.erase();
  });
}

} // namespace pdg
