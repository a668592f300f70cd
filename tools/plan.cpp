// Collects the plan from the modules of all roles.
// SPDX-License-Identifier: Apache-2.0
#include "tools/plan.h"

#include "ir/dims.h"
#include "ir/interpret/evaluate_elementwise.h"
#include "ir/program_tables.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

namespace pdg {

//===- The step ------------------------------------------------------------===//

static bool isDataLoop(Operation *op) {
  auto loop = dyn_cast<LoopOpInterface>(op);
  return loop && loop.getNumFields() > 0;
}

/// The innermost loop over data around `op`, or null.
static Operation *dataLoopAround(Operation *op) {
  while (op && !isDataLoop(op))
    op = op->getParentOp();
  return op;
}

Operation *findStepLoop(const ClusterEnds &ends) {
  Operation *first = nullptr;
  for (auto &[edge, both] : ends.edges())
    for (EdgeOpInterface end : both.senders) {
      Operation *loop = dataLoopAround(end);
      if (loop && edge.getKind() == EdgeKind::Gradient)
        return loop;
      if (loop && !first)
        first = loop;
    }
  return first;
}

//===- Collecting ----------------------------------------------------------===//

namespace {

/// Where in the script `loc` is: of what a block of the library made, where it was called.
std::string scriptPlace(Location loc) {
  SmallVector<FileLineColRange> places = placesOf(loc);
  for (FileLineColRange place : places)
    if (place.getFilename() == places.back().getFilename())
      return locationText(place);
  return "";
}

class Planner {
public:
  Planner(ModuleOp module, const Cluster &cluster) : ends_(module) {
    plan_.cluster = cluster;
    plan_.replicas = cluster.trainers.count * cluster.devices(); // A slice for each device.
  }

  Plan make();

private:
  void addVariables(RoleModule role);
  void addSources(RoleModule role);
  void addRole(RoleModule role);
  void addEdges();
  PlannedEdge planEdge(EdgeAttr edge, const EdgeEnds &ends);
  EdgeRate rateOf(EdgeOpInterface end) const;
  void addTraffic(EdgeAttr edge, const PlannedEdge &planned);

