// Finds the ends of edges, and checks that each has the partner that it needs.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/check_cluster_ends.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace pdg {

ClusterEnds::ClusterEnds(ModuleOp cluster) {
  for (auto module : cluster.getOps<ModuleOp>()) {
    auto role = module->getAttrOfType<RoleAttr>("pdg.role");
    if (!role)
      continue;
    roles_.push_back({module, role});
    module.walk<WalkOrder::PreOrder>([&](EdgeOpInterface end) {
      EdgeEnds &ends = edges_[cast<EdgeAttr>(end.getEdgeName())];
      (end.isReceiver() ? ends.receivers : ends.senders).push_back(end);
    });
  }
}

ModuleOp ClusterEnds::find(RoleAttr role) const {
  for (RoleModule known : roles_)
    if (known.role == role)
      return known.module;
  return {};
}

RoleAttr ClusterEnds::roleOf(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto role = op->getAttrOfType<RoleAttr>("pdg.role"))
      return role;
  return {};
}

namespace {

/// Checks the ends of all edges of one cluster.
class EndChecker {
public:
  EndChecker(ModuleOp cluster, const ClusterEnds &ends) : cluster_(cluster), ends_(ends) {}

  LogicalResult check();

private:
  LogicalResult checkRoles();
  LogicalResult checkTables();
  LogicalResult checkVariables();
  LogicalResult checkEdge(EdgeAttr edge, const EdgeEnds &ends);
  LogicalResult checkPlaces(EdgeAttr edge, const EdgeEnds &ends);
  LogicalResult checkOnce(EdgeAttr edge, const EdgeEnds &ends);
  LogicalResult checkTypes(EdgeAttr edge, const EdgeEnds &ends);
  LogicalResult checkRegions(EdgeAttr edge, const EdgeEnds &ends);

