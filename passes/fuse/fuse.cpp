// Groups element ops of equal sizes into pdg.fused regions, each one pass over memory.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "ir/dims.h"
#include "ir/ops/control.h"
#include "ir/ops/effects.h"
#include "ir/ops/variable.h"
#include "passes/passes.h"

namespace pdg {
#define GEN_PASS_DEF_FUSE
#define GEN_PASS_DEF_SINKASSIGNS
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

//===- Sinking assignments -------------------------------------------------===//

/// True if `op` reads or assigns `name`, perhaps inside a region.
bool touches(Operation &op, Attribute name) {
  return op
      .walk([&](Operation *inner) {
        auto read = dyn_cast<ReadOp>(inner);
        auto assign = dyn_cast<AssignOp>(inner);
        bool hit = (read && read.getName() == name) || (assign && assign.getName() == name);
        return hit ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

struct SinkAssignsPass : impl::SinkAssignsBase<SinkAssignsPass> {
  void runOnOperation() override {
    SmallVector<AssignOp> assigns;
    getOperation()->walk([&](AssignOp op) { assigns.push_back(op); });
    // Later ones first, so that assignments keep their order.
    for (AssignOp op : llvm::reverse(assigns)) {
      Operation *last = op;
      for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
        if (next->hasTrait<OpTrait::IsTerminator>() || isa<AssignOp>(next) ||
            touches(*next, op.getName()))
          break;
        last = next;
      }
      if (last != op)
        op->moveAfter(last);
    }
  }
};

//===- Fusing --------------------------------------------------------------===//

/// Ops of equal sizes that will be computed together, at the place of the last one.
struct Group {
  Dims sizes;
  SmallVector<Operation *> ops;
  llvm::SmallDenseSet<Operation *> members;
};

class BlockFuser {
public:
  BlockFuser(Block &block, ShapeAnalysis &shapes) : block_(block), shapes_(shapes) {}

  /// Fuses the block; returns the number of groups.
  int64_t run() {
    for (Operation &op : block_)
      if (isObservable(&op))
        observable_.insert(&op);
    for (Operation &op : block_)
      if (auto element = dyn_cast<ElementOpInterface>(&op); element && !isCheap(element))
        place(element);
    for (Group &group : groups_)
      build(group);
    fuseCheapLeftovers();
    return groups_.size();
  }

private:
  /// The op of this block in or below which `op` is; null if it is elsewhere.
  Operation *inThisBlock(Operation *op) { return block_.findAncestorOpInBlock(*op); }

  /// True if `op` may stop the run when sizes or elements are not what it needs.
  bool mayFail(Operation *op) {
    auto checked = dyn_cast<CheckedOpInterface>(op);
    return (checked && checked.getRunCheck()) || !shapes_.checksOf(op).empty();
  }

  /// True if it matters whether `op` runs before or after something fails.
  bool isObservable(Operation *op) {
    return op
        ->walk([&](Operation *inner) {
          // A loop without a bound may never end.
          auto loop = dyn_cast<ForOp>(inner);
          return (loop && !loop.getBound()) ||
                         isa<PrintOp, AssertOp, ForEachOp, SourceSizeOp>(inner) || mayFail(inner)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// True for ops that are copied to where they are used. One that may fail stays in its place.
  bool isCheap(ElementOpInterface op) { return op && op.isCheap() && !observable_.contains(op); }

  /// True if a member of the group may fail, which would be seen after what `op` is behind.
  bool failsTooLate(const Group &group, Operation *op) {
    if (llvm::none_of(group.ops, [&](Operation *member) { return observable_.contains(member); }))
      return false;
    for (Operation *at = group.ops.back()->getNextNode(); at && at != op; at = at->getNextNode())
      if (observable_.contains(at))
        return true;
    return false;
  }

  /// The operand whose elements are looked at before `op` runs, so that it must be in memory.
  OpOperand *checkedOperand(Operation *op) {
    auto checked = dyn_cast<CheckedOpInterface>(op);
    auto check = checked ? checked.getRunCheck() : std::nullopt;
    return check ? &op->getOpOperand(check->operand) : nullptr;
  }

  /// True if a value of the group is used between the group and `op`: it cannot move down to `op`.
  bool isUsedBefore(const Group &group, Operation *op) {
    for (Operation *member : group.ops)
      for (Operation *user : member->getUsers()) {
        Operation *at = inThisBlock(user);
        if (at && at != op && !group.members.contains(at) && at->isBeforeInBlock(op) &&
            !isCheapUse(at, group, op))
          return true;
      }
    return false;
  }

  /// A cheap op is copied to where it is used, so only its own uses count.
  bool isCheapUse(Operation *at, const Group &group, Operation *op) {
    if (!isCheap(dyn_cast<ElementOpInterface>(at)))
      return false;
    for (Operation *user : at->getUsers()) {
      Operation *place = inThisBlock(user);
      if (place && place != op && place->isBeforeInBlock(op))
        return false;
    }
    return true;
  }

  /// True if variables may change between the group's last op and `op`.
  bool isAssignedBetween(const Group &group, Operation *op) {
    for (Operation *at = group.ops.back()->getNextNode(); at && at != op; at = at->getNextNode())
      if (at->walk([](AssignOp) { return WalkResult::interrupt(); }).wasInterrupted())
        return true;
    return false;
  }

  /// True if `op` reads a value of the group, perhaps through cheap ops.
  bool dependsOn(Operation *op, const Group &group) {
    return llvm::any_of(op->getOperands(),
                        [&](Value operand) { return comesFrom(operand, group); });
  }

  bool comesFrom(Value value, const Group &group) {
    Operation *from = value.getDefiningOp();
    if (!from)
      return false;
    return group.members.contains(from) ||
           (isCheap(dyn_cast<ElementOpInterface>(from)) && dependsOn(from, group));
  }

  void place(ElementOpInterface op) {
    Dims sizes = shapes_.dimsOf(op->getResult(0));
    // The latest fitting group: moving an early one down would keep its operands alive longer.
    for (Group &group : llvm::reverse(groups_)) {
      if (group.sizes != sizes || isUsedBefore(group, op) || isAssignedBetween(group, op) ||
          failsTooLate(group, op))
        continue;
      // Elements that are checked first are in memory before the group begins.
      if (OpOperand *checked = checkedOperand(op); checked && comesFrom(checked->get(), group))
        continue;
      // An op that reads elsewhere than at its own index needs its operands in memory.
      if (dependsOn(op, group) && !readsAtOwnIndex(op, group))
        continue;
      group.ops.push_back(op);
      group.members.insert(op);
      return;
    }
    Group group{sizes, {op}, {}};
    group.members.insert(op);
    groups_.push_back(group);
  }

  /// True if `op` reads values of the group at its own index only.
  bool readsAtOwnIndex(ElementOpInterface op, const Group &group) {
    if (!op.isPointwise())
      return false;
    // Through a cheap op (a broadcast) the index may change.
    for (Value operand : op->getOperands()) {
      Operation *from = operand.getDefiningOp();
      if (from && !group.members.contains(from) && dependsOnCheaply(from, group))
        return false;
    }
    return true;
  }

  bool dependsOnCheaply(Operation *from, const Group &group) {
    return isCheap(dyn_cast<ElementOpInterface>(from)) && dependsOn(from, group);
  }

  /// Copies the cheap ops behind `operand` into the region at `b`.
  Value copyCheap(OpBuilder &b, Value operand, IRMapping &map) {
    if (map.contains(operand))
      return map.lookup(operand);
    auto from = operand.getDefiningOp<ElementOpInterface>();
    if (!isCheap(from))
      return operand;
    for (Value inner : from->getOperands()) {
      Value copy = copyCheap(b, inner, map);
      if (copy != inner)
        map.map(inner, copy);
    }
    return b.clone(*from, map)->getResult(0);
  }

  void build(const Group &group) {
    SmallVector<Value> outputs;
    for (Operation *op : group.ops)
      for (Operation *user : op->getUsers())
        if (!group.members.contains(user)) {
          outputs.push_back(op->getResult(0));
          break;
        }
    OpBuilder b(group.ops.back());
    auto types = llvm::map_to_vector(outputs, [](Value v) { return v.getType(); });
    auto fused = FusedOp::create(b, group.ops.front()->getLoc(), types);
    if (fused.getBody().empty())
      fused.getBody().emplaceBlock();
    fused.getBody().front().clear();
    OpBuilder inner = OpBuilder::atBlockBegin(&fused.getBody().front());
    IRMapping map;
    for (Operation *op : group.ops) {
      OpOperand *checked = checkedOperand(op);
      for (OpOperand &operand : op->getOpOperands()) {
        if (&operand == checked)
          continue;
        Value copy = copyCheap(inner, operand.get(), map);
        if (copy != operand.get())
          map.map(operand.get(), copy);
      }
      Operation *copy = inner.clone(*op, map);
      if (checked)
        copy->setOperand(checked->getOperandNumber(), checked->get());
      map.map(op->getResult(0), copy->getResult(0));
    }
    YieldOp::create(inner, fused.getLoc(),
                    llvm::map_to_vector(outputs, [&](Value v) { return map.lookup(v); }));
    for (auto [output, result] : llvm::zip(outputs, fused.getResults()))
      output.replaceAllUsesWith(result);
    for (Operation *op : llvm::reverse(group.ops))
      op->erase();
  }

  /// Cheap ops that something other than an element op uses are kept in memory.
  void fuseCheapLeftovers() {
    SmallVector<Operation *> left;
    for (Operation &op : block_)
      if (isa<ElementOpInterface>(&op))
        left.push_back(&op);
    for (Operation *op : llvm::reverse(left)) {
      if (op->use_empty()) {
        op->erase();
        continue;
      }
      // Its operands may come from a group that has moved down, so it moves to its first user.
      Operation *first = nullptr;
      for (Operation *user : op->getUsers())
        if (Operation *at = inThisBlock(user); at && (!first || at->isBeforeInBlock(first)))
          first = at;
      op->moveBefore(first);
      Group group{{}, {op}, {}};
      group.members.insert(op);
      build(group);
    }
  }

  Block &block_;
  ShapeAnalysis &shapes_;
  std::vector<Group> groups_;
  DenseSet<Operation *> observable_; ///< Ops whose order can be told from outside.
};

struct FusePass : impl::FuseBase<FusePass> {
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation()->walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          if (!isa<ModuleOp, FusedOp>(op)) // what is fused already stays as it is
            blocks.push_back(&block);
    });
    for (Block *block : blocks) {
      // What the analysis knows of ops of other blocks ends when they are fused.
      ShapeAnalysis shapes;
      numKernels += BlockFuser(*block, shapes).run();
    }
  }
};

} // namespace
} // namespace pdg
