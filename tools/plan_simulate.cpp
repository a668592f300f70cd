// Replays the steps of a cluster on a model of its network and of its processors.
//
// All trainers run one program, so one of them, the slowest, stands for all: what T trainers send
// to a server passes the server's link one behind the other, and so does what it sends to them. The
// time to simulate does not depend on T.
// SPDX-License-Identifier: Apache-2.0
#include "tools/plan.h"

#include "ir/dims.h"

#include "llvm/ADT/MapVector.h"

#include <algorithm>
#include <deque>
#include <map>

using namespace mlir;

namespace pdg {
namespace {

/// What a processor does in a second: products that are added, and elements that are read and
/// written. Rough, and the same for all: the plan compares, it does not promise.
constexpr double productsPerSecond = 25e9;
constexpr double elementsPerSecond = 2e9;

/// One thing that a role does in a step: computes for a while, then sends or receives.
struct Action {
  double seconds = 0; ///< Of computing before it.
  EdgeOpInterface end;
};

/// A process (of trainers, the slowest of all) and its link.
struct Process {
  RoleAttr role;
  std::vector<Action> actions;     ///< The last one computes only.
  double now = 0, out = 0, in = 0; ///< When it goes on; when its link is free, either way.
  double sentSeconds = 0, receivedSeconds = 0;
  size_t next = 0;
  int step = 0;
  std::vector<double> stepEnds;
  double waiting = 0;
  std::map<std::string, double> waits; ///< In the last step.
};

class Simulator {
public:
  Simulator(ModuleOp module, const Cluster &cluster, double slowest);
  Simulation run();

private:
  void addActions(Block &block, Process &process, double slowness, double rounds);
  double secondsOf(Operation &op);
  double workOf(Operation &op, bool &isSum);
  int64_t boundOf(Value value, int64_t axis);
  double bytesOf(EdgeOpInterface end);
  bool advance(Process &process);
  void send(Process &process, EdgeOpInterface end);
  bool receive(Process &process, EdgeOpInterface end);
  Block *stepOf(RoleModule role, Operation *step);

