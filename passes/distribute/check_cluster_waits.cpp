// Looks for a cycle of waits among the roles of a cluster.
//
// What a role sends and receives happens in program order. A receive waits for its message; a send
// waits until an earlier message of its edge was taken, if the edge holds as many as it may. These
// waits are the arrows of a graph; a cycle in it is a deadlock.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/check_cluster_ends.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace mlir;

namespace pdg {
namespace {

/// What happens in a role, once: a message is sent or received, a loop begins or ends.
struct Event {
  Operation *op = nullptr; ///< Null: all roles of a group have begun a loop.
  bool inLoop = false;     ///< There may be any number of them.
  int before = -1;         ///< What happens before it in its role.
  int message = -1;        ///< Of a receive: the event that sends it.
  int credit = -1;         ///< Of a send: the receive that makes room for it.
  SmallVector<int> begins; ///< Of the end of a loop: where others begin it.

  /// All events that must be over before this one can be.
  SmallVector<int> waits() const {
    SmallVector<int> all{before, message, credit};
    all.append(begins);
    return all;
  }
};

/// Lists what happens in each role and finds a cycle.
///
/// The copies of a loop in all roles make the same number of rounds, so inside of it waits lead
/// from a round to itself or to an earlier one: a cycle is in one round, or leaves the loop. A loop
/// that makes more rounds than queues hold messages ends in one role only when all roles have begun
/// it that exchange messages in it, directly or through others; so two rounds stand for all. Of
/// several cases all are listed, one behind the other: leaving messages out never makes a cycle.
class WaitGraph {
public:
  explicit WaitGraph(const ClusterEnds &ends);

  LogicalResult check();

private:
  void addRegion(Region &region, unsigned depth);
  void addLoop(Operation &loop, unsigned depth);
  int addEvent(Operation *op, unsigned depth);
  void addMessage(EdgeOpInterface end, unsigned depth);
  void connectMessages();
  void connectLoops();
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
  /// The copies of one loop, by `pdg.region`: of each role each time that it is listed.
  struct Loop {
    llvm::MapVector<Attribute, SmallVector<std::pair<int, int>>> times; ///< Begin and end.
    llvm::EquivalenceClasses<const void *> together; ///< Roles that exchange messages in it.
  };
  llvm::MapVector<Attribute, Loop> loops_;
};

WaitGraph::WaitGraph(const ClusterEnds &ends) {
  for (RoleModule role : ends.roles()) {
    last_ = -1;
    for (Operation &op : *role.module.getBody())
      if (hasEnds(&op))
        for (Region &region : op.getRegions())
          addRegion(region, 0);
  }
  connectMessages();
  connectLoops();
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

int WaitGraph::addEvent(Operation *op, unsigned depth) {
  events_.push_back({op, depth > 0, last_, -1, -1, {}});
  return last_ = static_cast<int>(events_.size()) - 1;
}

void WaitGraph::addMessage(EdgeOpInterface end, unsigned depth) {
  int number = addEvent(end, depth);
  auto &[sent, received] = byEdge_[cast<EdgeAttr>(end.getEdgeName())];
  (end.isReceiver() ? received : sent).push_back(number);
}

void WaitGraph::addRegion(Region &region, unsigned depth) {
  for (Operation &op : region.getOps()) {
    if (auto end = dyn_cast<EdgeOpInterface>(&op))
      addMessage(end, depth);
    if (op.getNumRegions() == 0 || !hasEnds(&op))
      continue;
    if (isa<LoopOpInterface>(op)) {
      addLoop(op, depth);
      continue;
    }
    for (Region &inner : op.getRegions())
      addRegion(inner, depth);
  }
}

void WaitGraph::addLoop(Operation &op, unsigned depth) {
  int begin = addEvent(&op, depth);
  for (int round = 0; round < (depth < maxDepth ? 2 : 1); ++round)
    addRegion(op.getRegion(0), depth + 1);
  // The message that ends the loop.
  for (Operation &inner : op.getRegion(0).getOps())
    if (auto end = dyn_cast<EdgeOpInterface>(&inner);
        end && end.isReceiver() && cast<EdgeAttr>(end.getEdgeName()).getKind() == EdgeKind::Control)
      addMessage(end, depth + 1);
  int end = addEvent(&op, depth);
  Attribute number = op.getAttr("pdg.region");
  if (!number)
    return;
  Loop &loop = loops_[number];
  SmallVector<std::pair<int, int>> &times = loop.times[ClusterEnds::roleOf(&op)];
  times.push_back({begin, end});
  if (times.size() == 1)
    op.walk([&](EdgeOpInterface inner) {
      auto edge = cast<EdgeAttr>(inner.getEdgeName());
      loop.together.unionSets(edge.getFrom().getAsOpaquePointer(),
                              edge.getTo().getAsOpaquePointer());
    });
}

void WaitGraph::connectLoops() {
  for (auto &[number, loop] : loops_) {
    // Of each group of roles, and each time: the event that all have begun the loop.
    std::map<std::pair<const void *, size_t>, int> all;
    for (auto &[role, times] : loop.times) {
      auto group = loop.together.findLeader(role.getAsOpaquePointer());
      if (group == loop.together.member_end())
        continue; // It exchanges nothing there.
      for (auto [time, both] : llvm::enumerate(times)) {
        auto [begun, isNew] = all.try_emplace({*group, time}, static_cast<int>(events_.size()));
        if (isNew)
          events_.push_back({nullptr, false, -1, -1, -1, {}});
        events_[begun->second].begins.push_back(both.first);
        events_[both.second].begins.push_back(begun->second);
      }
    }
  }
}

void WaitGraph::connectMessages() {
  for (auto &[edge, both] : byEdge_) {
    auto &[sent, received] = both;
    for (auto [from, to] : llvm::zip(sent, received))
      events_[to].message = from;
    for (size_t i = 0; i < sent.size(); ++i) {
      Event &send = events_[sent[i]];
      // A message is given back by the next receive of its edge, one of a queue when it is taken.
      size_t room = kEdgeDepth - 1;
      if (auto capacity = send.op->getAttrOfType<IntegerAttr>("capacity"))
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
      SmallVector<int> waits = events_[at].waits();
      if (followed == static_cast<int>(waits.size())) {
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
  std::string role = ClusterEnds::roleOf(waiting.op).str();
  Diagnostic &note = error.attachNote(waiting.op->getLoc());
  auto end = dyn_cast<EdgeOpInterface>(waiting.op);
  if (!end) {
    note << role << " ends this loop only when " << ClusterEnds::roleOf(events_[reason].op).str()
         << " has begun it: queues between them fill";
    return;
  }
  auto edge = cast<EdgeAttr>(end.getEdgeName());
  if (reason == waiting.message)
    note << role << " waits here for '" << edge.str() << "' of " << edge.getFrom().str();
  else
    note << role << " waits here until " << edge.getTo().str() << " takes an earlier '"
         << edge.str() << "': its queue is full";
}

LogicalResult WaitGraph::report(ArrayRef<int> cycle) const {
  SmallVector<std::pair<int, int>> waits;
  for (size_t i = 0; i < cycle.size(); ++i) {
    int event = cycle[i], reason = cycle[(i + 1) % cycle.size()];
    if (!events_[event].op || reason == events_[event].before)
      continue;
    // Not that all have begun a loop is the reason, but that one has not.
    if (!events_[reason].op)
      reason = cycle[(i + 2) % cycle.size()];
    waits.push_back({event, reason});
  }
  auto error =
      events_[waits.front().first].op->emitError("the roles would wait for each other for ever");
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
