// Gives each role its own copy of the ops that it runs and of the loops and conditions around them,
// with a Send and a Recv for each value that one role has and another needs.
// SPDX-License-Identifier: Apache-2.0
#include "ir/expr.h"
#include "ir/ops/communication.h"
#include "ir/ops/compare.h"
#include "passes/distribute/insert_send_recv_edges.h"
#include "passes/passes.h"

#include <map>

namespace pdg {
#define GEN_PASS_DEF_INSERTSENDRECV
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

/// Marks the statements of the program with the role that runs them. What is inside of a loop or
/// condition is run by the role of that.
struct PlaceListener : OpBuilder::Listener {
  explicit PlaceListener(RoleAttr role) : role(role) {}
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    if (isa<ProgramOp>(op->getParentOp()))
      op->setAttr("pdg.place", role);
    else
      op->removeAttr("pdg.place");
  }
  RoleAttr role;
};

/// Writes the programs of all roles, each statement of a role where the whole program has it.
class RoleWriter {
public:
  RoleWriter(ProgramOp program, RoleAnalysis &roles, ClusterAttr cluster)
      : program_(program), roles_(roles), cluster_(cluster), names_(program, roles) {}
  void rewrite();
  ArrayRef<Attribute> edges() const { return names_.edges(); }

private:
  /// Where each role that takes part writes.
  using Builders = std::map<RoleId, OpBuilder>;
  /// A role's copy of a loop or condition.
  struct Copy {
    RoleId role;
    Operation *op;
    SmallVector<unsigned> slots; ///< Of the results of the whole program's op, those it has.
    SmallVector<OpBuilder> bodies;
    Value round, goesOn; ///< Of a server's copy of a loop over batches.
  };

  Value valueAt(Value value, RoleId role) const { return copies_.lookup({value, role}); }
  SmallVector<Value> valuesAt(ValueRange values, RoleId role) const;
  OpBuilder builderAt(Block *block, RoleId role);
  void writeBlock(Block &block, Builders &at);
  void writeOp(Operation *op, Builders &at);
  Operation *cloneFor(Operation *op, RoleId role, OpBuilder b);
  void writeForFirst(Operation *op, OpBuilder &b);
  void joinParts(Operation *op, Builders &at);
  bool hasSizes(Value value);
  void sendOnward(Value value, Builders &at);
  Value receive(OpBuilder &b, Value value, RoleId to, EdgeAttr edge);
  void writeControl(Operation *op, Builders &at);
  Copy copyControl(Operation *op, RoleId role, OpBuilder &b);
  Copy followRounds(Operation *op, RoleId role, Builders &at);
  void tellRounds(Operation *op, ArrayRef<Copy> copies, OpBuilder b, bool goesOn);
  void finishRegion(Operation *op, Copy &copy, unsigned region);
  Block *addBody(Operation *op, Region &region, Copy &copy, unsigned leading);

  ProgramOp program_;
  RoleAnalysis &roles_;
  ClusterAttr cluster_;
  EdgeNames names_;
  std::map<RoleId, PlaceListener> listeners_;
  DenseMap<std::pair<Value, RoleId>, Value> copies_;
  DenseMap<std::pair<Operation *, RoleId>, EdgeAttr> rounds_; ///< Of loops over batches.
  Value isFirst_; ///< Whether this is the first trainer.
  int64_t regions_ = 0;
};

SmallVector<Value> RoleWriter::valuesAt(ValueRange values, RoleId role) const {
  return llvm::map_to_vector(values, [&](Value value) { return valueAt(value, role); });
}

OpBuilder RoleWriter::builderAt(Block *block, RoleId role) {
  auto &listener =
      listeners_.try_emplace(role, roleAttr(role, program_.getContext())).first->second;
  OpBuilder b(program_.getContext(), &listener);
  b.setInsertionPointToEnd(block);
  return b;
}

//===- Values that cross ---------------------------------------------------===//

/// The op of `role` that takes the next `value` from `edge`.
Value RoleWriter::receive(OpBuilder &b, Value value, RoleId to, EdgeAttr edge) {
  auto type = cast<RankedTensorType>(value.getType());
  auto recv = RecvOp::create(b, value.getLoc(), type, edge, valuesAt(roles_.sizesOf(value), to),
                             b.getDenseI64ArrayAttr(type.getShape()));
  if (isSizeTensor(type))
    if (std::optional<int64_t> bound = roles_.boundOf(value))
      recv->setAttr(kBoundAttribute, b.getI64IntegerAttr(*bound));
  return recv;
}

