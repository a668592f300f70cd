// Threads over the transport in memory. A process that stops sends nothing more; the others go on
// as far as they can without it. So which errors there are does not depend on who is faster, and
// the least of them is that of a plain run. SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/local_cluster.h"

#include "runtime/transport/memory_exchange.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <thread>
#include <tuple>
#include <type_traits>

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

/// The end of a server's session: while it waits, other sessions are served.
class LocalCluster::SessionExchange : public Exchange {
public:
  SessionExchange(Exchange &end, std::mutex &server) : end_(end), server_(server) {}

  Peer self() const override { return end_.self(); }
  const Topology &topology() const override { return end_.topology(); }
  absl::StatusOr<char *> reserve(int64_t edge, Peer to, std::span<const int64_t> sizes) override {
    return waiting([&] { return end_.reserve(edge, to, sizes); });
  }
  absl::Status commit(int64_t edge, Peer to) override { return end_.commit(edge, to); }
  absl::StatusOr<TensorView> receive(int64_t edge, Peer from) override {
    return waiting([&] { return end_.receive(edge, from); });
  }
  absl::StatusOr<Peer> nextSender(int64_t edge) override {
    return waiting([&] { return end_.nextSender(edge); });
  }
  absl::Status finish() override { return end_.finish(); }
  void stop(absl::Status cause) override { end_.stop(std::move(cause)); }
  absl::Status status() const override { return end_.status(); }

private:
  template <class Call> std::invoke_result_t<Call> waiting(Call call) {
    server_.unlock();
    auto result = call();
    server_.lock();
    return result;
  }

  Exchange &end_;
  std::mutex &server_;
};

LocalCluster::LocalCluster(Topology topology)
    : topology_(std::move(topology)), peers_(allPeers(topology_)) {}

LocalCluster::~LocalCluster() = default;

absl::StatusOr<std::unique_ptr<LocalCluster>>
LocalCluster::create(Topology topology, std::optional<uint64_t> seed, int64_t sessions) {
  std::unique_ptr<LocalCluster> cluster(new LocalCluster(std::move(topology)));
  auto perSession = static_cast<int64_t>(cluster->peers_.size());
  if (seed)
    cluster->turns_ = std::make_unique<Turns>(sessions * perSession, *seed);
  for (int64_t session = 0; session < sessions; ++session) {
    MemoryOptions options;
    options.turns = cluster->turns_.get();
    options.firstThread = session * perSession;
    auto exchanges = MemoryCluster::create(cluster->topology_, options);
    if (!exchanges.ok())
      return exchanges.status();
    cluster->exchanges_.push_back(*std::move(exchanges));
  }
  // Nobody moves once others know it.
  cluster->processes_.reserve(static_cast<size_t>(sessions * perSession));
  cluster->batches_.assign(static_cast<size_t>(sessions), 0);
  return cluster;
}

LocalProcess &LocalCluster::add(std::unique_ptr<ExecutionContext> context) {
  size_t number = processes_.size(), session = number / peers_.size();
  Peer peer = peers_[number % peers_.size()];
  LocalProcess &process = processes_.emplace_back();
  process.peer = peer;
  process.number = static_cast<int64_t>(number);
  process.context = std::move(context);
  Exchange &exchange = exchanges_[session]->at(peer);
  if (exchanges_.size() == 1)
    process.context->join(exchange);
  else if (peer.kind == PeerKind::Trainer)
    process.context->join(exchange, static_cast<int64_t>(session));
  else
    share(process, exchange);
  return process;
}

// Sessions of a server: the first one has the variables.
void LocalCluster::share(LocalProcess &process, Exchange &exchange) {
  size_t first = static_cast<size_t>(process.number) % peers_.size();
  if (static_cast<size_t>(process.number) != first)
    process.context->shareVariables(*processes_[first].context);
  // Processes that run one at a time need no lock.
  if (turns_)
    return process.context->join(exchange);
  while (servers_.size() <= static_cast<size_t>(process.peer.index))
    servers_.emplace_back();
  process.server = &servers_[static_cast<size_t>(process.peer.index)];
  shared_.push_back(std::make_unique<SessionExchange>(exchange, *process.server));
  process.context->join(*shared_.back());
}

void LocalCluster::yield(const LocalProcess &process) {
  // A session of a server is not interrupted: it ends its turn when it waits.
  bool isSession = exchanges_.size() > 1 && process.peer.kind == PeerKind::Server;
  if (turns_ && isRunning_ && !isSession)
    turns_->yield(process.number);
}

void LocalCluster::runThread(size_t number) {
  LocalProcess &process = processes_[number];
  if (turns_)
    turns_->enter(process.number);
  if (process.server)
    process.server->lock();
  process.execute();
  if (process.server)
    process.server->unlock();
  if (process.peer.kind == PeerKind::Trainer)
    advance(number / peers_.size(), INT64_MAX);
  if (turns_)
    turns_->leave(process.number);
}

void LocalCluster::advance(size_t session, int64_t batches) {
  std::lock_guard lock(paceMutex_);
  batches_[session] = batches;
  paceChanged_.notify_all();
  if (turns_)
    turns_->wake();
}

bool LocalCluster::isAhead(int64_t batches) const {
  int64_t slowest = *std::min_element(batches_.begin(), batches_.end());
  auto trainers = static_cast<int64_t>(batches_.size());
  return batches / trainers - slowest / trainers > pace_;
}

void LocalCluster::awaitOthers(const LocalProcess &process, int64_t batches) {
  if (pace_ < 0)
    return;
  advance(static_cast<size_t>(process.number) / peers_.size(), batches);
  std::unique_lock lock(paceMutex_);
  while (isAhead(batches)) {
    if (!turns_) {
      paceChanged_.wait(lock);
      continue;
    }
    lock.unlock();
    turns_->block(process.number, "a trainer waits for a slower one");
    lock.lock();
  }
}

void LocalCluster::interrupt() noexcept {
  // Trainers that keep step end where they would need trainer 0 again, and so do the servers:
  // between two of its rounds.
  for (LocalProcess &process : processes_)
    if (process.peer == Peer{})
      process.context->interrupt();
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

std::vector<ExecutionContext *> LocalCluster::owners() {
  std::vector<ExecutionContext *> owners;
  // Of several sessions the first one.
  for (size_t i = 0; i < peers_.size(); ++i)
    if (peers_[i].kind == PeerKind::Server || peers_[i].index == 0)
      owners.push_back(processes_[i].context.get());
  return owners;
}

} // namespace pdg
