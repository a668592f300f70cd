// Finds who runs what, backwards from the ops with effects.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/insert_send_recv_roles.h"

#include "ir/ops/communication.h"
#include "ir/ops/shape.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace pdg {

RoleId roleId(RoleAttr role) {
  if (role.isAnywhere())
    return Anywhere;
  return role.isServer() ? static_cast<RoleId>(1 + role.getIndex()) : TrainerRole;
}

RoleAttr roleAttr(RoleId role, MLIRContext *context) {
  if (role == Anywhere)
    return RoleAttr::get(context, RoleKind::Anywhere);
  return role == TrainerRole ? RoleAttr::get(context, RoleKind::Trainer)
                             : RoleAttr::get(context, RoleKind::Server, role - 1);
}

bool RoleSet::insert(RoleId role) {
  auto place = llvm::lower_bound(roles_, role);
  if (place != roles_.end() && *place == role)
    return false;
  roles_.insert(place, role);
  return true;
}

bool isDataLoop(Operation *op) {
  auto loop = dyn_cast<LoopOpInterface>(op);
  return loop && loop.getNumFields() > 0;
}

Value goesOnOf(Block &block) { return cast<YieldOp>(block.getTerminator()).getGoesOn(); }

/// Whether running `op` can be seen from outside, so that it is run though nobody uses its results.
static bool hasEffect(Operation *op) {
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects = getEffectsRecursively(op);
  return !effects || llvm::any_of(*effects, [](const MemoryEffects::EffectInstance &effect) {
    return !isa<MemoryEffects::Read>(effect.getEffect());
  });
}

//===- Places --------------------------------------------------------------===//

RoleId RoleAnalysis::placeOfSlot(Operation *control, unsigned index) const {
  auto places = control->getAttrOfType<ArrayAttr>("pdg.places");
  if (!places || index >= places.size())
    return TrainerRole;
  return roleId(cast<RoleAttr>(places[index]));
}

/// The place that an op without regions was given.
static RoleId givenPlace(Operation *op) {
  auto place = op->getAttrOfType<RoleAttr>("pdg.place");
  RoleId role = place ? roleId(place) : TrainerRole;
  return role == Anywhere && hasEffect(op) ? TrainerRole : role;
}

RoleId RoleAnalysis::placeOf(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = cast<LoopOpInterface>(argument.getOwner()->getParentOp());
    unsigned index = argument.getArgNumber();
    if (index >= loop.getNumLeading())
      return placeOfSlot(loop, index - loop.getNumLeading());
    // Everybody counts; only trainers have the data.
    return index == 0 && loop.countsRounds() ? Anywhere : TrainerRole;
  }
  Operation *op = value.getDefiningOp();
  if (isLoopOrCondition(op))
    return placeOfSlot(op, cast<OpResult>(value).getResultNumber());
  auto hub = hubs_.find(op);
  return hub == hubs_.end() ? givenPlace(op) : hub->second;
}

//===- Hubs ----------------------------------------------------------------===//

/// The server that uses the results of `op` most, or the one that has joined the least so far.
RoleId RoleAnalysis::chooseHub(Operation *op) {
  SmallVector<int64_t> uses(cluster_.getServers());
  bool hasServer = false;
  for (OpOperand &use : op->getUses()) {
    Operation *user = use.getOwner();
    RoleId role = Anywhere;
    if (auto yield = dyn_cast<YieldOp>(user);
        yield && use.getOperandNumber() < yield.getValues().size())
      role = placeOfSlot(yield->getParentOp(), use.getOperandNumber());
    else if (auto loop = dyn_cast<LoopOpInterface>(user))
      role = placeOfSlot(user,
                         use.getOperandNumber() - (user->getNumOperands() - user->getNumResults()));
    else if (!isLoopOrCondition(user) && !isa<YieldOp>(user))
      role = givenPlace(user);
    if (role == Anywhere || role == TrainerRole || role > uses.size())
      continue;
    ++uses[role - 1];
    hasServer = true;
  }
  if (hasServer)
    return 1 + (llvm::max_element(uses) - uses.begin());
  return 1 + (llvm::min_element(hubLoads_) - hubLoads_.begin());
}