void RoleWriter::sendOnward(Value value, Builders &at) {
  RoleId from = roles_.placeOf(value);
  if (from == Anywhere)
    return;
  for (RoleId to : roles_.needing(value)) {
    if (to == from)
      continue;
    EdgeAttr edge = names_.edgeOf(value, to);
    SendOp::create(at.at(from), value.getLoc(), valueAt(value, from), edge);
    copies_[{value, to}] = receive(at.at(to), value, to, edge);
  }
}

void RoleWriter::joinParts(Operation *op, Builders &at) {
  RoleId hub = roles_.placeOf(op->getResult(0));
  // One trainer has all that there is.
  if (!joinsTrainers(op)) {
    copies_[{op->getResult(0), hub}] = valueAt(op->getOperand(0), hub);
    return;
  }
  EdgeAttr edge = names_.partsOf(op, hub);
  SendOp::create(at.at(TrainerRole), op->getLoc(), valueAt(op->getOperand(0), TrainerRole), edge);
  OpBuilder &b = at.at(hub);
  Value joined = cast<CollectiveOpInterface>(op).receiveParts(b, edge);
  if (joined) {
    Operation *receiver = joined.getDefiningOp();
    receiver->setOperands(valuesAt(receiver->getOperands(), hub));
  } else {
    // The sizes are those of the parts.
    auto sum = cast<AllReduceOp>(op);
    auto type = cast<RankedTensorType>(sum.getType());
    joined = AccumulateOp::create(b, op->getLoc(), type, edge, sum.getKind(), sum.getOf(),
                                  valuesAt(roles_.sizesOf(sum.getX()), hub),
                                  b.getDenseI64ArrayAttr(type.getShape()));
  }
  copies_[{op->getResult(0), hub}] = joined;
}

//===- Ops -----------------------------------------------------------------===//

/// A copy of `op` for `role`, and its results.
Operation *RoleWriter::cloneFor(Operation *op, RoleId role, OpBuilder b) {
  IRMapping mapping;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Value copy = valueAt(operand, role))
        mapping.map(operand, copy);
  });
  Operation *clone = b.clone(*op, mapping);
  for (auto [result, copy] : llvm::zip(op->getResults(), clone->getResults()))
    copies_[{result, role}] = copy;
  return clone;
}

/// Whether the outside sees what `op` does.
static bool isSeenOutside(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  SmallVector<MemoryEffects::EffectInstance> instances;
  if (effects)
    effects.getEffects(instances);
  return llvm::any_of(instances, [](const MemoryEffects::EffectInstance &effect) {
    return effect.getResource() == OutsideResource::get();
  });
}

/// All trainers have the values; the first one prints them.
void RoleWriter::writeForFirst(Operation *op, OpBuilder &b) {
  Location loc = program_.getLoc();
  if (!isFirst_) {
    Block *top = &program_.getBody().front();
    OpBuilder begin = builderAt(top, TrainerRole);
    begin.setInsertionPointToStart(top);
    Value replica = ReplicaOp::create(begin, loc), zero = sizeConstant(begin, loc, 0);
    isFirst_ = EqOp::create(begin, loc, replica, zero);
  }
  auto branch = IfOp::create(b, op->getLoc(), TypeRange(), isFirst_);
  for (Region &region : branch->getRegions()) {
    OpBuilder end = OpBuilder::atBlockEnd(&region.emplaceBlock());
    YieldOp::create(end, op->getLoc());
  }
  OpBuilder inside = builderAt(&branch.getThenRegion().front(), TrainerRole);
  inside.setInsertionPointToStart(&branch.getThenRegion().front());
  cloneFor(op, TrainerRole, inside);
}

void RoleWriter::writeOp(Operation *op, Builders &at) {
  if (isLoopOrCondition(op)) {
    writeControl(op, at);
  } else if (cluster_.getTrainers() > 1 && isSeenOutside(op) &&
             roles_.rolesOf(op).contains(TrainerRole)) {
    writeForFirst(op, at.at(TrainerRole));
  } else {
    for (RoleId role : roles_.rolesOf(op))
      if (isa<CollectiveOpInterface>(op))
        joinParts(op, at);
      else
        cloneFor(op, role, at.at(role));
  }
}

