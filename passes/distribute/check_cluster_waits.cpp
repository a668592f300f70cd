// Looks for a cycle of waits among the roles of a cluster.
//
// What a role sends and receives happens in program order. A receive waits for its message; a send
// waits until an earlier message of its edge was taken, if the edge holds as many as it may. These
// waits are the arrows of a graph; a cycle in it is a deadlock.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/check_cluster_ends.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace pdg {
namespace {

/// One message that is sent or received, once.
struct Event {
  EdgeOpInterface end;
  bool inLoop = false; ///< There may be any number of them.
  int before = -1;     ///< What happens before it in its role.
  int message = -1;    ///< Of a receive: the event that sends it.
  int credit = -1;     ///< Of a send: the receive that makes room for it.
};

/// Lists what happens in each role and finds a cycle.
///
/// Two rounds of a loop stand for any number of them: the copies of a loop in all roles make the
/// same number of rounds, so waits lead from a round to itself or to a later one, and a cycle that
/// leaves the loop passes an earlier and a later round. Of several cases all are listed, one behind
/// the other: leaving messages out never makes a cycle.
class WaitGraph {
public:
  explicit WaitGraph(const ClusterEnds &ends);

  LogicalResult check();

private:
  void addRegion(Region &region, unsigned depth);
  void addEvent(EdgeOpInterface end, unsigned depth);
  void connect();
  bool hasEnds(Operation *op);
  SmallVector<int> findCycle() const;
  LogicalResult report(ArrayRef<int> cycle) const;
  void noteWait(InFlightDiagnostic &error, int event, int reason) const;

  /// Loops inside more loops than this are listed with one round.
  static constexpr unsigned maxDepth = 6;

  std::vector<Event> events_;
  int last_ = -1; ///< The last event of the role that is being listed.
  llvm::MapVector<EdgeAttr, std::pair<SmallVector<int>, SmallVector<int>>> byEdge_;
  llvm::DenseMap<Operation *, bool> hasEnds_;
};

WaitGraph::WaitGraph(const ClusterEnds &ends) {
  for (RoleModule role : ends.roles()) {
    last_ = -1;
    for (Operation &op : *role.module.getBody())
      if (hasEnds(&op))
        for (Region &region : op.getRegions())
          addRegion(region, 0);
  }
  connect();
}

bool WaitGraph::hasEnds(Operation *op) {
  auto [known, isNew] = hasEnds_.try_emplace(op, false);
  if (!isNew)
    return known->second;
  bool found = isa<EdgeOpInterface>(op);
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      found |= hasEnds(&inner);
  return hasEnds_[op] = found;
}

void WaitGraph::addEvent(EdgeOpInterface end, unsigned depth) {
  int number = static_cast<int>(events_.size());
  events_.push_back({end, depth > 0, last_, -1, -1});
  last_ = number;
  auto &[sent, received] = byEdge_[cast<EdgeAttr>(end.getEdgeName())];
  (end.isReceiver() ? received : sent).push_back(number);
}

void WaitGraph::addRegion(Region &region, unsigned depth) {
  for (Operation &op : region.getOps()) {
    if (auto end = dyn_cast<EdgeOpInterface>(&op))
      addEvent(end, depth);
    if (op.getNumRegions() == 0 || !hasEnds(&op))
      continue;
    if (!isa<LoopOpInterface>(op)) {
      for (Region &inner : op.getRegions())
        addRegion(inner, depth);
      continue;
    }
    Block &body = op.getRegion(0).front();
    for (int round = 0; round < (depth < maxDepth ? 2 : 1); ++round)
      addRegion(op.getRegion(0), depth + 1);
    // The message that ends the loop.
    for (Operation &inner : body)
      if (auto end = dyn_cast<EdgeOpInterface>(&inner);
          end && end.isReceiver() &&
          cast<EdgeAttr>(end.getEdgeName()).getKind() == EdgeKind::Control)
        addEvent(end, depth + 1);
  }
}

void WaitGraph::connect() {
  for (auto &[edge, both] : byEdge_) {
    auto &[sent, received] = both;
    for (auto [from, to] : llvm::zip(sent, received))
      events_[to].message = from;
    for (size_t i = 0; i < sent.size(); ++i) {
      Event &send = events_[sent[i]];
      // A message is given back by the next receive of its edge, one of a queue when it is taken.
      size_t room = kEdgeDepth - 1;
      if (auto capacity = send.end->getAttrOfType<IntegerAttr>("capacity"))
        room = static_cast<size_t>(capacity.getInt());
      if (send.inLoop)
        room = 1; // Two rounds stand for many.
      if (i >= room && i - room < received.size())
        send.credit = received[i - room];
    }
  }
}

SmallVector<int> WaitGraph::findCycle() const {
  enum Mark : char { New, Open, Done };
  std::vector<Mark> marks(events_.size(), New);
  SmallVector<std::pair<int, int>> stack; // An event, and how many of its waits were followed.
  for (int start = 0; start < static_cast<int>(events_.size()); ++start) {
    if (marks[start] != New)
      continue;
    stack.push_back({start, 0});
    marks[start] = Open;
    while (!stack.empty()) {
      auto &[at, followed] = stack.back();
      const Event &event = events_[at];
      int waits[] = {event.before, event.message, event.credit};
      if (followed == 3) {
        marks[at] = Done;
        stack.pop_back();
        continue;
      }
      int next = waits[followed++];
      if (next < 0 || marks[next] == Done)
        continue;
      if (marks[next] == New) {
        marks[next] = Open;
        stack.push_back({next, 0});
        continue;
      }
      SmallVector<int> cycle;
      auto begin = llvm::find_if(stack, [&](auto &entry) { return entry.first == next; });
      for (auto &entry : llvm::make_range(begin, stack.end()))
        cycle.push_back(entry.first);
      return cycle;
    }
  }
  return {};
}

void WaitGraph::noteWait(InFlightDiagnostic &error, int event, int reason) const {
  const Event &waiting = events_[event];
  auto edge = cast<EdgeAttr>(EdgeOpInterface(waiting.end).getEdgeName());
  std::string role = ClusterEnds::roleOf(waiting.end).str();
  Diagnostic &note = error.attachNote(EdgeOpInterface(waiting.end)->getLoc());
  if (reason == waiting.message)
    note << role << " waits here for '" << edge.str() << "' of " << edge.getFrom().str();
  else
    note << role << " waits here until " << edge.getTo().str() << " takes an earlier '"
         << edge.str() << "': its queue is full";
}

LogicalResult WaitGraph::report(ArrayRef<int> cycle) const {
  SmallVector<std::pair<int, int>> waits;
  for (size_t i = 0; i < cycle.size(); ++i) {
    int reason = cycle[(i + 1) % cycle.size()];
    if (reason != events_[cycle[i]].before)
      waits.push_back({cycle[i], reason});
  }
  EdgeOpInterface first = events_[waits.front().first].end;
  auto error = first->emitError("the roles would wait for each other for ever");
  for (auto [event, reason] : waits)
    noteWait(error, event, reason);
  return error;
}

LogicalResult WaitGraph::check() {
  SmallVector<int> cycle = findCycle();
  return cycle.empty() ? success() : report(cycle);
}

} // namespace

LogicalResult checkWaits(const ClusterEnds &ends) { return WaitGraph(ends).check(); }

} // namespace pdg
