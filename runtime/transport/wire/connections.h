// The connections of one process with the others: making them, the first cause of a failure, and
// ending in order. Sending and receiving over them is left to the exchange.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/transport/wire/doorbell.h"
#include "runtime/transport/wire/link.h"
#include "runtime/transport/wire/peer_session.h"
#include "runtime/transport/wire/process_exchange.h"
#include "runtime/transport/wire/sharing.h"

#include <mutex>
#include <thread>
#include <vector>

namespace pdg {

/// One other process that this one shares an edge with.
struct PeerPair {
  Peer peer;
  /// Set when the other process is known to be there; then it stays.
  std::atomic<PeerSession *> session = nullptr;
  /// Set before the session is open.
  std::unique_ptr<Link> link;

  bool isOpen() const {
    PeerSession *known = session.load(std::memory_order_acquire);
    return known && known->phase() == PeerSession::Phase::Open;
  }
};

/// All connections of a process.
class Connections : public SessionHost {
public:
  static absl::StatusOr<std::unique_ptr<Connections>> listen(ProcessOptions options);
  ~Connections() override;

  int port() const { return network_->port(); }
  absl::Status connect(const std::map<Peer, std::string> &addresses);

  /// The pair with `peer`; null if there is no edge between.
  PeerPair *find(Peer peer);

  DoorbellWord &bell() { return *bell_; }

  /// Makes `cause` the cause of failure, unless there is one, and tells all.
  void stop(const absl::Status &cause);
  bool isStopped() const { return isStopped_.load(std::memory_order_acquire); }
  absl::Status cause() const;

  /// Says to all that no tensors follow.
  void finish();

  const Topology &topology() const override { return options_.topology; }
  const Identity &identity() const override { return identity_; }
  absl::Status admit(PeerSession &session, Peer peer) override;
  absl::Status chosen(PeerSession &session, bool sharesMemory, const std::string &reason) override;
  void refused(PeerSession &session, const absl::Status &why, bool isFinal) override;
  void arrived(PeerSession &session, int64_t edge) override {
    find(session.other().peer)->link->arrived(edge);
  }
  void fail(const absl::Status &cause) override { stop(cause); }
  void lost(PeerSession &session, const std::string &why) override;
  bool changed() override { return ring(*bell_); }

private:
  explicit Connections(ProcessOptions options);

  void openSharing();
  std::shared_ptr<StreamEvents> meet(NetworkStream &stream);
  absl::Status dial(const std::map<Peer, std::string> &addresses);
  void chooseWay(PeerPair &pair);
  absl::Status connectAll(const std::map<Peer, std::string> &addresses);
  absl::Status failedToConnect();
  void useStream(PeerPair &pair, const std::string &why);
  void useMemory(PeerPair &pair, SharedPair memory);
  std::string describeMissing(const PeerPair &pair);
  void say(const std::string &text);

  const ProcessOptions options_;
  Identity identity_;
  /// Null if this process shares no memory.
  std::unique_ptr<Sharing> sharing_;
  /// The shared one, if there is one.
  DoorbellWord ownBell_;
  DoorbellWord *bell_ = &ownBell_;
  std::vector<std::unique_ptr<PeerPair>> pairs_;

  std::atomic<bool> isStopped_ = false;
  std::atomic<bool> hasFailedToConnect_ = false;
  std::atomic<bool> isEnding_ = false;
  bool hasFinished_ = false;
  mutable std::mutex mutex_;
  // Guarded by mutex_, to the end.
  absl::Status cause_;
  absl::Status connectError_;
  std::vector<std::shared_ptr<PeerSession>> sessions_;

  /// Waits for another process to say what it and this one saw.
  std::jthread secondVoice_;

  std::mutex logMutex_;
  /// Last, so that its thread ends first.
  std::unique_ptr<GrpcNetwork> network_;
};

} // namespace pdg