  ModuleOp cluster_;
  const ClusterEnds &ends_;
};

LogicalResult EndChecker::checkRoles() {
  llvm::DenseMap<Attribute, ModuleOp> seen;
  for (RoleModule known : ends_.roles()) {
    auto [first, isNew] = seen.try_emplace(known.role, known.module);
    if (!isNew) {
      auto error = known.module.emitError("there are two modules of ") << known.role.str();
      error.attachNote(first->second.getLoc()) << "the first is here";
      return error;
    }
  }
  ClusterAttr cluster = ClusterAttr::of(cluster_);
  if (!cluster)
    return cluster_.emitError("expects the attribute 'pdg.cluster'");
  SmallVector<RoleAttr> needed{RoleAttr::get(cluster_.getContext(), RoleKind::Trainer)};
  for (int64_t k = 0; k < cluster.getServers(); ++k)
    needed.push_back(RoleAttr::get(cluster_.getContext(), RoleKind::Server, k));
  for (RoleAttr role : needed)
    if (!seen.contains(role))
      return cluster_.emitError("expects a module of ") << role.str() << ", there is none";
  if (seen.size() != needed.size())
    return cluster_.emitError("expects modules of the trainers and of ")
           << cluster.getServers() << " servers, got " << seen.size() << " modules";
  return success();
}

/// Every module lists the edges of the whole cluster, in the same order: its slots at run time.
LogicalResult EndChecker::checkTables() {
  ArrayAttr first;
  for (RoleModule known : ends_.roles()) {
    auto table = known.module->getAttrOfType<ArrayAttr>("pdg.edges");
    if (!table)
      return known.module.emitError("expects the attribute 'pdg.edges'");
    if (first && table != first)
      return known.module.emitError("expects the same 'pdg.edges' as the other roles have");
    first = table;
  }
  llvm::DenseSet<Attribute> listed;
  for (Attribute edge : first)
    if (!isa<EdgeAttr>(edge))
      return cluster_.emitError("expects edges in 'pdg.edges', got ") << edge;
    else if (!listed.insert(edge).second)
      return cluster_.emitError("'") << cast<EdgeAttr>(edge).str() << "' is listed twice";
  for (auto &[edge, ends] : ends_.edges()) {
    EdgeOpInterface end = ends.senders.empty() ? ends.receivers.front() : ends.senders.front();
    if (!listed.erase(edge))
      return end->emitError("'") << edge.str() << "' is not among the edges of the cluster";
  }
  if (!listed.empty())
    return cluster_.emitError("'")
           << cast<EdgeAttr>(*listed.begin()).str() << "' is an edge that nobody sends or receives";
  return success();
}

/// No name occurs twice, over all roles.
LogicalResult EndChecker::checkVariables() {
  llvm::DenseMap<Attribute, Operation *> homes;
  for (RoleModule known : ends_.roles())
    for (Operation &op : *known.module.getBody()) {
      auto name = op.getAttrOfType<NameAttr>("name");
      if (!name)
        continue;
      auto [first, isNew] = homes.try_emplace(name, &op);
      if (isNew)
        continue;
      auto error = op.emitError("variable '")
                   << name.str() << "' lives on " << ClusterEnds::roleOf(first->second).str()
                   << " and on " << known.role.str();
      error.attachNote(first->second->getLoc()) << "it is declared here too";
      return error;
    }
  return success();
}

/// Ends are where the edge says, and both sides have one.
LogicalResult EndChecker::checkPlaces(EdgeAttr edge, const EdgeEnds &ends) {
  for (EdgeOpInterface end : ends.senders)
    if (ClusterEnds::roleOf(end) != edge.getFrom())
      return end->emitError("'") << edge.str() << "' is sent by " << edge.getFrom().str()
                                 << ", and this is " << ClusterEnds::roleOf(end).str();
  for (EdgeOpInterface end : ends.receivers)
    if (ClusterEnds::roleOf(end) != edge.getTo())
      return end->emitError("'") << edge.str() << "' goes to " << edge.getTo().str()
                                 << ", and this is " << ClusterEnds::roleOf(end).str();
  if (ends.receivers.empty())
    return ends.senders.front()->emitError("'")
           << edge.str() << "' is sent to " << edge.getTo().str() << ", which never receives it";
  if (ends.senders.empty())
    return ends.receivers.front()->emitError("waits for '")
           << edge.str() << "', which " << edge.getFrom().str() << " never sends";
  return success();
}

/// One Send and one Recv for an edge. Only whether a loop goes on is said in two places: at the
/// beginning of a round, and behind the loop.
LogicalResult EndChecker::checkOnce(EdgeAttr edge, const EdgeEnds &ends) {
  if (isQueue(edge))
    return success();
  size_t allowed = edge.getKind() == EdgeKind::Control ? 2 : 1;
  auto refuse = [&](ArrayRef<EdgeOpInterface> found, StringRef what) {
    auto error = EdgeOpInterface(found.back())->emitError("'")
                 << edge.str() << "' is " << what << " in " << found.size() << " places";
    error.attachNote(EdgeOpInterface(found.front())->getLoc()) << "the first is here";
    return LogicalResult(error);
  };
  if (ends.senders.size() > allowed)
    return refuse(ends.senders, "sent");
  if (ends.receivers.size() > 1)
    return refuse(ends.receivers, "received");
  return success();
}

LogicalResult EndChecker::checkTypes(EdgeAttr edge, const EdgeEnds &ends) {
  ClusterAttr cluster = ClusterAttr::of(cluster_);
  for (EdgeOpInterface to : ends.receivers) {
    for (EdgeOpInterface from : ends.senders) {
      if (getElementTypeOrSelf(from.getMessageType()) ==
              getElementTypeOrSelf(to.getMessageType()) &&
          succeeded(verifyCompatibleShape(from.getMessageType(), to.getMessageType())))
        continue;
      auto error = to->emitError("'") << edge.str() << "' is received as " << to.getMessageType()
                                      << ", and sent as " << from.getMessageType();
      error.attachNote(from->getLoc()) << "it is sent here";
      return error;
    }
    if (isQueue(edge))
      continue;
    // Of all trainers, or (asynchronously) of the one whose turn it is.
    int64_t count = to.getMessageCount();
    if (count != 1 && count != cluster.getTrainers())
      return to->emitError("'") << edge.str() << "' is joined of " << count << " messages, and "
                                << cluster.getTrainers() << " trainers send it";
    if (count == 1 && cluster.getTrainers() > 1 && edge.getFrom().isTrainer() && !edge.getFirst() &&
        cluster.getMode() == ClusterMode::Sync)
      return to->emitError("'") << edge.str() << "' is taken once, and " << cluster.getTrainers()
                                << " trainers send it";
  }
  return success();
}

//===- Loops and conditions ------------------------------------------------===//

/// A loop or case around an op: the number that its copies in all roles share, or, of what only one
/// role has, the op.
using Around = std::pair<int64_t, const void *>;

/// True for the case of a server's loop that a message from the trainers opens: it belongs to the
/// loop.
bool isRound(Operation *op) {
  if (op->getNumOperands() != 1)
    return false;
  auto end = op->getOperand(0).getDefiningOp<EdgeOpInterface>();
  return end && cast<EdgeAttr>(end.getEdgeName()).getKind() == EdgeKind::Control;
}

/// All loops and cases around `op`, the outermost first.
SmallVector<Around> pathOf(Operation *op) {
  SmallVector<Around> path;
  for (Region *region = op->getParentRegion(); region; region = region->getParentRegion()) {
    Operation *owner = region->getParentOp();
    if (!owner || owner->hasTrait<OpTrait::IsIsolatedFromAbove>())
      break;
    auto number = owner->getAttrOfType<IntegerAttr>("pdg.region");
    if (number)
      path.push_back({number.getInt() * 2 + region->getRegionNumber(), nullptr});
    else if (!isRound(owner))
      path.push_back({-1, owner});
  }
  std::reverse(path.begin(), path.end());
  return path;
}

LogicalResult EndChecker::checkRegions(EdgeAttr edge, const EdgeEnds &ends) {
  if (isQueue(edge))
    return success();
  EdgeOpInterface to = ends.receivers.front();
  SmallVector<Around> expected = pathOf(to);
  size_t behind = 0;
  for (EdgeOpInterface from : ends.senders) {
    SmallVector<Around> path = pathOf(from);
    bool isBehind = edge.getKind() == EdgeKind::Control && !expected.empty() &&
                    ArrayRef(path) == ArrayRef(expected).drop_back();
    behind += isBehind;
    if (path == expected || isBehind)
      continue;
    auto error = to->emitError("'") << edge.str()
                                    << "' is received in another loop or case than it is sent "
                                       "in: the numbers of messages differ";
    error.attachNote(from->getLoc()) << "it is sent here";
    return error;
  }
  if (edge.getKind() == EdgeKind::Control && (behind != 1 || ends.senders.size() != 2))
    return to->emitError("'") << edge.str()
                              << "' is to be sent in each round of a loop and once behind it";
  return success();
}

LogicalResult EndChecker::checkEdge(EdgeAttr edge, const EdgeEnds &ends) {
  if (failed(checkPlaces(edge, ends)) || failed(checkOnce(edge, ends)))
    return failure();
  if (failed(checkTypes(edge, ends)))
    return failure();
  return checkRegions(edge, ends);
}

LogicalResult EndChecker::check() {
  if (failed(checkRoles()) || failed(checkVariables()))
    return failure();
  for (auto &[edge, ends] : ends_.edges())
    if (failed(checkEdge(edge, ends)))
      return failure();
  return checkTables();
}

} // namespace

LogicalResult checkEnds(ModuleOp cluster, const ClusterEnds &ends) {
  return EndChecker(cluster, ends).check();
}

} // namespace pdg