  Plan plan_;
  ClusterEnds ends_;
  ShapeAnalysis shapes_;
  Operation *step_ = nullptr;
  llvm::DenseMap<Attribute, size_t> roleIndex_;
};

std::string shortType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  std::optional<DType> dtype = toDType(tensor.getElementType());
  std::string text = dtype ? std::string(nameOf(*dtype)) : "?";
  if (tensor.getRank() == 0)
    return text;
  text += '[';
  for (auto [i, size] : llvm::enumerate(tensor.getShape()))
    text += (i ? ", " : "") + (ShapedType::isDynamic(size) ? "?" : std::to_string(size));
  return text + "]";
}

void Planner::addVariables(RoleModule role) {
  for (Operation &op : *role.module.getBody()) {
    auto name = op.getAttrOfType<NameAttr>("name");
    auto type = op.getAttrOfType<TypeAttr>("type");
    if (!name || !type)
      continue;
    auto why = op.getAttrOfType<StringAttr>("pdg.why");
    plan_.variables.push_back({name.str(), shortType(type.getValue()), role.role.str(),
                               scriptPlace(op.getLoc()), leastBytesOf(type.getValue()),
                               why ? why.str() : ""});
  }
}

void Planner::addSources(RoleModule role) {
  for (Operation &op : *role.module.getBody()) {
    auto symbol = op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    auto batch = op.getAttrOfType<IntegerAttr>("batch");
    if (!symbol || !batch)
      continue;
    int64_t leaves = leafCount(batch.getInt());
    plan_.sources.push_back({symbol.str(), scriptPlace(op.getLoc()), batch.getInt(), leaves,
                             leaves % plan_.replicas == 0});
  }
}

void Planner::addRole(RoleModule role) {
  ClusterAttr cluster = ClusterAttr::of(role.module);
  PlannedRole planned;
  planned.name = role.role.str();
  planned.processes = role.role.isTrainer() ? plan_.cluster.trainers.count : 1;
  planned.memory = memoryOf(role);
  planned.limit = cluster ? memoryLimitOf(role.role, cluster) : 0;
  roleIndex_[role.role] = plan_.roles.size();
  plan_.roles.push_back(planned);
}

EdgeRate Planner::rateOf(EdgeOpInterface end) const {
  Operation *at = end->getParentOp();
  for (bool isInner = false; at; at = at->getParentOp()) {
    if (at == step_)
      return isInner ? EdgeRate::Inner : EdgeRate::Step;
    isInner |= isa<LoopOpInterface>(at);
  }
  return EdgeRate::Outside;
}

PlannedEdge Planner::planEdge(EdgeAttr edge, const EdgeEnds &ends) {
  PlannedEdge planned;
  planned.what = edge.str();
  planned.subject = edge.getSubject().str();
  planned.from = edge.getFrom().str();
  planned.to = edge.getTo().str();
  EdgeOpInterface from = ends.senders.front(), to = ends.receivers.front();
  planned.place = scriptPlace(from->getLoc());
  auto type = cast<RankedTensorType>(ends.messageType());
  planned.bytes = leastBytesOf(type);
  if (!type.hasStaticShape()) {
    std::optional<int64_t> elements = shapes_.elementBoundOf(from->getOperand(0));
    std::optional<DType> dtype = toDType(type.getElementType());
    planned.isBound = elements && dtype;
    planned.isUnbounded = !planned.isBound;
    if (planned.isBound)
      planned.bytes = *elements * static_cast<int64_t>(sizeOf(*dtype));
  }
  bool isOfAll = (edge.getFrom().isTrainer() && !edge.getFirst()) || edge.getTo().isTrainer();
  planned.messages = isOfAll ? plan_.cluster.trainers.count : 1;
  if (auto group = from->getAttrOfType<IntegerAttr>("pdg.message"))
    planned.group = group.getInt();
  // The trainers' end says in which loop it is; servers have copies of it.
  EdgeOpInterface atTrainer = edge.getFrom().isTrainer() ? from : to;
  planned.rate = rateOf(atTrainer);
  Operation *around = atTrainer->getParentOp();
  planned.isConditional = around != step_ && !isa<LoopOpInterface>(around) &&
                          !around->hasTrait<OpTrait::IsIsolatedFromAbove>();
  if (!edge.getFrom().isTrainer() && !edge.getTo().isTrainer() && step_) {
    // Between servers: in the copy of the step's loop.
    auto number = step_->getAttr("pdg.region");
    for (Operation *at = from->getParentOp(); at && number; at = at->getParentOp())
      if (at->getAttr("pdg.region") == number)
        planned.rate = EdgeRate::Step;
  }
  return planned;
}

void Planner::addTraffic(EdgeAttr edge, const PlannedEdge &planned) {
  if (planned.rate == EdgeRate::Outside)
    return;
  int64_t all = planned.messages;
  auto add = [&](RoleAttr role, bool isSender) {
    auto found = roleIndex_.find(role);
    if (found == roleIndex_.end())
      return;
    PlannedRole &at = plan_.roles[found->second];
    int64_t count = role.isTrainer() ? 1 : all;
    (isSender ? at.sent : at.received) += planned.bytes * count;
    at.messages += isSender ? count : 0;
  };
  add(edge.getFrom(), true);
  add(edge.getTo(), false);
}

void Planner::addEdges() {
  // In the order of the trainers' program; what servers send each other comes behind.
  llvm::MapVector<EdgeAttr, EdgeEnds> ordered;
  for (RoleModule role : ends_.roles())
    if (role.role.isTrainer())
      role.module.walk<WalkOrder::PreOrder>([&](EdgeOpInterface end) {
        auto edge = cast<EdgeAttr>(end.getEdgeName());
        ordered.insert({edge, ends_.edges().find(edge)->second});
      });
  for (auto &[edge, ends] : ends_.edges())
    ordered.insert({edge, ends});
  for (auto &[edge, ends] : ordered) {
    if (ends.senders.empty() || ends.receivers.empty() || isQueue(edge))
      continue;
    plan_.edges.push_back(planEdge(edge, ends));
    addTraffic(edge, plan_.edges.back());
  }
}

Plan Planner::make() {
  step_ = findStepLoop(ends_);
  if (step_)
    plan_.step = scriptPlace(step_->getLoc());
  for (RoleModule role : ends_.roles()) {
    addVariables(role);
    addSources(role);
    addRole(role);
  }
  addEdges();
  return std::move(plan_);
}

} // namespace

Plan makePlan(ModuleOp module, const Cluster &cluster) { return Planner(module, cluster).make(); }

} // namespace pdg
