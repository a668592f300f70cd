// The largest groups first, each to the server with the least to do.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/place_homes.h"
#include "passes/distribute/place_groups.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

using namespace mlir;

namespace pdg {

//===- Hints ---------------------------------------------------------------===//

FailureOr<RoleAttr> parseRole(Operation *op, StringRef name, ClusterAttr cluster) {
  MLIRContext *context = op->getContext();
  if (name == "trainer")
    return RoleAttr::get(context, RoleKind::Trainer);
  StringRef digits = name;
  int64_t index = 0;
  if ((digits.consume_front("server") || digits.consume_front("ps")) &&
      !digits.getAsInteger(10, index) && index >= 0 && index < cluster.getServers() &&
      std::to_string(index) == digits)
    return RoleAttr::get(context, RoleKind::Server, index);
  InFlightDiagnostic error = op->emitError("PD0205: expected a node of the cluster: trainer");
  constexpr int64_t MostNamed = 8;
  for (int64_t k = 0; k < std::min(cluster.getServers(), MostNamed); ++k)
    error << ", server" << k;
  if (cluster.getServers() > MostNamed)
    error << ", ... server" << cluster.getServers() - 1;
  return error << "; found '" << name << "'";
}

LogicalResult Variables::collect(ModuleOp module, ClusterAttr cluster) {
  bool isWrong = false;
  for (auto op : module.getOps<VariableOp>()) {
    HomedVariable &variable = variables_.emplace_back();
    variable.op = op;
    indices_[op.getName()] = variables_.size() - 1;
    auto on = op->getAttrOfType<StringAttr>("pdg.on");
    if (on) {
      FailureOr<RoleAttr> role = parseRole(op, on, cluster);
      isWrong |= failed(role);
      variable.hint = succeeded(role) ? *role : nullptr;
    }
    if (!op->hasAttr("pdg.replicate"))
      continue;
    if (variable.hint && !variable.hint.isTrainer()) {
      op.emitError("PD0205: expected one place for '")
          << op.getName().str() << "', found @replicate, a copy on each trainer, and @on(\""
          << on.getValue() << "\")";
      isWrong = true;
    }
    variable.hint = RoleAttr::get(op.getContext(), RoleKind::Trainer);
  }
  return failure(isWrong);
}

int Variables::touchedBy(Operation *op) const {
  Attribute name;
  if (auto read = dyn_cast<ReadOp>(op))
    name = read.getName();
  else if (auto assign = dyn_cast<AssignOp>(op))
    name = assign.getName();
  auto found = name ? indices_.find(name) : indices_.end();
  return found == indices_.end() ? -1 : found->second;
}

namespace {

//===- Balance -------------------------------------------------------------===//

/// What one server has to keep and to do for a group.
struct Load {
  int64_t bytes = 0; ///< Of its variables.
  int64_t work = 0;  ///< Bytes that an update computes.
  SmallVector<unsigned> variables;
  RoleAttr home;
  int64_t total() const { return bytes + work; }
};

/// Spreads groups over servers.
class Balance {
public:
  Balance(PlaceGraph &graph, Variables &variables, ArrayRef<bool> onServer,
          const Grouping &grouping, ClusterAttr cluster)
      : graph_(graph), variables_(variables), onServer_(onServer), grouping_(grouping),
        cluster_(cluster), loads_(grouping.count()), servers_(cluster.getServers()) {}
  void run();
  SmallVector<RoleAttr> placeNodes();

private:
  void weigh();
  void obeyHints();
  NameAttr wholeOf(const Load &load);
  int64_t chooseServer(const Load &load);
  void spread();
  void settleOthers();
  void explain(Load &load, StringRef reason);
  int64_t variableBytes(unsigned variable);