void RoleAnalysis::findHubs(ProgramOp program) {
  hubLoads_.assign(cluster_.getServers(), 0);
  if (hubLoads_.empty())
    return;
  program.walk([&](Operation *op) {
    if (!joinsTrainers(op))
      return;
    RoleId hub = chooseHub(op);
    hubs_[op] = hub;
    std::optional<int64_t> elements = shapes_.elementBoundOf(op->getResult(0));
    int64_t bits = getElementTypeOrSelf(op->getResult(0).getType()).getIntOrFloatBitWidth();
    hubLoads_[hub - 1] += elements.value_or(1) * std::max<int64_t>(bits / 8, 1);
  });
}

//===- Needs ---------------------------------------------------------------===//

Value RoleAnalysis::sizeOf(Value value, int64_t axis) {
  AffineExpr size = shapes_.dimsOf(value)[axis];
  Region *region = value.getParentRegion();
  OpBuilder b(value.getContext());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(size)) {
    SizeSymbol source = shapes_.symbols()[symbol.getPosition()];
    if (source.value.getParentRegion()->isAncestor(region)) {
      if (source.isScalar)
        return source.value;
      value = source.value;
      axis = 0;
    }
  }
  if (Value known = sizes_.lookup({value, axis}))
    return known;
  b.setInsertionPointAfterValue(value);
  // A size that is asked for anyway is not asked for, and sent, twice.
  for (Operation *user : value.getUsers()) {
    auto dim = dyn_cast<DimOp>(user);
    if (!dim || static_cast<int64_t>(dim.getAxis()) != axis || givenPlace(dim) != placeOf(value) ||
        dim->getBlock() != value.getParentBlock())
      continue;
    dim->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
    return sizes_[{value, axis}] = dim;
  }
  auto dim = DimOp::create(b, value.getLoc(), value, axis);
  dim->setAttr("pdg.place", roleAttr(placeOf(value), value.getContext()));
  return sizes_[{value, axis}] = dim;
}

SmallVector<Value> RoleAnalysis::sizesOf(Value value) {
  SmallVector<Value> sizes;
  auto type = cast<RankedTensorType>(value.getType());
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      sizes.push_back(sizeOf(value, axis));
  return sizes;
}

std::optional<int64_t> RoleAnalysis::boundOf(Value scalar) {
  return shapes_.boundOf(shapes_.valueOf(scalar));
}

void RoleAnalysis::need(Value value, RoleId role) {
  if (needs_[value].insert(role))
    work_.push_back({value, role});
}

/// `role` has a copy of each loop and condition around `inside`.
void RoleAnalysis::takePart(Operation *inside, RoleId role) {
  for (Operation *op = inside->getParentOp(); !isa<ProgramOp>(op) && runs_[op].insert(role);
       op = op->getParentOp()) {
    // A server is told by the trainers whether there is another batch.
    if (isDataLoop(op) && role != TrainerRole) {
      takePart(&op->getRegion(0).front().front(), TrainerRole);
      continue;
    }
    for (Value operand : ownOperands(op))
      need(operand, role);
    for (Region &region : op->getRegions())
      if (Value goesOn = goesOnOf(region.front()))
        need(goesOn, role);
  }
}

/// `role` has carried value or result `index` of `control`.
void RoleAnalysis::needSlot(Operation *control, unsigned index, RoleId role) {
  need(control->getResult(index), role);
  takePart(&control->getRegion(0).front().front(), role);
  if (auto loop = dyn_cast<LoopOpInterface>(control)) {
    need(loop.getInit(index), role);
    need(loop.getCarried(index), role);
  }
  for (Region &region : control->getRegions())
    need(yieldedValues(region.front())[index], role);
}

