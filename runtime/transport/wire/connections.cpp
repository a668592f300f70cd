// Making connections, failing and ending together. SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/wire/connections.h"

#include "runtime/transport/wire/shared_link.h"
#include "runtime/transport/wire/stream_link.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>

namespace pdg {

namespace {

using Clock = std::chrono::steady_clock;

/// Of two processes this one dials.
bool dials(Peer self, Peer other) { return self < other; }

bool shareAnEdge(const Topology &topology, Peer one, Peer other) {
  return std::any_of(topology.edges.begin(), topology.edges.end(), [&](const EdgeInfo &edge) {
    return connects(edge, one, other) || connects(edge, other, one);
  });
}

} // namespace

Connections::Connections(ProcessOptions options) : options_(std::move(options)) {
  identity_.peer = options_.self;
  identity_.job = options_.job;
  identity_.manifestHash = options_.manifestHash;
  identifyHost(identity_);
  for (Peer peer : allPeers(options_.topology))
    if (shareAnEdge(options_.topology, options_.self, peer)) {
      pairs_.push_back(std::make_unique<PeerPair>());
      pairs_.back()->peer = peer;
    }
}

absl::StatusOr<std::unique_ptr<Connections>> Connections::listen(ProcessOptions options) {
  if (absl::Status status = checkTopology(options.topology); !status.ok())
    return status;
  std::vector<Peer> peers = allPeers(options.topology);
  if (std::find(peers.begin(), peers.end(), options.self) == peers.end())
    return absl::InvalidArgumentError(
        absl::StrCat(nameOf(options.self), " is none of the cluster's processes"));
  std::unique_ptr<Connections> made(new Connections(std::move(options)));
  made->openSharing();
  auto network = GrpcNetwork::listen(
      made->options_.host, made->options_.tls,
      [connections = made.get()](auto &stream) { return connections->meet(stream); });
  if (!network.ok())
    return network.status();
  made->network_ = *std::move(network);
  return made;
}

void Connections::openSharing() {
  if (!options_.sharesMemory) {
    identity_.noSharing = "it is switched off";
    return;
  }
  auto sharing = Sharing::create(options_.topology, options_.self);
  if (!sharing.ok()) {
    identity_.noSharing = std::string(sharing.status().message());
    return;
  }
  sharing_ = *std::move(sharing);
  identity_.sharingSocket = sharing_->socketName();
  bell_ = &sharing_->bell();
}

Connections::~Connections() {
  constexpr std::chrono::seconds kPatience{1};
  // A frozen process does not answer; its stream ends by itself, but nobody waits for that who
  // fails.
  Clock::time_point deadline = isStopped() ? Clock::now() + kPatience : kNever;
  auto isSettled = [&] {
    return std::all_of(pairs_.begin(), pairs_.end(), [](const auto &pair) {
      PeerSession *session = pair->session.load(std::memory_order_acquire);
      return !session || session->isSettled();
    });
  };
  if (hasFinished_ && !isStopped())
    waitFor(*bell_, [&] { return isStopped() || isSettled(); });
  if (isStopped())
    waitFor(*bell_, isSettled, deadline == kNever ? Clock::now() + kPatience : deadline);
  isEnding_ = true;
  network_.reset();
  ring(*bell_);
  if (secondVoice_.joinable())
    secondVoice_.join();
}

std::shared_ptr<StreamEvents> Connections::meet(NetworkStream &stream) {
  auto session = std::make_shared<PeerSession>(*this, std::nullopt);
  session->begin(stream);
  std::lock_guard lock(mutex_);
  sessions_.push_back(session);
  return session;
}

absl::Status Connections::dial(const std::map<Peer, std::string> &addresses) {
  for (auto &pair : pairs_) {
    if (!dials(options_.self, pair->peer))
      continue;
    auto address = addresses.find(pair->peer);
    if (address == addresses.end())
      return absl::InvalidArgumentError(absl::StrCat("no address of ", nameOf(pair->peer)));
    auto session = std::make_shared<PeerSession>(*this, pair->peer);
    {
      std::lock_guard lock(mutex_);
      sessions_.push_back(session);
    }
    NetworkStream &stream = network_->dial(address->second, session);
    session->begin(stream);
    pair->session.store(session.get(), std::memory_order_release);
  }
  return absl::OkStatus();
}

absl::Status Connections::connect(const std::map<Peer, std::string> &addresses) {
  absl::Status status = connectAll(addresses);
  if (sharing_)
    sharing_->endAccepting();
  if (!status.ok())
    stop(status);
  return status;
}

absl::Status Connections::connectAll(const std::map<Peer, std::string> &addresses) {
  absl::Status status = dial(addresses);
  Clock::time_point deadline = Clock::now() + options_.connectLimit;
  auto hasFailed = [&] { return isStopped() || hasFailedToConnect_; };
  auto needsChoice = [&](const std::unique_ptr<PeerPair> &pair) {
    PeerSession *session = pair->session.load(std::memory_order_acquire);
    return session && dials(options_.self, pair->peer) &&
           session->phase() == PeerSession::Phase::Choosing;
  };
  for (bool isConnected = false; status.ok() && !isConnected;) {
    bool isInTime = waitFor(
        *bell_,
        [&] {
          isConnected = std::all_of(pairs_.begin(), pairs_.end(),
                                    [](const auto &pair) { return pair->isOpen(); });
          return isConnected || hasFailed() ||
                 std::any_of(pairs_.begin(), pairs_.end(), needsChoice);
        },
        deadline);
    if (!isInTime || hasFailed())
      status = failedToConnect();
    for (auto &pair : pairs_)
      if (status.ok() && needsChoice(pair))
        chooseWay(*pair);
  }
  return status;
}

absl::Status Connections::failedToConnect() {
  if (isStopped())
    return cause();
  {
    std::lock_guard lock(mutex_);
    if (!connectError_.ok())
      return connectError_;
  }
  std::vector<std::string> missing;
  for (auto &pair : pairs_)
    if (!pair->isOpen())
      missing.push_back(nameOf(pair->peer));
  return absl::DeadlineExceededError(absl::StrCat(nameOf(options_.self), " waited ",
                                                  options_.connectLimit.count() / 1000.0, " s for ",
                                                  absl::StrJoin(missing, ", ")));
}

void Connections::chooseWay(PeerPair &pair) {
  PeerSession &session = *pair.session.load(std::memory_order_acquire);
  std::string reason = whyNotShared(identity_, session.other());
  if (reason.empty()) {
    auto memory = sharing_->offer(session.other().sharingSocket, pair.peer);
    if (memory.ok()) {
      useMemory(pair, *std::move(memory));
      return session.choose(true, "");
    }
    reason = std::string(memory.status().message());
  }
  useStream(pair, reason);
  session.choose(false, reason);
}

absl::Status Connections::chosen(PeerSession &session, bool sharesMemory,
                                 const std::string &reason) {
  PeerPair &pair = *find(session.other().peer);
  if (!sharesMemory) {
    useStream(pair, reason);
    return absl::OkStatus();
  }
  if (!sharing_)
    return absl::InvalidArgumentError("a choice that was not offered");
  auto memory = sharing_->accepted(pair.peer);
  if (!memory.ok())
    return memory.status();
  useMemory(pair, *std::move(memory));
  return absl::OkStatus();
}

void Connections::useStream(PeerPair &pair, const std::string &why) {
  PeerSession &session = *pair.session.load(std::memory_order_acquire);
  pair.link = std::make_unique<StreamLink>(options_.topology, session.lanes(), session.stream());
  say(absl::StrCat(nameOf(options_.self), " and ", nameOf(pair.peer), " share no memory: ", why));
}

void Connections::useMemory(PeerPair &pair, SharedPair memory) {
  pair.link =
      std::make_unique<SharedLink>(options_.topology, options_.self, pair.peer, std::move(memory));
  say(absl::StrCat(nameOf(options_.self), " and ", nameOf(pair.peer), " share memory"));
}

absl::Status Connections::admit(PeerSession &session, Peer peer) {
  PeerPair *pair = find(peer);
  if (!pair || !dials(peer, options_.self))
    return absl::PermissionDeniedError(
        absl::StrCat(nameOf(options_.self), " expects no connection from ", nameOf(peer)));
  PeerSession *none = nullptr;
  if (!pair->session.compare_exchange_strong(none, &session))
    return absl::AlreadyExistsError(absl::StrCat(nameOf(peer), " is connected already"));
  return absl::OkStatus();
}

void Connections::refused(PeerSession &session, const absl::Status &why, bool isFinal) {
  std::optional<Peer> dialled;
  for (auto &pair : pairs_)
    if (pair->session.load(std::memory_order_acquire) == &session)
      dialled = pair->peer;
  say(absl::StrCat(dialled ? nameOf(*dialled) : session.stream().address(), ": ", why.message()));
  if (!dialled && !isFinal)
    return;
  std::lock_guard lock(mutex_);
  if (connectError_.ok())
    connectError_ =
        isFinal ? why
                : absl::Status(why.code(), absl::StrCat("cannot connect with ", nameOf(*dialled),
                                                        ": ", why.message()));
  hasFailedToConnect_ = true;
}

void Connections::lost(PeerSession &session, const std::string &why) {
  // This process has finished, all have seen it, and it ends the connections itself.
  if (isEnding_)
    return;
  PeerPair &pair = *find(session.other().peer);
  absl::Status cause = absl::UnavailableError(
      absl::StrCat(nameOf(pair.peer), " was lost: ", why, describeMissing(pair)));
  // All that were connected see it at the same time, each with another message missing. The first
  // of them speaks, unless it is lost too.
  std::vector<Peer> peers = allPeers(topology());
  bool isFirst = *std::find_if(peers.begin(), peers.end(), [&](Peer peer) {
    return shareAnEdge(topology(), peer, pair.peer);
  }) == options_.self;
  if (isFirst)
    return stop(cause);
  constexpr std::chrono::milliseconds kPatience{200};
  std::lock_guard lock(mutex_);
  if (!secondVoice_.joinable())
    secondVoice_ = std::jthread([this, cause, until = Clock::now() + kPatience] {
      if (!waitFor(*bell_, [this] { return isStopped() || isEnding_; }, until))
        stop(cause);
    });
}

std::string Connections::describeMissing(const PeerPair &pair) {
  // The edges of a step are used equally often, so the first that is one behind comes next. Others,
  // on which a message is rare, are further behind.
  std::vector<std::pair<int64_t, uint32_t>> counts;
  uint32_t most = 0;
  for (int64_t edge = 0; edge < static_cast<int64_t>(topology().edges.size()); ++edge)
    if (connects(topology().edges[static_cast<size_t>(edge)], pair.peer, options_.self)) {
      counts.push_back({edge, pair.link->countArrived(edge)});
      most = std::max(most, counts.back().second);
    }
  if (counts.empty())
    return "";
  auto next = std::find_if(counts.begin(), counts.end(),
                           [&](const auto &count) { return count.second + 1 == most; });
  if (next == counts.end())
    next = std::find_if(counts.begin(), counts.end(),
                        [&](const auto &count) { return count.second == most; });
  const EdgeInfo &edge = topology().edges[static_cast<size_t>(next->first)];
  return absl::StrCat("; message ", next->second, " of '", edge.name, "'",
                      edge.place.empty() ? "" : " at ", edge.place, " did not come");
}

void Connections::stop(const absl::Status &cause) {
  std::vector<std::shared_ptr<PeerSession>> sessions;
  {
    std::lock_guard lock(mutex_);
    if (!cause_.ok())
      return;
    cause_ = cause;
    sessions = sessions_;
  }
  isStopped_.store(true, std::memory_order_release);
  for (auto &session : sessions)
    if (session->phase() == PeerSession::Phase::Open)
      session->sendStop(cause);
  ring(*bell_);
}

absl::Status Connections::cause() const {
  std::lock_guard lock(mutex_);
  return cause_;
}

void Connections::finish() {
  if (std::exchange(hasFinished_, true))
    return;
  for (auto &pair : pairs_)
    if (pair->isOpen())
      pair->session.load(std::memory_order_acquire)->sendFinish();
}

PeerPair *Connections::find(Peer peer) {
  for (auto &pair : pairs_)
    if (pair->peer == peer)
      return pair.get();
  return nullptr;
}

void Connections::say(const std::string &text) {
  std::lock_guard lock(logMutex_);
  if (options_.log)
    options_.log(text);
}

} // namespace pdg
