// The transport between threads: one ring of buffers per edge and pair, one mutex for all of them.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/memory_exchange.h"

#include "runtime/base/mix.h"
#include "runtime/base/tensor.h"
#include "runtime/transport/buffer.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

namespace pdg {

namespace {

using Clock = std::chrono::steady_clock;

struct Slot {
  Buffer buffer;
  std::vector<int64_t> sizes;
  Clock::time_point arrival;
};

/// The messages of one edge between two processes. `sent` and `released` only grow; what lies
/// between them is on the way or in the receiver's hands.
struct Lane {
  std::vector<Slot> slots;
  uint64_t sent = 0;
  uint64_t released = 0;
  bool isReserved = false;
  bool isHeld = false;

  Slot &at(uint64_t number) { return slots[number % slots.size()]; }
  bool isFull() const { return sent - released == slots.size(); }
  /// The number of the next message to receive.
  uint64_t next() const { return released + (isHeld ? 1 : 0); }
};

} // namespace

struct MemoryCluster::State {
  using LaneKey = std::tuple<int64_t, Peer, Peer>;

  Topology topology;
  MemoryOptions options;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<LaneKey, Lane> lanes;
  std::set<Peer> finished;
  absl::Status cause;

  /// The place of a process among all of them.
  int64_t numberOf(Peer peer) const {
    return peer.kind == PeerKind::Trainer ? peer.index : topology.trainers + peer.index;
  }

  /// The lane, or why there is none.
  absl::StatusOr<Lane *> find(int64_t edge, Peer from, Peer to) {
    if (auto lane = lanes.find({edge, from, to}); lane != lanes.end())
      return &lane->second;
    if (edge < 0 || edge >= static_cast<int64_t>(topology.edges.size()))
      return absl::InvalidArgumentError(absl::StrCat("there is no edge ", edge));
    return absl::InvalidArgumentError(
        absl::StrCat("edge '", topology.edges[static_cast<size_t>(edge)].name,
                     "' does not lead from ", nameOf(from), " to ", nameOf(to)));
  }
};

class MemoryCluster::End : public Exchange {
public:
  End(State &state, Peer self) : state_(state), self_(self) {}

  Peer self() const override { return self_; }
  const Topology &topology() const override { return state_.topology; }

  absl::StatusOr<char *> reserve(int64_t edge, Peer to, std::span<const int64_t> sizes) override {
    delay();
    absl::StatusOr<Lane *> lane = state_.find(edge, self_, to);
    if (!lane.ok())
      return lane.status();
    const EdgeInfo &info = state_.topology.edges[static_cast<size_t>(edge)];
    if (absl::Status status = checkSizes(info, sizes); !status.ok())
      return status;
    std::unique_lock lock(state_.mutex);
    while (state_.cause.ok() && (*lane)->isFull()) {
      if (state_.finished.contains(to))
        return absl::OutOfRangeError(absl::StrCat(nameOf(to), " has finished"));
      wait(lock, edge, absl::StrCat("until ", nameOf(to), " takes"));
    }
    if (!state_.cause.ok())
      return state_.cause;
    Slot &slot = (*lane)->at((*lane)->sent);
    // No one else looks at the slot: large memory is made without the lock.
    lock.unlock();
    absl::StatusOr<int64_t> bytes = countBytes(info.dtype, sizes);
    if (!bytes.ok())
      return bytes.status();
    if (absl::Status status = slot.buffer.grow(*bytes); !status.ok())
      return status;
    slot.sizes.assign(sizes.begin(), sizes.end());
    (*lane)->isReserved = true;
    return slot.buffer.data();
  }

  absl::Status commit(int64_t edge, Peer to) override {
    absl::StatusOr<Lane *> lane = state_.find(edge, self_, to);
    if (!lane.ok())
      return lane.status();
    if (!(*lane)->isReserved)
      return absl::FailedPreconditionError("commit without a reserve");
    std::lock_guard lock(state_.mutex);
    if (!state_.cause.ok())
      return state_.cause;
    (*lane)->isReserved = false;
    (*lane)->at((*lane)->sent).arrival = Clock::now() + std::chrono::microseconds(draw(500));
    ++(*lane)->sent;
    notify();
    return absl::OkStatus();
  }

  absl::StatusOr<TensorView> receive(int64_t edge, Peer from) override {
    delay();
    absl::StatusOr<Lane *> found = state_.find(edge, from, self_);
    if (!found.ok())
      return found.status();
    Lane &lane = **found;
    std::unique_lock lock(state_.mutex);
    if (lane.isHeld) {
      ++lane.released;
      lane.isHeld = false;
      notify();
    }
    for (;;) {
      if (!state_.cause.ok())
        return state_.cause;
      Clock::time_point until = Clock::time_point::max();
      if (isReady(lane, until)) {
        lane.isHeld = true;
        Slot &slot = lane.at(lane.released);
        return TensorView{slot.buffer.data(), slot.sizes};
      }
      if (lane.next() == lane.sent && state_.finished.contains(from))
        return absl::OutOfRangeError(absl::StrCat(nameOf(from), " has finished"));
      wait(lock, edge, absl::StrCat("for ", nameOf(from), " to send"), until);
    }
  }

