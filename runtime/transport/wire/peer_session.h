// One stream to another process, from the handshake to its end: it tells the process's exchange who
// is there, what arrived and what went wrong. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/transport/wire/grpc_network.h"
#include "runtime/transport/wire/identity.h"
#include "runtime/transport/wire/stream_lanes.h"

#include <atomic>
#include <memory>
#include <optional>

namespace pdg {

class PeerSession;

/// What a session needs of the exchange it belongs to. Called by the network's thread.
class SessionHost {
public:
  virtual ~SessionHost() = default;

  virtual const Topology &topology() const = 0;
  virtual const Identity &identity() const = 0;

  /// A process has connected to us: is it expected? Then the session is its.
  virtual absl::Status admit(PeerSession &session, Peer peer) = 0;

  /// The process that dialled wants to share memory (or not, for a reason). An error ends the
  /// stream.
  virtual absl::Status chosen(PeerSession &session, bool sharesMemory,
                              const std::string &reason) = 0;

  /// The handshake ended without a connection. `isFinal`: trying again is of no use.
  virtual void refused(PeerSession &session, const absl::Status &why, bool isFinal) = 0;

  /// A message of the edge came.
  virtual void arrived(PeerSession &session, int64_t edge) = 0;

  /// The run has failed.
  virtual void fail(const absl::Status &cause) = 0;

  /// The other process is no longer there, without having finished.
  virtual void lost(PeerSession &session, const std::string &why) = 0;

  /// Something a thread may wait for has changed. Returns whether one waits.
  virtual bool changed() = 0;
};

/// A stream's state. The network's thread drives it; others look.
class PeerSession : public StreamEvents {
public:
  enum class Phase { Greeting, Choosing, Open, Ended };

  /// For a stream that `expected` is dialled by, or any process dialled. `host` outlives this.
  PeerSession(SessionHost &host, std::optional<Peer> expected) : host_(host), dialled_(expected) {}

  /// The stream, to be told before anything arrives. A dialled one is greeted here.
  void begin(NetworkStream &stream);

  bool onMessage(std::span<const std::string_view> pieces) override;
  void onEnd(const std::string &why) override;
  void onLeft() override { host_.changed(); }

  Phase phase() const { return phase_.load(std::memory_order_acquire); }

  /// Who is there. Requires: past Greeting.
  const Identity &other() const { return other_; }
  StreamLanes &lanes() { return *lanes_; }
  NetworkStream &stream() { return *stream_; }

  /// Ends the handshake of a dialled stream: tensors may follow.
  void choose(bool sharesMemory, const std::string &reason);

  /// Says that no tensors follow.
  void sendFinish();

  /// Says that the run failed, instead of everything that still waits to be sent.
  void sendStop(const absl::Status &cause);

  /// Says whether nothing needs to be waited for before this process may end: the other process has
  /// seen that we finished or knows that the run failed, or it is gone.
  bool isSettled() const;

private:
  absl::Status onHandshake(const HandshakeMessage &message);
  absl::Status onHello(const Identity &hello);
  bool onFrames(std::span<const std::string_view> pieces);
  void refuse(const absl::Status &why, bool isFinal);
  void sendFrame(FrameKind kind, uint32_t number = 0, const std::string &payload = "",
                 bool isLast = false);
  void say(const HandshakeMessage &message);

  SessionHost &host_;
  /// Whom we dialled; none: it dialled us.
  const std::optional<Peer> dialled_;
  NetworkStream *stream_ = nullptr;
  std::atomic<Phase> phase_ = Phase::Greeting;
  Identity other_;
  std::unique_ptr<StreamLanes> lanes_;
  bool isFinishAnswered_ = false;
  std::atomic<bool> knowsOfStop_ = false;
};

} // namespace pdg