/// Whether all roles that need `value` know its sizes already.
bool RoleWriter::hasSizes(Value value) {
  RoleId from = roles_.placeOf(value);
  return from == Anywhere || llvm::all_of(roles_.needing(value), [&](RoleId to) {
           return to == from || llvm::all_of(valuesAt(roles_.sizesOf(value), to),
                                             [](Value size) { return size; });
         });
}

void RoleWriter::writeBlock(Block &block, Builders &at) {
  // A size may be asked of the value itself, by an op behind it, and travels first.
  SmallVector<Value> unsent(block.getArguments());
  auto sendKnown = [&] {
    for (size_t before = unsent.size() + 1; unsent.size() < before;) {
      before = unsent.size();
      llvm::erase_if(unsent, [&](Value value) {
        bool isKnown = hasSizes(value);
        if (isKnown)
          sendOnward(value, at);
        return isKnown;
      });
    }
  };
  sendKnown();
  for (Operation &op : block.without_terminator()) {
    writeOp(&op, at);
    llvm::append_range(unsent, op.getResults());
    sendKnown();
  }
}

//===- Loops and conditions ------------------------------------------------===//

/// Gives the copy a block with the first arguments of the whole program's one, and those carried
/// values that the copy has.
Block *RoleWriter::addBody(Operation *op, Region &region, Copy &copy, unsigned leading) {
  Block &whole = op->getRegion(region.getRegionNumber()).front();
  Block *body = &region.emplaceBlock();
  for (unsigned i = 0; i < leading; ++i)
    copies_[{whole.getArgument(i), copy.role}] =
        body->addArgument(whole.getArgument(i).getType(), op->getLoc());
  if (auto loop = dyn_cast<LoopOpInterface>(op))
    for (unsigned slot : copy.slots)
      copies_[{loop.getCarried(slot), copy.role}] =
          body->addArgument(loop.getCarried(slot).getType(), op->getLoc());
  return body;
}

RoleWriter::Copy RoleWriter::copyControl(Operation *op, RoleId role, OpBuilder &b) {
  Copy copy{role, nullptr, {}, {}, {}, {}};
  OperationState state(op->getLoc(), op->getName());
  auto loop = dyn_cast<LoopOpInterface>(op);
  state.addOperands(valuesAt(ownOperands(op), role));
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    RoleId place = roles_.placeOf(result);
    if (!roles_.needing(result).contains(role) || (place != role && place != Anywhere))
      continue;
    copy.slots.push_back(i);
    state.addTypes(result.getType());
    if (loop)
      state.addOperands(valueAt(loop.getInit(i), role));
  }
  for (NamedAttribute attribute : op->getAttrs())
    if (!attribute.getName().getValue().starts_with("pdg."))
      state.addAttribute(attribute.getName(), attribute.getValue());
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  copy.op = b.create(state);
  for (Region &region : copy.op->getRegions())
    copy.bodies.push_back(
        builderAt(addBody(op, region, copy, loop ? loop.getNumLeading() : 0), role));
  return copy;
}

/// A server's copy of a loop over batches: the trainers say whether there is another round.
RoleWriter::Copy RoleWriter::followRounds(Operation *op, RoleId role, Builders &at) {
  Copy copy{role, nullptr, {}, {}, {}, {}};
  auto loop = cast<LoopOpInterface>(op);
  OpBuilder &b = at.at(role);
  Location loc = op->getLoc();
  SmallVector<Value> inits;
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    if (roles_.needing(result).contains(role) &&
        (roles_.placeOf(result) == role || roles_.placeOf(result) == Anywhere)) {
      copy.slots.push_back(i);
      inits.push_back(valueAt(loop.getInit(i), role));
    }
  Value counter = loop.countsRounds() ? op->getRegion(0).getArgument(0) : Value();
  bool counts = counter && roles_.needing(counter).contains(role);
  if (counts)
    inits.push_back(sizeConstant(b, loc, 0));
  auto forever = LoopForeverOp::create(b, loc, TypeRange(ValueRange(inits)), inits);
  copy.op = forever;
  Block *body = addBody(op, forever.getBody(), copy, 0);
  if (counts)
    copy.round = copies_[{counter, role}] = body->addArgument(inits.back().getType(), loc);
  OpBuilder inside = builderAt(body, role);
  EdgeAttr edge = rounds_[{op, role}] = names_.roundsOf(op, role);
  auto condition = RankedTensorType::get({}, b.getI1Type());
  copy.goesOn =
      RecvOp::create(inside, loc, condition, edge, ValueRange(), b.getDenseI64ArrayAttr({}));
  auto branch = IfOp::create(inside, loc, forever.getResultTypes(), copy.goesOn);
  copy.bodies.push_back(builderAt(&branch.getThenRegion().emplaceBlock(), role));
  OpBuilder end = builderAt(&branch.getElseRegion().emplaceBlock(), role);
  YieldOp::create(end, loc, body->getArguments());
  YieldOp::create(inside, loc, branch.getResults(), copy.goesOn);
  return copy;
}

