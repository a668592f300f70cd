// Threads over the transport in memory. A process that stops sends nothing more; the others go on
// as far as they can without it. So which errors there are does not depend on who is faster, and
// the least of them is that of a plain run. SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/local_cluster.h"

#include "runtime/transport/memory_exchange.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <thread>
#include <tuple>

namespace pdg {

namespace {

/// Room for a message whose size nobody bounds: memory is taken only for what is sent.
constexpr int64_t kUnbounded = int64_t{1} << 36;

bool isRole(PeerKind kind, int64_t index, Peer role) {
  return kind == role.kind && (kind == PeerKind::Trainer || index == role.index);
}

/// Adds what another end knows of the same edge.
absl::Status addEnd(EdgeInfo &edge, const EdgeInfo &other) {
  bool fits = edge.dtype == other.dtype && edge.shape.size() == other.shape.size();
  for (size_t axis = 0; fits && axis < edge.shape.size(); ++axis) {
    int64_t &size = edge.shape[axis];
    fits = size == other.shape[axis] || size == kDynamicSize || other.shape[axis] == kDynamicSize;
    size = size == other.shape[axis] ? size : kDynamicSize;
  }
  if (!fits)
    return absl::InvalidArgumentError(
        absl::StrCat("edge '", edge.name, "': ", typeString(edge.dtype, edge.shape), " is sent, ",
                     typeString(other.dtype, other.shape), " is expected (", other.place, ")"));
  // The sender knows best how much it sends.
  edge.bound = edge.bound ? edge.bound : other.bound;
  return absl::OkStatus();
}

absl::StatusOr<EdgeInfo> joinEdge(size_t index, std::span<const Peer> roles,
                                  std::span<const ProgramInfo *const> programs) {
  std::optional<EdgeInfo> edge;
  for (bool sends : {true, false})
    for (size_t role = 0; role < roles.size(); ++role) {
      const EdgeInfo &end = programs[role]->edges[index];
      if (!isRole(sends ? end.fromKind : end.toKind, sends ? end.fromIndex : end.toIndex,
                  roles[role]))
        continue;
      if (!edge)
        edge = end;
      else if (absl::Status status = addEnd(*edge, end); !status.ok())
        return status;
    }
  if (!edge)
    return absl::InvalidArgumentError(
        absl::StrCat("edge '", programs[0]->edges[index].name, "' has no ends"));
  bool isDynamic =
      std::find(edge->shape.begin(), edge->shape.end(), kDynamicSize) != edge->shape.end();
  if (!isDynamic)
    edge->bound = 0;
  else if (edge->bound == 0)
    edge->bound = kUnbounded;
  return *edge;
}

} // namespace

absl::StatusOr<std::vector<EdgeInfo>> joinEdges(std::span<const Peer> roles,
                                                std::span<const ProgramInfo *const> programs) {
  // Queues inside of a process come behind the cluster's edges; they are its own business.
  size_t count = programs[0]->edges.size();
  for (const ProgramInfo *program : programs)
    count = std::min(count, program->edges.size());
  std::vector<EdgeInfo> edges;
  for (size_t i = 0; i < count; ++i) {
    absl::StatusOr<EdgeInfo> edge = joinEdge(i, roles, programs);
    if (!edge.ok())
      return edge.status();
    edges.push_back(*std::move(edge));
  }
  return edges;
}

LocalCluster::LocalCluster(Topology topology) : topology_(std::move(topology)) {}

LocalCluster::~LocalCluster() = default;

absl::StatusOr<std::unique_ptr<LocalCluster>> LocalCluster::create(Topology topology,
                                                                   std::optional<uint64_t> seed) {
  std::unique_ptr<LocalCluster> cluster(new LocalCluster(topology));
  MemoryOptions options;
  if (seed) {
    cluster->turns_ = std::make_unique<Turns>(topology.trainers + topology.servers, *seed);
    options.turns = cluster->turns_.get();
  }
  auto exchanges = MemoryCluster::create(std::move(topology), options);
  if (!exchanges.ok())
    return exchanges.status();
  cluster->exchanges_ = *std::move(exchanges);
  cluster->processes_.reserve(allPeers(cluster->topology_).size());
  return cluster;
}

int64_t LocalCluster::numberOf(Peer peer) const {
  return peer.kind == PeerKind::Trainer ? peer.index : topology_.trainers + peer.index;
}

LocalProcess &LocalCluster::add(std::unique_ptr<ExecutionContext> context) {
  Peer peer = allPeers(topology_)[processes_.size()];
  context->join(exchanges_->at(peer));
  return processes_.emplace_back(LocalProcess{peer, std::move(context), {}, {}});
}

void LocalCluster::yield(Peer peer) {
  if (turns_ && isRunning_)
    turns_->yield(numberOf(peer));
}

void LocalCluster::runThread(size_t process) {
  auto number = static_cast<int64_t>(process);
  if (turns_)
    turns_->enter(number);
  processes_[process].execute();
  if (turns_)
    turns_->leave(number);
}

ExecutionContext *LocalCluster::run(const std::function<absl::Status()> &load) {
  for (LocalProcess &process : processes_)
    if (!process.initialize())
      return process.context.get();
  if (absl::Status status = load(); !status.ok()) {
    processes_[0].context->fail(status);
    return processes_[0].context.get();
  }
  isRunning_ = true;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < processes_.size(); ++i)
    threads.emplace_back([this, i] { runThread(i); });
  for (std::thread &thread : threads)
    thread.join();
  isRunning_ = false;
  return firstToStop();
}

ExecutionContext *LocalCluster::firstToStop() {
  ExecutionContext *first = nullptr;
  auto rank = [](const RunError &error) {
    return std::tuple(error.isConsequence, error.batches, error.site);
  };
  for (LocalProcess &process : processes_) {
    const RunError &error = process.context->error();
    if (error.exitCode != 0 && (!first || rank(error) < rank(first->error())))
      first = process.context.get();
  }
  return first;
}

std::vector<TensorRef> LocalCluster::variables() {
  std::vector<TensorRef> variables;
  for (LocalProcess &process : processes_) {
    if (process.peer.kind == PeerKind::Trainer && process.peer.index != 0)
      continue;
    std::vector<TensorRef> own = process.context->namedVariables();
    variables.insert(variables.end(), own.begin(), own.end());
  }
  return variables;
}

} // namespace pdg
