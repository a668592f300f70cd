// Lifetimes from program order, then offsets.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/memory_plan.h"
#include "ir/dialect.h"
#include "ir/ops/control.h"
#include "ir/ops/variable.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pdg {

static constexpr int64_t kAlignment = 64;

Value MemoryPlan::rootOf(Value value) const {
  while (true) {
    if (auto found = shared_.find(value); found != shared_.end()) {
      value = found->second;
      continue;
    }
    auto view = value.getDefiningOp<ViewOpInterface>();
    if (!view)
      return value;
    value = view->getOperand(0);
  }
}

Place MemoryPlan::placeOf(Value value) const {
  auto found = places_.find(rootOf(value));
  assert(found != places_.end() && "every root has a place");
  return found->second;
}

void MemoryPlan::number(Operation *op) {
  begin_[op] = next_++;
  if (!isa<FusedOp>(op))
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        number(&inner);
  end_[op] = next_++;
}

/// Visits the uses of `value` and of its views.
void MemoryPlan::forEachUse(Value value, function_ref<void(OpOperand &)> visit) const {
  for (OpOperand &use : value.getUses()) {
    visit(use);
    for (Value shown : shownBy(use))
      forEachUse(shown, visit);
  }
}

/// The values that show the elements of `use` further on, in the same place.
SmallVector<Value> MemoryPlan::shownBy(OpOperand &use) const {
  Operation *op = use.getOwner();
  SmallVector<Value> shown;
  if (isa<ViewOpInterface>(op) && use.getOperandNumber() == 0)
    shown.push_back(op->getResult(0));
  if (auto update = dyn_cast<UpdateOpInterface>(op))
    if (use.getOperandNumber() == update.getUpdatedOperand())
      shown.push_back(op->getResult(0));
  if (auto carried = carriedBy(use); carried && shared_.contains(carried->first))
    shown.append({carried->first, carried->second});
  llvm::erase_if(shown, [&](Value value) {
    return !isa_and_nonnull<ViewOpInterface>(value.getDefiningOp()) && !shared_.contains(value);
  });
  return shown;
}

int64_t MemoryPlan::lastUse(Value value, Block *block) const {
  int64_t last = -1;
  forEachUse(value, [&](OpOperand &use) {
    if (Operation *at = block->findAncestorOpInBlock(*use.getOwner()))
      last = std::max(last, end_.lookup(at));
  });
  return last;
}

//===- Variables -----------------------------------------------------------===//

/// The assignments of a variable.
static SmallVector<AssignOp> assignsOf(ModuleOp module, Attribute name) {
  SmallVector<AssignOp> assigns;
  module.walk([&](AssignOp op) {
    if (op.getName() == name)
      assigns.push_back(op);
  });
  return assigns;
}

bool MemoryPlan::canAlias(Operation *read) {
  if (sizes_.contains(read->getResult(0)))
    return false;
  Block *block = read->getBlock();
  int64_t last = lastUse(read->getResult(0), block);
  for (AssignOp assign : assignsOf(module_, cast<ReadOp>(read).getName())) {
    Operation *at = block->findAncestorOpInBlock(*assign);
    // An assignment elsewhere runs only after this block was left, or before the read.
    if (!at || end_[at] < begin_[read] || begin_[at] > last)
      continue;
    // The last use may be the assignment itself, which reads before it writes.
    if (at == assign && end_[at] == last)
      continue;
    return false;
  }
  return true;
}

void MemoryPlan::planReads() {
  module_.walk([&](ReadOp read) {
    if (canAlias(read))
      places_[read.getResult()] = {Place::Variable, 0, read.getName()};
  });
}

bool MemoryPlan::canComputeInPlace(Operation *assign, Operation *maker) {
  auto name = cast<AssignOp>(assign).getName();
  Block *block = assign->getBlock();
  for (AssignOp other : assignsOf(module_, name))
    if (other != assign && block->findAncestorOpInBlock(*other))
      return false;
  int64_t made = begin_[maker], assigned = begin_[assign];
  bool fits = true;
  module_.walk([&](ReadOp read) {
    if (read.getName() != name || !fits)
      return;
    Operation *at = block->findAncestorOpInBlock(*read);
    if (!at) {
      // A read around this block that shares the variable's memory ends before the block.
      return;
    }
    if (at != read) {
      fits &= end_[at] < made || begin_[at] > assigned;
      return;
    }
    if (begin_[read] > assigned)
      return;
    forEachUse(read.getResult(), [&](OpOperand &use) {
      Operation *user = block->findAncestorOpInBlock(*use.getOwner());
      if (user != maker) {
        fits &= user && end_[user] < made;
        return;
      }
      // Inside the group the old elements are read where the new ones are written.
      auto element = dyn_cast<ElementOpInterface>(use.getOwner());
      fits &= element && element.isPointwise() && use.get() == read.getResult();
    });
  });
  return fits;
}