  absl::StatusOr<Peer> nextSender(int64_t edge) override {
    delay();
    if (edge < 0 || edge >= static_cast<int64_t>(state_.topology.edges.size()))
      return absl::InvalidArgumentError(absl::StrCat("there is no edge ", edge));
    std::vector<Peer> senders;
    for (Peer peer : allPeers(state_.topology))
      if (connects(state_.topology.edges[static_cast<size_t>(edge)], peer, self_))
        senders.push_back(peer);
    std::unique_lock lock(state_.mutex);
    for (;;) {
      if (!state_.cause.ok())
        return state_.cause;
      size_t ended = 0;
      Clock::time_point until = Clock::time_point::max();
      for (size_t i = 0; i < senders.size(); ++i) {
        size_t turn = (turns_[edge] + i) % senders.size();
        Lane &lane = state_.lanes.at({edge, senders[turn], self_});
        if (isReady(lane, until)) {
          turns_[edge] = turn + 1;
          return senders[turn];
        }
        ended += lane.next() == lane.sent && state_.finished.contains(senders[turn]);
      }
      if (ended == senders.size())
        return absl::OutOfRangeError("all senders have finished");
      wait(lock, edge, "for somebody to send", until);
    }
  }

  absl::Status finish() override {
    std::lock_guard lock(state_.mutex);
    state_.finished.insert(self_);
    notify();
    return state_.cause;
  }

  void stop(absl::Status cause) override {
    std::lock_guard lock(state_.mutex);
    if (state_.cause.ok())
      state_.cause = std::move(cause);
    notify();
  }

  absl::Status status() const override {
    std::lock_guard lock(state_.mutex);
    return state_.cause;
  }

private:
  /// Says whether a message has arrived; if one is on the way, lowers `until` to its arrival.
  static bool isReady(Lane &lane, Clock::time_point &until) {
    if (lane.next() == lane.sent)
      return false;
    Clock::time_point arrival = lane.at(lane.next()).arrival;
    if (arrival <= Clock::now())
      return true;
    until = std::min(until, arrival);
    return false;
  }

  /// Waits until something changed, or until `until`; `what` says for what on the edge.
  void wait(std::unique_lock<std::mutex> &lock, int64_t edge, const std::string &what,
            Clock::time_point until = Clock::time_point::max()) {
    if (Turns *turns = state_.options.turns) {
      const EdgeInfo &info = state_.topology.edges[static_cast<size_t>(edge)];
      lock.unlock();
      bool goesOn = turns->block(state_.options.firstThread + state_.numberOf(self_),
                                 absl::StrCat(nameOf(self_), " waits ", what, " '", info.name, "'",
                                              info.place.empty() ? "" : " of ", info.place));
      lock.lock();
      if (!goesOn && state_.cause.ok())
        state_.cause = absl::InternalError(absl::StrCat("all processes wait for each other: ",
                                                        absl::StrJoin(turns->reasons(), "; ")));
      if (!goesOn)
        notify();
      return;
    }
    if (until == Clock::time_point::max())
      state_.changed.wait(lock);
    else
      state_.changed.wait_until(lock, until);
  }

  void notify() {
    if (Turns *turns = state_.options.turns)
      turns->wake();
    else
      state_.changed.notify_all();
  }

  /// A number below `bound` from the seed; 0 without a seed.
  int64_t draw(uint64_t bound) {
    if (state_.options.delaySeed == 0)
      return 0;
    uint64_t stream =
        combine(static_cast<uint64_t>(self_.kind), static_cast<uint64_t>(self_.index));
    return static_cast<int64_t>(
        drawBelow(combine(state_.options.delaySeed, stream), draws_++, bound));
  }

  void delay() {
    int64_t kind = draw(8);
    if (kind >= 6)
      std::this_thread::sleep_for(std::chrono::microseconds(draw(300)));
    else if (kind >= 3)
      std::this_thread::yield();
  }

  State &state_;
  const Peer self_;
  /// By edge: where nextSender looks first. Guarded by the state's mutex.
  std::map<int64_t, size_t> turns_;
  std::atomic<uint64_t> draws_ = 0;
};

MemoryCluster::MemoryCluster(std::unique_ptr<State> state) : state_(std::move(state)) {
  for (Peer peer : allPeers(state_->topology))
    ends_.push_back(std::make_unique<End>(*state_, peer));
}

MemoryCluster::~MemoryCluster() = default;

absl::StatusOr<std::unique_ptr<MemoryCluster>> MemoryCluster::create(Topology topology,
                                                                     MemoryOptions options) {
  if (absl::Status status = checkTopology(topology); !status.ok())
    return status;
  auto state = std::make_unique<State>();
  state->topology = std::move(topology);
  state->options = options;
  std::vector<Peer> peers = allPeers(state->topology);
  for (size_t i = 0; i < state->topology.edges.size(); ++i) {
    const EdgeInfo &edge = state->topology.edges[i];
    for (Peer from : peers)
      for (Peer to : peers)
        if (connects(edge, from, to))
          state->lanes[{static_cast<int64_t>(i), from, to}].slots.resize(
              static_cast<size_t>(edge.depth));
  }
  return std::unique_ptr<MemoryCluster>(new MemoryCluster(std::move(state)));
}

Exchange &MemoryCluster::at(Peer peer) {
  return *ends_.at(static_cast<size_t>(state_->numberOf(peer)));
}

} // namespace pdg