  PlaceGraph &graph_;
  Variables &variables_;
  ArrayRef<bool> onServer_;
  const Grouping &grouping_;
  ClusterAttr cluster_;
  SmallVector<Load, 0> loads_;                   ///< Of each group.
  SmallVector<int64_t, 0> servers_;              ///< The load of each server so far.
  std::set<std::pair<int64_t, int64_t>> byLoad_; ///< Loads and servers.
  /// The servers that have slices of a variable.
  DenseMap<Attribute, std::set<int64_t>> withSlices_;
};

int64_t Balance::variableBytes(unsigned variable) {
  auto type = cast<RankedTensorType>(variables_.all()[variable].op.getType());
  return type.getNumElements() * static_cast<int64_t>(sizeOf(*toDType(type)));
}

void Balance::weigh() {
  for (unsigned v = 0; v < variables_.all().size(); ++v) {
    Load &load = loads_[grouping_.ofVariable(v)];
    load.variables.push_back(v);
    load.bytes += variableBytes(v);
  }
  for (auto [i, node] : llvm::enumerate(graph_.nodes())) {
    if (!onServer_[i] || node.isSlot() || isa<ReadOp>(node.op))
      continue;
    for (Value result : node.op->getResults())
      loads_[grouping_.ofNode(i)].work += graph_.bytesOf(result);
  }
}

/// The largest variable of a group leads it: the first one of these.
static unsigned leaderOf(const Load &load, llvm::function_ref<int64_t(unsigned)> bytes) {
  return *std::max_element(load.variables.begin(), load.variables.end(),
                           [&](unsigned a, unsigned b) { return bytes(a) < bytes(b); });
}

void Balance::explain(Load &load, StringRef reason) {
  unsigned leader = leaderOf(load, [&](unsigned v) { return variableBytes(v); });
  std::string name = variables_.all()[leader].op.getName().str();
  for (unsigned v : load.variables) {
    HomedVariable &variable = variables_.all()[v];
    if (variable.home)
      continue;
    variable.home = load.home;
    variable.why = v == leader ? reason.str() : "with " + name + ": one update works on both";
  }
}

/// A hint for a variable is one for its group; of several, each variable obeys its own.
void Balance::obeyHints() {
  for (Load &load : loads_) {
    std::optional<unsigned> first;
    for (unsigned v : load.variables) {
      HomedVariable &variable = variables_.all()[v];
      if (!variable.hint)
        continue;
      variable.home = variable.hint;
      variable.why = "the script says so";
      if (!first || variableBytes(v) > variableBytes(*first))
        first = v;
    }
    if (!first)
      continue;
    load.home = variables_.all()[*first].hint;
    if (load.home.isServer())
      servers_[load.home.getIndex()] += load.total();
    explain(load,
            "with " + variables_.all()[*first].op.getName().str() + ": one update works on both");
  }
}

/// The name of the whole variable of which the largest one of a group is a slice; null if it is
/// whole.
NameAttr Balance::wholeOf(const Load &load) {
  unsigned leader = leaderOf(load, [&](unsigned v) { return variableBytes(v); });
  NameAttr name = variables_.all()[leader].op.getName();
  if (name.getSlice().empty())
    return nullptr;
  return NameAttr::get(name.getContext(), name.getPath(), name.getState(), {}, name.getReplica());
}

/// The server that has the least to do among those without another slice of the same variable.
int64_t Balance::chooseServer(const Load &load) {
  auto least = byLoad_.begin();
  if (NameAttr whole = wholeOf(load)) {
    std::set<int64_t> &taken = withSlices_[whole];
    if (taken.size() >= byLoad_.size())
      taken.clear();
    least = llvm::find_if(byLoad_, [&](const auto &each) { return !taken.count(each.second); });
    taken.insert(least->second);
  }
  int64_t server = least->second;
  byLoad_.erase(least);
  return server;
}

/// The largest groups first, each to the server that has the least to do; the first one of these.
void Balance::spread() {
  SmallVector<Load *, 0> order;
  for (Load &load : loads_)
    if (!load.variables.empty() && !load.home)
      order.push_back(&load);
  // Equal ones in the order of the script.
  llvm::sort(order, [](Load *a, Load *b) {
    return std::pair(-a->total(), a->variables.front()) <
           std::pair(-b->total(), b->variables.front());
  });
  MLIRContext *context = cluster_.getContext();
  for (auto [k, load] : llvm::enumerate(servers_))
    byLoad_.insert({load, k});
  for (Load *load : order) {
    if (servers_.empty() || cluster_.getMode() == ClusterMode::Local) {
      load->home = RoleAttr::get(context, RoleKind::Trainer);
      explain(*load, servers_.empty() ? "the cluster has no servers"
                                      : "each trainer updates a copy in this mode");
      continue;
    }
    int64_t k = chooseServer(*load);
    load->home = RoleAttr::get(context, RoleKind::Server, k);
    explain(*load, "server " + std::to_string(k) + " had the least to do so far, " +
                       std::to_string(servers_[k]) + " bytes; this adds " +
                       std::to_string(load->bytes) + " of variables and " +
                       std::to_string(load->work) + " of an update");
    servers_[k] += load->total();
    byLoad_.insert({servers_[k], k});
  }
}

/// Groups without variables go where most of their operands and results are.
void Balance::settleOthers() {
  for (bool changed = true; changed;) {
    changed = false;
    std::map<unsigned, std::map<int64_t, int64_t>> votes; ///< Of each group: bytes by server.
    auto vote = [&](unsigned group, unsigned other, int64_t bytes) {
      if (!loads_[group].home && loads_[other].home && loads_[other].home.isServer())
        votes[group][loads_[other].home.getIndex()] += bytes;
    };
    for (const Flow &flow : grouping_.flows()) {
      unsigned from = grouping_.ofNode(flow.from), to = grouping_.ofNode(flow.to);
      vote(from, to, flow.bytes);
      vote(to, from, flow.bytes);
    }
    for (const auto &[group, bytes] : votes) {
      auto most = std::max_element(bytes.begin(), bytes.end(), [](const auto &a, const auto &b) {
        return a.second < b.second;
      });
      loads_[group].home = RoleAttr::get(cluster_.getContext(), RoleKind::Server, most->first);
      changed = true;
    }
  }
}

void Balance::run() {
  weigh();
  obeyHints();
  spread();
  settleOthers();
}

SmallVector<RoleAttr> Balance::placeNodes() {
  SmallVector<RoleAttr> places(graph_.nodes().size());
  for (auto [i, node] : llvm::enumerate(graph_.nodes())) {
    if (!onServer_[i])
      continue;
    int variable = node.isSlot() ? -1 : variables_.touchedBy(node.op);
    places[i] = variable >= 0 ? variables_.all()[variable].home : loads_[grouping_.ofNode(i)].home;
  }
  return places;
}

} // namespace

SmallVector<RoleAttr> chooseHomes(PlaceGraph &graph, Variables &variables, ArrayRef<bool> onServer,
                                  ClusterAttr cluster) {
  Grouping grouping(graph, variables, onServer);
  Balance balance(graph, variables, onServer, grouping, cluster);
  balance.run();
  return balance.placeNodes();
}

} // namespace pdg
