// Sending and receiving over the connections of a process: checks, waits, turns.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/wire/process_exchange.h"

#include "runtime/transport/wire/connections.h"

#include <absl/strings/str_cat.h>

namespace pdg {

namespace {

class ProcessEnd : public ProcessExchange {
public:
  explicit ProcessEnd(std::unique_ptr<Connections> connections)
      : connections_(std::move(connections)) {
    std::vector<Peer> peers = allPeers(topology());
    for (const EdgeInfo &edge : topology().edges) {
      std::vector<Incoming> &senders = incoming_.emplace_back();
      for (Peer peer : peers)
        if (connects(edge, peer, self()))
          senders.push_back({peer, connections_->find(peer), false});
    }
    turns_.resize(incoming_.size());
  }

  Peer self() const override { return connections_->identity().peer; }
  const Topology &topology() const override { return connections_->topology(); }
  int port() const override { return connections_->port(); }
  absl::Status connect(const std::map<Peer, std::string> &addresses) override {
    return connections_->connect(addresses);
  }

  absl::Status send(int64_t edge, Peer to, TensorView value) override;
  absl::StatusOr<char *> reserve(int64_t edge, Peer to, std::span<const int64_t> sizes) override;
  absl::Status commit(int64_t edge, Peer to) override;
  absl::StatusOr<TensorView> receive(int64_t edge, Peer from) override;
  absl::StatusOr<Peer> nextSender(int64_t edge) override;

  absl::Status finish() override {
    connections_->finish();
    return status();
  }
  void stop(absl::Status cause) override { connections_->stop(cause); }
  absl::Status status() const override {
    return connections_->isStopped() ? connections_->cause() : absl::OkStatus();
  }

private:
  /// One process that sends on an edge, and whether its last message is in the program's hands.
  struct Incoming {
    Peer peer;
    PeerPair *pair;
    bool isHeld;

    bool hasMessage(int64_t edge) const { return pair->link->hasMessage(edge, isHeld ? 1 : 0); }
    bool hasFinished() const { return sessionOf(*pair).lanes().hasFinished(); }
  };

  static PeerSession &sessionOf(PeerPair &pair) {
    return *pair.session.load(std::memory_order_acquire);
  }

  absl::Status checkEdge(int64_t edge) const {
    if (edge < 0 || edge >= static_cast<int64_t>(incoming_.size()))
      return absl::InvalidArgumentError(absl::StrCat("there is no edge ", edge));
    return absl::OkStatus();
  }

  absl::Status noWay(int64_t edge, Peer from, Peer to) const {
    return absl::InvalidArgumentError(
        absl::StrCat("edge '", topology().edges[static_cast<size_t>(edge)].name,
                     "' does not lead from ", nameOf(from), " to ", nameOf(to)));
  }

  absl::StatusOr<PeerPair *> findReceiver(int64_t edge, Peer to) const {
    if (absl::Status status = checkEdge(edge); !status.ok())
      return status;
    if (!connects(topology().edges[static_cast<size_t>(edge)], self(), to) ||
        !connections_->find(to))
      return noWay(edge, self(), to);
    return connections_->find(to);
  }

  /// Waits until the program may send on the edge.
  absl::StatusOr<Link *> awaitCredit(int64_t edge, Peer to, std::span<const int64_t> sizes);

  /// Waits for `ready` or the failure of the run; not ok if it failed.
  template <typename Ready> absl::Status wait(Ready ready) {
    waitFor(connections_->bell(), [&] { return connections_->isStopped() || ready(); });
    return status();
  }