void MemoryPlan::planAssigns() {
  module_.walk([&](AssignOp assign) {
    Value value = assign.getValue();
    auto maker = value.getDefiningOp<FusedOp>();
    if (!maker || maker->getBlock() != assign->getBlock() || places_.contains(value) ||
        sizes_.contains(value) || !canComputeInPlace(assign, maker))
      return;
    places_[value] = {Place::Variable, 0, assign.getName()};
    inPlace_.insert(assign);
  });
}

//===- Updates -------------------------------------------------------------===//

/// The argument and the result of a loop that begin as `use`; nothing if it is no such operand.
std::optional<std::pair<BlockArgument, OpResult>> MemoryPlan::carriedBy(OpOperand &use) {
  Operation *op = use.getOwner();
  auto loop = dyn_cast<LoopOpInterface>(op);
  if (!loop)
    return std::nullopt;
  int64_t index = int64_t(use.getOperandNumber()) - (op->getNumOperands() - op->getNumResults());
  if (index < 0)
    return std::nullopt;
  return std::pair(loop.getCarried(index), op->getResult(index));
}

/// True if `op` may write where the elements of `use` are: nobody else needs them from there on,
/// and they are made as often as `op` runs.
bool MemoryPlan::canTakeOver(OpOperand &use) const {
  Operation *op = use.getOwner();
  Block *block = op->getBlock();
  Value owner = use.get();
  auto isShown = [&](Operation *maker) {
    return maker && maker->getBlock() == block &&
           (isa<ViewOpInterface>(maker) ||
            (isa<UpdateOpInterface>(maker) && shared_.contains(maker->getResult(0))));
  };
  while (isShown(owner.getDefiningOp())) {
    auto update = dyn_cast<UpdateOpInterface>(owner.getDefiningOp());
    owner = owner.getDefiningOp()->getOperand(update ? update.getUpdatedOperand() : 0);
  }
  if (owner.getParentBlock() != block)
    return false;
  auto argument = dyn_cast<BlockArgument>(owner);
  bool isField = argument && argument.getArgNumber() <
                                 cast<LoopOpInterface>(block->getParentOp()).getNumLeading();
  Operation *maker = owner.getDefiningOp();
  bool isGiven = maker && (maker->hasTrait<OpTrait::ConstantLike>() || isa<InputOp>(maker));
  if (isField || isGiven || places_.contains(owner) || sizes_.contains(owner))
    return false;
  bool isLast = true;
  forEachUse(owner, [&](OpOperand &other) {
    Operation *user = block->findAncestorOpInBlock(*other.getOwner());
    isLast &= &other == &use || (user && user != op && end_.lookup(user) < begin_.lookup(op));
  });
  return isLast;
}

/// Results of loops are where the carried arguments are, and these where they began. An op that
/// changes some elements of a value does so in its place. Both if the old elements are not needed.
void MemoryPlan::planUpdates() {
  module_.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto update = dyn_cast<UpdateOpInterface>(op)) {
      OpOperand &updated = op->getOpOperand(update.getUpdatedOperand());
      if (canTakeOver(updated))
        shared_[op->getResult(0)] = updated.get();
      return;
    }
    for (OpOperand &use : op->getOpOperands()) {
      auto carried = carriedBy(use);
      if (!carried)
        continue;
      auto [argument, result] = *carried;
      if (!sizes_.contains(argument) && !sizes_.contains(result) && canTakeOver(use))
        shared_[argument] = use.get();
      shared_[result] = argument;
    }
  });
}

//===- Lifetimes -----------------------------------------------------------===//

LogicalResult MemoryPlan::addInterval(Value value, int64_t begin, int64_t end) {
  auto elements = shapes_.elementBoundOf(value);
  auto dtype = toDType(value.getType());
  if (!elements)
    return emitError(value.getLoc())
           << "expected sizes that have a bound when compiling, found one that only the run knows "
              "(--interpret runs it)";
  int64_t bytes;
  if (llvm::MulOverflow(*elements, int64_t(sizeOf(*dtype)), bytes) || bytes > (int64_t(1) << 46))
    return emitError(value.getLoc())
           << "expected a value that fits into memory, found one of up to " << *elements
           << " elements";
  intervals_.push_back(
      {value, begin, end, std::max<int64_t>(llvm::alignTo(bytes, kAlignment), 64), 0});
  return success();
}