/// The trainers tell each server that follows the loop whether there is another round.
void RoleWriter::tellRounds(Operation *op, ArrayRef<Copy> copies, OpBuilder b, bool goesOn) {
  Value message;
  for (const Copy &copy : copies) {
    if (copy.role == TrainerRole)
      continue;
    if (!message)
      message = scalarConstant(b, op->getLoc(), b.getI1Type(), goesOn);
    SendOp::create(b, op->getLoc(), message, rounds_.lookup({op, copy.role}));
  }
}

void RoleWriter::finishRegion(Operation *op, Copy &copy, unsigned region) {
  Block &whole = op->getRegion(region).front();
  OpBuilder &b = copy.bodies[region];
  SmallVector<Value> values;
  for (unsigned slot : copy.slots)
    values.push_back(valueAt(yieldedValues(whole)[slot], copy.role));
  if (copy.round) {
    Location loc = op->getLoc();
    values.push_back(
        (TensorExpr{b, loc, copy.round} + TensorExpr{b, loc, sizeConstant(b, loc, 1)}).value);
  }
  Value goesOn = goesOnOf(whole);
  YieldOp::create(b, op->getLoc(), values,
                  goesOn && !copy.goesOn ? valueAt(goesOn, copy.role) : Value());
}

void RoleWriter::writeControl(Operation *op, Builders &at) {
  SmallVector<Copy> copies;
  for (RoleId role : roles_.rolesOf(op))
    copies.push_back(isDataLoop(op) && role != TrainerRole ? followRounds(op, role, at)
                                                           : copyControl(op, role, at.at(role)));
  if (copies.empty())
    return;
  if (copies.size() > 1) {
    for (Copy &copy : copies) {
      Builder b(op->getContext());
      copy.op->setAttr("pdg.region", b.getI64IntegerAttr(regions_));
      if (op->getNumResults())
        copy.op->setAttr("pdg.slots",
                         b.getDenseI64ArrayAttr(llvm::to_vector_of<int64_t>(copy.slots)));
    }
    ++regions_;
  }
  for (unsigned region = 0; region < op->getNumRegions(); ++region) {
    Builders inside;
    for (Copy &copy : copies)
      inside.emplace(copy.role, copy.bodies[region]);
    if (isDataLoop(op))
      tellRounds(op, copies, inside.at(TrainerRole), true);
    writeBlock(op->getRegion(region).front(), inside);
    for (Copy &copy : copies)
      finishRegion(op, copy, region);
  }
  if (isDataLoop(op))
    tellRounds(op, copies, at.at(TrainerRole), false);
  for (Copy &copy : copies)
    for (auto [slot, result] : llvm::zip(copy.slots, copy.op->getResults()))
      copies_[{op->getResult(slot), copy.role}] = result;
}

void RoleWriter::rewrite() {
  Block *whole = &program_.getBody().front();
  Block *top = new Block;
  program_.getBody().push_front(top);
  Builders at;
  for (RoleId role = 0; role <= cluster_.getServers(); ++role)
    at.emplace(role, builderAt(top, role));
  writeBlock(*whole, at);
  OpBuilder end = OpBuilder::atBlockEnd(top);
  YieldOp::create(end, whole->getTerminator()->getLoc());
  whole->dropAllReferences();
  whole->erase();
}

//===- The pass ------------------------------------------------------------===//

struct InsertSendRecvPass : impl::InsertSendRecvBase<InsertSendRecvPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    ClusterAttr cluster = ClusterAttr::of(module);
    if (!cluster) {
      module.emitError("expects the attribute 'pdg.cluster', which says what to cut for");
      return signalPassFailure();
    }
    for (auto program : llvm::make_early_inc_range(module.getOps<ProgramOp>())) {
      RoleAnalysis roles(cluster);
      if (failed(roles.run(program)))
        return signalPassFailure();
      RoleWriter writer(program, roles, cluster);
      writer.rewrite();
      module->setAttr("pdg.edges", ArrayAttr::get(module.getContext(), writer.edges()));
    }
  }
};

} // namespace
} // namespace pdg