  const Cluster &cluster_;
  ClusterEnds ends_;
  ShapeAnalysis shapes_;
  std::vector<Process> processes_;
  llvm::DenseMap<Attribute, size_t> byRole_;
  llvm::DenseMap<Attribute, std::deque<double>> arrived_; ///< When messages of an edge are there.
  static constexpr int steps = 6;                         ///< The first ones fill the queues.
};

//===- Work ----------------------------------------------------------------===//

int64_t Simulator::boundOf(Value value, int64_t axis) {
  Dims dims = shapes_.dimsOf(value);
  return std::max<int64_t>(1, shapes_.boundOf(dims[axis]).value_or(1));
}

/// The size of the space that an op goes through: its factors, and the axes that have none.
double Simulator::workOf(Operation &op, bool &isSum) {
  double elements = 0;
  for (Value result : op.getResults())
    elements += static_cast<double>(shapes_.elementBoundOf(result).value_or(1));
  auto shardable = dyn_cast<ShardableOpInterface>(&op);
  ShardingRule rule = shardable ? shardable.getShardingRule() : ShardingRule();
  if (rule.empty())
    return elements;
  std::vector<int64_t> sizes(rule.kinds.size(), 1);
  double whole = 1;
  for (auto [operand, factors] : llvm::zip(op.getOperands(), rule.operands))
    for (auto [axis, factor] : llvm::enumerate(factors))
      if (factor >= 0)
        sizes[factor] = boundOf(operand, static_cast<int64_t>(axis));
  for (auto [result, factors] : llvm::zip(op.getResults(), rule.results))
    for (auto [axis, factor] : llvm::enumerate(factors))
      if (factor < 0)
        whole *= static_cast<double>(boundOf(result, static_cast<int64_t>(axis)));
  for (auto [kind, size] : llvm::zip(rule.kinds, sizes)) {
    whole *= static_cast<double>(size);
    isSum |= kind == FactorKind::Sum || kind == FactorKind::Leaves;
  }
  // The window of a convolution: axes of its second operand that the result does not have.
  if (isSum && rule.operands.size() > 1)
    for (auto [axis, factor] : llvm::enumerate(rule.operands[1]))
      if (factor < 0)
        whole *= static_cast<double>(boundOf(op.getOperand(1), static_cast<int64_t>(axis)));
  return std::max(whole, elements);
}

double Simulator::secondsOf(Operation &op) {
  auto element = dyn_cast<ElementOpInterface>(&op);
  if (op.getNumRegions() != 0 || isa<ViewOpInterface>(op) || isa<EdgeOpInterface>(op) ||
      op.hasTrait<OpTrait::ConstantLike>() || (element && element.isCheap()) ||
      op.getNumOperands() == 0)
    return 0;
  bool isSum = false;
  double work = workOf(op, isSum);
  return work / (isSum && op.getNumOperands() > 1 ? productsPerSecond : elementsPerSecond);
}

//===- Actions -------------------------------------------------------------===//

Simulator::Simulator(ModuleOp module, const Cluster &cluster, double slowest)
    : cluster_(cluster), ends_(module) {
  Operation *step = findStepLoop(ends_);
  for (RoleModule role : ends_.roles()) {
    Process process;
    process.role = role.role;
    if (Block *block = stepOf(role, step))
      addActions(*block, process, role.role.isTrainer() ? slowest : 1, 1);
    process.actions.emplace_back();
    byRole_[role.role] = processes_.size();
    processes_.push_back(std::move(process));
  }
}

/// What a role does in a step: the body of the loop, or of its copy; without a loop the program.
Block *Simulator::stepOf(RoleModule role, Operation *step) {
  Block *found = nullptr;
  Attribute number = step ? step->getAttr("pdg.region") : Attribute();
  role.module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isCopy = step && (op == step || (number && op->getAttr("pdg.region") == number));
    bool isProgram = !step && op->getNumRegions() == 1 && !op->getRegion(0).empty() &&
                     op->getParentOp() == role.module && !op->hasAttr("name");
    if (!isCopy && !isProgram)
      return WalkResult::advance();
    found = &op->getRegion(0).front();
    return WalkResult::interrupt();
  });
  return found;
}

void Simulator::addActions(Block &block, Process &process, double slowness, double rounds) {
  double pending = 0;
  auto &actions = process.actions;
  for (Operation &op : block) {
    pending += secondsOf(op) * slowness * rounds;
    if (auto end = dyn_cast<EdgeOpInterface>(&op)) {
      // What joins the messages of all trainers reads each of them.
      if (end.isReceiver() && end.getMessageCount() > 1)
        pending +=
            static_cast<double>(end.getMessageCount()) * bytesOf(end) / 4 / elementsPerSecond;
      if (!isQueue(cast<EdgeAttr>(end.getEdgeName()))) {
        actions.push_back({pending, end});
        pending = 0;
      }
    }
    bool isLoop = isa<LoopOpInterface>(op);
    auto most = op.getAttrOfType<IntegerAttr>("max");
    for (Region &region : op.getRegions()) {
      if (region.empty())
        continue;
      size_t first = actions.size();
      addActions(region.front(), process, slowness,
                 isLoop && most ? rounds * static_cast<double>(most.getInt()) : rounds);
      // Time before the first action inside, and behind the last.
      if (actions.size() > first) {
        actions[first].seconds += pending;
        pending = 0;
      }
    }
  }
  if (pending > 0)
    actions.push_back({pending, {}});
}