void RoleAnalysis::runOp(Operation *op, RoleId role) {
  if (!runs_[op].insert(role))
    return;
  takePart(op, role);
  // Of a collective op, each trainer has the first operand.
  unsigned first = hubs_.count(op) ? 1 : 0;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    need(operand, i < first ? TrainerRole : role);
  // They send it from here.
  if (first)
    takePart(op, TrainerRole);
  // A sum of parts has their sizes.
  if (first && op->getNumOperands() == 1)
    for (Value size : sizesOf(op->getOperand(0)))
      need(size, role);
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!region.isAncestor(operand.getParentRegion()))
          need(operand, role);
    });
}

void RoleAnalysis::process(Value value, RoleId role) {
  RoleId place = placeOf(value);
  if (place != Anywhere && place != role) {
    need(value, place);
    for (Value size : sizesOf(value))
      need(size, role);
    return;
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = cast<LoopOpInterface>(argument.getOwner()->getParentOp());
    unsigned leading = loop.getNumLeading();
    if (argument.getArgNumber() >= leading)
      return needSlot(loop, argument.getArgNumber() - leading, role);
    return takePart(&argument.getOwner()->front(), role);
  }
  Operation *op = value.getDefiningOp();
  if (isLoopOrCondition(op))
    return needSlot(op, cast<OpResult>(value).getResultNumber(), role);
  runOp(op, role);
}

/// Reports places and collective ops that this cluster does not have.
LogicalResult RoleAnalysis::check(ProgramOp program) {
  int64_t trainers = cluster_.getTrainers(), servers = cluster_.getServers();
  WalkResult result = program.walk([&](Operation *op) {
    SmallVector<Attribute> places;
    if (auto place = op->getAttrOfType<RoleAttr>("pdg.place"))
      places.push_back(place);
    if (auto all = op->getAttrOfType<ArrayAttr>("pdg.places"))
      llvm::append_range(places, all);
    for (Attribute place : places)
      if (auto role = dyn_cast<RoleAttr>(place);
          !role || (role.isServer() && (role.getIndex() < 0 || role.getIndex() >= servers))) {
        op->emitOpError("expects a place in a cluster of ") << servers << " servers, got " << place;
        return WalkResult::interrupt();
      }
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (collective && trainers > 1 && !isa<AllReduceOp, AllGatherOp>(op)) {
      op->emitOpError("gives each trainer another value, which no server can send to all");
      return WalkResult::interrupt();
    }
    if (!collective || (collective.getCount() == trainers && (trainers == 1 || servers > 0)))
      return WalkResult::advance();
    op->emitOpError("expects values of ")
        << trainers << " trainers and a server that joins them, got values of "
        << collective.getCount() << " trainers and " << servers << " servers";
    return WalkResult::interrupt();
  });
  return success(!result.wasInterrupted());
}

/// Reports values that differ among trainers and that a server needs: there is no one to send.
LogicalResult RoleAnalysis::checkSent(ProgramOp program) {
  PlaceGraph graph(program);
  auto isWrong = [&](Value value) {
    return graph.isVarying(PlaceGraph::canonical(value)) && placeOf(value) == TrainerRole &&
           llvm::any_of(needing(value), [](RoleId role) { return role != TrainerRole; });
  };
  WalkResult result = program.walk([&](Operation *op) {
    SmallVector<Value> values(op->getResults());
    for (Region &region : op->getRegions())
      llvm::append_range(values, region.getArguments());
    if (llvm::none_of(values, isWrong))
      return WalkResult::advance();
    op->emitOpError("gives each trainer another value, but a server needs it");
    return WalkResult::interrupt();
  });
  return success(!result.wasInterrupted());
}

LogicalResult RoleAnalysis::run(ProgramOp program) {
  if (failed(check(program)))
    return failure();
  findHubs(program);
  SmallVector<Operation *> roots;
  program.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isLoopOrCondition(op) || isa<ProgramOp>(op))
      return WalkResult::advance();
    if (!op->hasTrait<OpTrait::IsTerminator>() && hasEffect(op))
      roots.push_back(op);
    return WalkResult::skip();
  });
  for (Operation *op : roots)
    runOp(op, givenPlace(op));
  while (!work_.empty()) {
    auto [value, role] = work_.pop_back_val();
    process(value, role);
  }
  return cluster_.getTrainers() > 1 ? checkSent(program) : success();
}

} // namespace pdg