  std::unique_ptr<Connections> connections_;
  std::vector<std::vector<Incoming>> incoming_;
  /// By edge: where nextSender looks first.
  std::vector<size_t> turns_;
};

absl::StatusOr<Link *> ProcessEnd::awaitCredit(int64_t edge, Peer to,
                                               std::span<const int64_t> sizes) {
  absl::StatusOr<PeerPair *> pair = findReceiver(edge, to);
  if (!pair.ok())
    return pair.status();
  absl::Status status = checkSizes(topology().edges[static_cast<size_t>(edge)], sizes);
  if (!status.ok())
    return status;
  Link &link = *(*pair)->link;
  bool canSend = false;
  status = wait([&] {
    bool hasFinished = sessionOf(**pair).lanes().hasFinished() || !(*pair)->isOpen();
    canSend = link.canSend(edge);
    return canSend || hasFinished;
  });
  if (!status.ok())
    return status;
  if (!canSend)
    return absl::OutOfRangeError(absl::StrCat(nameOf(to), " has finished"));
  return &link;
}

absl::Status ProcessEnd::send(int64_t edge, Peer to, TensorView value) {
  absl::StatusOr<Link *> link = awaitCredit(edge, to, value.sizes);
  if (!link.ok())
    return link.status();
  if (absl::Status status = (*link)->send(edge, value); !status.ok())
    return status;
  // Even when the run has failed: the stream may be reading the value.
  waitFor(connections_->bell(), [&] { return (*link)->hasLeft(edge); });
  return status();
}

absl::StatusOr<char *> ProcessEnd::reserve(int64_t edge, Peer to, std::span<const int64_t> sizes) {
  absl::StatusOr<Link *> link = awaitCredit(edge, to, sizes);
  return link.ok() ? (*link)->reserve(edge, sizes) : link.status();
}

absl::Status ProcessEnd::commit(int64_t edge, Peer to) {
  absl::StatusOr<PeerPair *> pair = findReceiver(edge, to);
  if (!pair.ok())
    return pair.status();
  if (connections_->isStopped())
    return status();
  return (*pair)->link->commit(edge);
}

absl::StatusOr<TensorView> ProcessEnd::receive(int64_t edge, Peer from) {
  if (absl::Status status = checkEdge(edge); !status.ok())
    return status;
  Incoming *sender = nullptr;
  for (Incoming &candidate : incoming_[static_cast<size_t>(edge)])
    if (candidate.peer == from)
      sender = &candidate;
  if (!sender)
    return noWay(edge, from, self());
  Link &link = *sender->pair->link;
  if (sender->isHeld)
    link.release(edge);
  sender->isHeld = false;
  bool hasMessage = false;
  absl::Status status = wait([&] {
    // Messages are looked for last: none comes after Finish.
    bool hasFinished = sender->hasFinished();
    hasMessage = sender->hasMessage(edge);
    return hasMessage || hasFinished;
  });
  if (!status.ok())
    return status;
  if (!hasMessage)
    return absl::OutOfRangeError(absl::StrCat(nameOf(from), " has finished"));
  absl::StatusOr<TensorView> view = link.take(edge);
  sender->isHeld = view.ok();
  if (view.ok())
    return view;
  connections_->stop(absl::Status(view.status().code(),
                                  absl::StrCat(nameOf(self()), " refused a message of ",
                                               nameOf(from), ": ", view.status().message())));
  return connections_->cause();
}

absl::StatusOr<Peer> ProcessEnd::nextSender(int64_t edge) {
  if (absl::Status status = checkEdge(edge); !status.ok())
    return status;
  std::vector<Incoming> &senders = incoming_[static_cast<size_t>(edge)];
  size_t &turn = turns_[static_cast<size_t>(edge)];
  const Incoming *found = nullptr;
  absl::Status status = wait([&] {
    size_t ended = 0;
    for (size_t i = 0; i < senders.size(); ++i) {
      const Incoming &sender = senders[(turn + i) % senders.size()];
      bool hasFinished = sender.hasFinished();
      if (sender.hasMessage(edge)) {
        found = &sender;
        turn = (turn + i + 1) % senders.size();
        return true;
      }
      ended += hasFinished;
    }
    return ended == senders.size();
  });
  if (!status.ok())
    return status;
  if (!found)
    return absl::OutOfRangeError("all senders have finished");
  return found->peer;
}

} // namespace

absl::StatusOr<std::unique_ptr<ProcessExchange>> ProcessExchange::listen(ProcessOptions options) {
  auto connections = Connections::listen(std::move(options));
  if (!connections.ok())
    return connections.status();
  return std::make_unique<ProcessEnd>(*std::move(connections));
}

} // namespace pdg