double Simulator::bytesOf(EdgeOpInterface end) {
  Value value = end.isReceiver() ? Value(end->getResult(0)) : end->getOperand(0);
  auto type = cast<RankedTensorType>(value.getType());
  std::optional<DType> dtype = toDType(type.getElementType());
  double size = dtype ? static_cast<double>(sizeOf(*dtype)) : 4;
  if (dtype == DType::F32 && cluster_.network.wire != "f32")
    size = 2;
  return size * static_cast<double>(shapes_.elementBoundOf(value).value_or(1));
}

//===- Time ----------------------------------------------------------------===//

void Simulator::send(Process &process, EdgeOpInterface end) {
  auto edge = cast<EdgeAttr>(end.getEdgeName());
  auto to = byRole_.find(edge.getTo());
  if (to == byRole_.end())
    return;
  Process &receiver = processes_[to->second];
  double seconds = bytesOf(end) / cluster_.network.bandwidth;
  double trainers = static_cast<double>(cluster_.trainers.count);
  bool isFromAll = edge.getFrom().isTrainer() && !edge.getFirst();
  double sent = seconds * (edge.getTo().isTrainer() ? trainers : 1);
  double received = seconds * (isFromAll ? trainers : 1);
  process.out = std::max(process.out, process.now) + sent;
  process.sentSeconds += sent;
  // The first bytes arrive after the latency; the receiver's link takes one message at a time.
  double begins = process.out - sent + cluster_.network.latency;
  receiver.in =
      std::max({receiver.in + received, begins + received, process.out + cluster_.network.latency});
  receiver.receivedSeconds += received;
  arrived_[edge].push_back(receiver.in);
}

bool Simulator::receive(Process &process, EdgeOpInterface end) {
  auto edge = cast<EdgeAttr>(end.getEdgeName());
  std::deque<double> &messages = arrived_[edge];
  if (messages.empty())
    return false;
  double at = messages.front();
  messages.pop_front();
  if (at > process.now) {
    if (process.step == steps - 1) {
      process.waiting += at - process.now;
      process.waits[edge.str() + " from " + edge.getFrom().str()] += at - process.now;
    }
    process.now = at;
  }
  return true;
}

/// Does the next action, if its message is there.
bool Simulator::advance(Process &process) {
  if (process.step == steps)
    return false;
  Action &action = process.actions[process.next];
  EdgeOpInterface end = action.end;
  if (end && end.isReceiver() && arrived_[cast<EdgeAttr>(end.getEdgeName())].empty())
    return false;
  process.now += action.seconds;
  if (end && end.isReceiver())
    receive(process, end);
  else if (end)
    send(process, end);
  if (++process.next == process.actions.size()) {
    process.next = 0;
    ++process.step;
    process.stepEnds.push_back(process.now);
  }
  return true;
}

Simulation Simulator::run() {
  for (bool isMoving = true; isMoving;) {
    isMoving = false;
    for (Process &process : processes_)
      while (advance(process))
        isMoving = true;
  }
  Simulation result;
  double total = 0;
  for (Process &process : processes_)
    total = std::max(total, process.now);
  for (Process &process : processes_) {
    double share = total > 0 ? std::max(process.sentSeconds, process.receivedSeconds) / total : 0;
    if (share > result.busiestShare) {
      result.busiestShare = std::min(1.0, share);
      result.busiest = process.role.str();
    }
    if (!process.role.isTrainer() || process.stepEnds.size() < 2)
      continue;
    result.step = process.stepEnds.back() - process.stepEnds[process.stepEnds.size() - 2];
    result.waiting = process.waiting;
    result.computing = std::max(0.0, result.step - process.waiting);
    result.waits.assign(process.waits.begin(), process.waits.end());
    llvm::sort(result.waits, [](const auto &a, const auto &b) {
      return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    if (result.waits.size() > 5)
      result.waits.resize(5);
  }
  return result;
}

} // namespace

Simulation simulate(ModuleOp module, const Cluster &cluster, double slowest) {
  return Simulator(module, cluster, slowest).run();
}

} // namespace pdg
