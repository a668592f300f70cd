// A minimum cut: what flows from a node to others costs its bytes once, if one of these is on the
// other side. SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/place_sides.h"
#include "passes/distribute/place_cut.h"
#include "passes/distribute/place_homes.h"

using namespace mlir;

namespace pdg {

/// Whether `op` touches something else than variables: the outside, data, messages.
static bool isSeenElsewhere(Operation *op) {
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects = getEffectsRecursively(op);
  return !effects || llvm::any_of(*effects, [](const MemoryEffects::EffectInstance &effect) {
    return effect.getResource() != VariableResource::get();
  });
}

/// Whether each trainer makes updates of its own, which copies would not get from each other.
static bool updatesApart(ClusterAttr cluster) {
  return cluster.getMode() == ClusterMode::Async || cluster.getMode() == ClusterMode::Bounded;
}

LogicalResult checkPlaceable(PlaceGraph &graph, Variables &variables, ClusterAttr cluster) {
  for (PlaceNode &node : graph.nodes()) {
    auto assign = node.isSlot() ? AssignOp() : dyn_cast<AssignOp>(node.op);
    if (!assign)
      continue;
    // One trainer without servers is a cluster: it keeps the variables itself.
    if (!cluster.getServers() && cluster.getTrainers() > 1)
      return assign.emitError("PD0203: expected a server that keeps '")
             << assign.getName().str() << "', which is updated here; found a cluster of "
             << cluster.getTrainers() << " trainers without servers";
    if (node.isVarying)
      return assign.emitOpError("expects a value that is the same on all trainers");
    int touched = variables.touchedBy(assign);
    if (touched < 0 || !updatesApart(cluster))
      continue;
    HomedVariable &variable = variables.all()[touched];
    if (variable.hint && variable.hint.isTrainer())
      return variable.op.emitError("PD0205: expected a server for '")
             << variable.op.getName().str() << "', as trainers update it one by one in the mode "
             << stringifyClusterMode(cluster.getMode()) << "; found a copy on each trainer";
  }
  return success();
}

//===- The cut -------------------------------------------------------------===//

namespace {

class SideChooser {
public:
  explicit SideChooser(PlaceGraph &graph) : graph_(graph) {}
  SmallVector<bool> run();

private:
  using Vertex = MinimumCut::Vertex;
  Vertex fixedVertex(const PlaceNode &node);
  void addNet(Value value, Vertex from, ArrayRef<Vertex> to);

  PlaceGraph &graph_;
  MinimumCut cut_;
};

/// The side that a node is on in any case, or a vertex of its own.
SideChooser::Vertex SideChooser::fixedVertex(const PlaceNode &node) {
  if (node.isVarying)
    return MinimumCut::Source;
  if (node.isSlot())
    return cut_.addVertex();
  if (joinsTrainers(node.op))
    return MinimumCut::Sink;
  if (auto place = node.op->getAttrOfType<RoleAttr>("pdg.place"))
    return place.isServer() ? MinimumCut::Sink : MinimumCut::Source;
  if (!isMemoryEffectFree(node.op))
    return isSeenElsewhere(node.op) ? MinimumCut::Source : MinimumCut::Sink;
  // So are reductions (norms of gradients), and rows of a table are added where the table is.
  if ((node.isElementWise && !node.operands.empty()) ||
      isa<ReductionOpInterface, ScatterOpInterface>(node.op))
    return cut_.addVertex();
  return node.isJoined ? cut_.addVertex() : MinimumCut::Source;
}

void SideChooser::addNet(Value value, Vertex from, ArrayRef<Vertex> to) {
  SmallVector<Vertex> users(to);
  llvm::sort(users);
  users.erase(llvm::unique(users), users.end());
  llvm::erase(users, from);
  if (users.empty())
    return;
  Operation *definition = value.getDefiningOp();
  int64_t bytes =
      graph_.bytesOf(value) *
      PlaceGraph::frequencyOf(definition ? definition : value.getParentBlock()->getTerminator());
  if (users.size() == 1) {
    cut_.addEdge(from, users[0], bytes);
    cut_.addEdge(users[0], from, bytes);
    return;
  }
  // Sent at most once each way.
  Vertex there = cut_.addVertex(), back = cut_.addVertex();
  cut_.addEdge(from, there, bytes);
  cut_.addEdge(back, from, bytes);
  for (Vertex user : users) {
    cut_.addEdge(there, user, MinimumCut::Unlimited);
    cut_.addEdge(user, back, MinimumCut::Unlimited);
  }
}

SmallVector<bool> SideChooser::run() {
  auto nodes = graph_.nodes();
  SmallVector<Vertex, 0> vertices;
  for (const PlaceNode &node : nodes)
    vertices.push_back(node.isAnywhere ? MinimumCut::Source : fixedVertex(node));
  llvm::MapVector<Value, SmallVector<Vertex>> users;
  auto use = [&](ValueRange values, Vertex vertex) {
    for (Value value : values)
      if (!graph_.isAnywhere(value))
        users[value].push_back(vertex);
  };
  for (auto [node, vertex] : llvm::zip(nodes, vertices)) {
    if (!node.isAnywhere)
      use(node.operands, vertex);
    // Trainers have a copy of each loop and condition.
    use(node.condition, MinimumCut::Source);
  }
  for (const auto &[value, to] : users) {
    int producer = graph_.producerOf(value);
    addNet(value, producer < 0 ? MinimumCut::Source : vertices[producer], to);
  }
  cut_.solve();
  return llvm::map_to_vector<6>(llvm::zip(nodes, vertices), [&](const auto &each) {
    const auto &[node, vertex] = each;
    return !node.isAnywhere && !cut_.isOnSourceSide(vertex);
  });
}

} // namespace

SmallVector<bool> chooseSides(PlaceGraph &graph, ClusterAttr cluster) {
  if (!cluster.getServers())
    return SmallVector<bool>(graph.nodes().size(), false);
  return SideChooser(graph).run();
}

LogicalResult obeyHints(PlaceGraph &graph, ClusterAttr cluster, MutableArrayRef<RoleAttr> roles) {
  bool isWrong = false;
  for (auto [node, role] : llvm::zip(graph.nodes(), roles)) {
    auto on = node.isSlot() ? StringAttr() : node.op->getAttrOfType<StringAttr>("pdg.on");
    if (!on || node.isAnywhere)
      continue;
    FailureOr<RoleAttr> wanted = parseRole(node.op, on, cluster);
    if (failed(wanted)) {
      isWrong = true;
      continue;
    }
    // A variable is where its own hint says.
    if (isa<ReadOp, AssignOp>(node.op))
      continue;
    if (wanted->isServer() && (node.isVarying || isSeenElsewhere(node.op))) {
      node.op->emitError("PD0205: expected values that are the same on all trainers on '")
          << on.getValue() << "', found "
          << (node.isVarying ? "parts of a batch" : "an operation that the trainers have to do");
      isWrong = true;
    }
    role = *wanted;
  }
  return failure(isWrong);
}

} // namespace pdg