LogicalResult MemoryPlan::addResults(Operation *op) {
  bool isLoop = isa<LoopOpInterface>(op);
  for (OpResult result : op->getResults()) {
    if (isLoop || isa<ViewOpInterface>(op) || places_.contains(result) || shared_.contains(result))
      continue;
    if (op->hasTrait<OpTrait::ConstantLike>()) {
      places_[result] = {Place::Constant, 0, {}};
    } else if (isa<InputOp>(op)) {
      places_[result] = {Place::Bound, 0, {}};
    } else if (failed(addInterval(result, begin_[op],
                                  std::max(end_[op], lastUse(result, op->getBlock()))))) {
      return failure();
    }
  }
  return success();
}

/// Arguments of loops: counters and carried values in the arena, fields given by the runtime.
LogicalResult MemoryPlan::addArguments(Operation *op) {
  auto loop = dyn_cast<LoopOpInterface>(op);
  if (!loop)
    return success();
  Block &body = op->getRegion(0).front();
  for (BlockArgument argument : body.getArguments()) {
    unsigned index = argument.getArgNumber(), leading = loop.getNumLeading();
    if (index >= loop.countsRounds() && index < leading) {
      places_[argument] = {Place::Bound, 0, {}};
      continue;
    }
    int64_t end = end_[op];
    if (index >= leading)
      end = std::max(end, lastUse(op->getResult(index - leading), op->getBlock()));
    if (!shared_.contains(argument) && failed(addInterval(argument, begin_[op], end)))
      return failure();
  }
  return success();
}

void MemoryPlan::pack() {
  // The memory of a size may be that of another value, as a loop's result has that of its argument.
  llvm::DenseSet<Value> kept;
  for (Value size : sizes_)
    kept.insert(rootOf(size));
  for (Interval &interval : intervals_)
    if (kept.contains(interval.value))
      interval.end = next_;
  std::vector<Interval *> order;
  for (Interval &interval : intervals_)
    order.push_back(&interval);
  llvm::sort(order, [](Interval *a, Interval *b) {
    return std::pair(-a->bytes, a->begin) < std::pair(-b->bytes, b->begin);
  });
  std::vector<Interval *> placed;
  for (Interval *interval : order) {
    std::vector<Interval *> near;
    for (Interval *other : placed)
      if (other->begin <= interval->end && interval->begin <= other->end)
        near.push_back(other);
    llvm::sort(near, [](Interval *a, Interval *b) { return a->offset < b->offset; });
    int64_t offset = 0;
    for (Interval *other : near) {
      if (offset + interval->bytes <= other->offset)
        break;
      offset = std::max(offset, other->offset + other->bytes);
    }
    interval->offset = offset;
    bytes_ = std::max(bytes_, offset + interval->bytes);
    placed.push_back(interval);
    places_[interval->value] = {Place::Arena, offset, {}};
  }
}

/// Finds the scalars that are sizes. They may be asked for anywhere below, not by their uses alone:
/// they keep memory of their own.
void MemoryPlan::findSizes() {
  // The analysis learns of a size when it is asked: everything that will be asked is asked now.
  module_.walk([&](Operation *op) {
    for (Value result : op->getResults())
      shapes_.dimsOf(result);
    shapes_.checksOf(op);
  });
  for (const SizeSymbol &symbol : shapes_.symbols())
    if (symbol.isScalar)
      sizes_.insert(rootOf(symbol.value));
}

/// Values of conditions and loops have one size, whichever region they come from.
LogicalResult MemoryPlan::checkRegions() {
  auto result = module_.walk([&](Operation *op) {
    if (!isa<IfOp, LoopOpInterface>(op))
      return WalkResult::advance();
    for (Region &region : op->getRegions())
      for (auto [value, result] :
           llvm::zip(region.front().getTerminator()->getOperands(), op->getResults()))
        if (shapes_.dimsOf(value) != shapes_.dimsOf(result)) {
          op->emitOpError("has no native code for values whose sizes only the run knows and that "
                          "change in its regions");
          return WalkResult::interrupt();
        }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult MemoryPlan::build() {
  if (failed(checkRegions()))
    return failure();
  findSizes();
  number(module_);
  planReads();
  planAssigns();
  planUpdates();
  LogicalResult result = success();
  module_.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (failed(addResults(op)) || failed(addArguments(op))) {
      result = failure();
      return WalkResult::interrupt();
    }
    return isa<FusedOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  if (succeeded(result))
    pack();
  return result;
}

} // namespace pdg
