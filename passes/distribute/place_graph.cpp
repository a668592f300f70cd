// Builds the graph, and finds by walking until nothing changes which values differ among trainers,
// which everybody can compute, and which are on servers by themselves.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/place_graph.h"
#include "ir/ops/communication.h"
#include "ir/ops/variable.h"

using namespace mlir;

namespace pdg {

bool isLoopOrCondition(Operation *op) { return isa<IfOp, LoopOpInterface>(op); }

bool joinsTrainers(Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  return collective && collective.getCount() > 1;
}

bool isOneElement(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.hasStaticShape() && type.getNumElements() == 1;
}

ValueRange PlaceNode::results() const {
  return isSlot() ? ValueRange(op->getResults().slice(slot, 1)) : ValueRange(op->getResults());
}

//===- Nodes ---------------------------------------------------------------===//

Value PlaceGraph::canonical(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return value;
  auto loop = dyn_cast<LoopOpInterface>(argument.getOwner()->getParentOp());
  if (!loop || argument.getArgNumber() < loop.getNumLeading())
    return value;
  return loop->getResult(argument.getArgNumber() - loop.getNumLeading());
}

/// Whether an element of the result needs as many elements of the operands, however large they are.
static bool isElementWise(Operation *op) {
  return isa<ElementOpInterface, ViewOpInterface>(op) ||
         (llvm::all_of(op->getOperands(), isOneElement) &&
          llvm::all_of(op->getResults(), isOneElement));
}

void PlaceGraph::addOp(Operation *op) {
  PlaceNode &node = nodes_.emplace_back();
  node.op = op;
  for (Value operand : op->getOperands())
    node.operands.push_back(canonical(operand));
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!region.isAncestor(operand.getParentRegion()))
          node.operands.push_back(canonical(operand));
    });
  node.isElementWise = isElementWise(op);
  node.isAnywhere = (node.isElementWise || node.operands.empty()) && op->getNumResults() &&
                    isPure(op) && !isa<InputOp, SourceSizeOp, CollectiveOpInterface>(op);
  for (Value result : op->getResults())
    producers_[result] = nodes_.size() - 1;
}

void PlaceGraph::addSlots(Operation *op) {
  auto loop = dyn_cast<LoopOpInterface>(op);
  SmallVector<Value> condition;
  for (Value operand : op->getOperands().drop_back(loop ? op->getNumResults() : 0))
    condition.push_back(canonical(operand));
  for (Region &region : op->getRegions())
    if (Value goesOn = cast<YieldOp>(region.front().getTerminator()).getGoesOn())
      condition.push_back(canonical(goesOn));
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    PlaceNode &node = nodes_.emplace_back();
    node.op = op;
    node.slot = i;
    node.condition = condition;
    node.isElementWise = node.isAnywhere = true;
    if (loop)
      node.operands.push_back(canonical(loop.getInit(i)));
    for (Region &region : op->getRegions())
      node.operands.push_back(
          canonical(cast<YieldOp>(region.front().getTerminator()).getValues()[i]));
    producers_[op->getResult(i)] = nodes_.size() - 1;
  }
}

void PlaceGraph::addBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (!isLoopOrCondition(&op)) {
      addOp(&op);
      continue;
    }
    addSlots(&op);
    for (Region &region : op.getRegions())
      addBlock(region.front());
  }
}

PlaceGraph::PlaceGraph(ProgramOp program) {
  for (auto variable : program->getParentOfType<ModuleOp>().getOps<VariableOp>())
    if (variable.getParam())
      params_.insert(variable.getName());
  addBlock(program.getBody().front());
  while (spreadVarying())
    ;
  while (spreadPlaced())
    ;
  while (spreadJoined())
    ;
}

//===- What is known of values ---------------------------------------------===//

int PlaceGraph::producerOf(Value value) const {
  auto found = producers_.find(value);
  return found == producers_.end() ? -1 : found->second;
}

bool PlaceGraph::isVarying(Value value) const {
  int producer = producerOf(value);
  return producer >= 0 && nodes_[producer].isVarying;
}

bool PlaceGraph::isAnywhere(Value value) const {
  if (int producer = producerOf(value); producer >= 0)
    return nodes_[producer].isAnywhere;
  // Who runs a loop counts its rounds; only trainers read data.
  auto argument = cast<BlockArgument>(value);
  auto loop = dyn_cast<LoopOpInterface>(argument.getOwner()->getParentOp());
  return loop && loop.countsRounds() && argument.getArgNumber() == 0;
}

/// Goes once through the nodes; true if something changed.
bool PlaceGraph::spreadVarying() {
  bool changed = false;
  auto varies = [&](Value value) { return isVarying(value); };
  for (PlaceNode &node : nodes_) {
    if (node.isVarying || (!node.isSlot() && joinsTrainers(node.op)))
      continue;
    node.isVarying = (!node.isSlot() && isa<ReplicaOp>(node.op)) ||
                     llvm::any_of(node.operands, varies) || llvm::any_of(node.condition, varies);
    changed |= node.isVarying;
  }
  return changed;
}

/// Takes out of what everybody could compute what depends on something else.
bool PlaceGraph::spreadPlaced() {
  bool changed = false;
  auto isFree = [&](Value value) { return isAnywhere(value); };
  for (PlaceNode &node : nodes_) {
    if (!node.isAnywhere || (!node.isVarying && llvm::all_of(node.operands, isFree) &&
                             llvm::all_of(node.condition, isFree)))
      continue;
    node.isAnywhere = false;
    changed = true;
  }
  return changed;
}

/// What servers have by themselves: states, and values that were joined.
bool PlaceGraph::isJoinedRoot(const PlaceNode &node) const {
  if (node.isSlot())
    return false;
  auto read = dyn_cast<ReadOp>(node.op);
  return joinsTrainers(node.op) || (read && !params_.contains(read.getName()));
}

bool PlaceGraph::spreadJoined() {
  bool changed = false;
  auto isJoined = [&](Value value) {
    int producer = producerOf(value);
    return producer >= 0 && nodes_[producer].isJoined;
  };
  auto isThere = [&](Value value) {
    int producer = producerOf(value);
    return isAnywhere(value) || isJoined(value) ||
           (producer >= 0 && isa<ReadOp>(nodes_[producer].op));
  };
  for (PlaceNode &node : nodes_) {
    if (node.isJoined || node.isVarying || node.isAnywhere)
      continue;
    node.isJoined =
        isJoinedRoot(node) || (llvm::any_of(node.operands, isJoined) &&
                               (node.isElementWise || llvm::all_of(node.operands, isThere)));
    changed |= node.isJoined;
  }
  return changed;
}

//===- Costs ---------------------------------------------------------------===//

int64_t PlaceGraph::bytesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t bytes = sizeOf(*toDType(type));
  if (!type.hasStaticShape())
    if (std::optional<int64_t> elements = shapes_.elementBoundOf(value))
      return llvm::MulOverflow(bytes, *elements, bytes) ? int64_t(1) << 40 : bytes;
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow<int64_t>(bytes, ShapedType::isDynamic(size) ? 1024 : size, bytes))
      return int64_t(1) << 40;
  return bytes;
}

int64_t PlaceGraph::frequencyOf(Operation *op) {
  int64_t times = 1;
  for (op = op->getParentOp(); op && times < (1 << 16); op = op->getParentOp())
    if (isa<LoopOpInterface>(op))
      times *= 16;
  return times;
}

} // namespace pdg
