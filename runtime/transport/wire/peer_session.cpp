// The handshake, and what is done with the frames that follow. SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/wire/peer_session.h"

#include "runtime/base/text.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

namespace pdg {

void PeerSession::begin(NetworkStream &stream) {
  stream_ = &stream;
  if (dialled_)
    say({.hello = host_.identity()});
}

void PeerSession::say(const HandshakeMessage &message) {
  StreamMessage bytes{.head = encode(message)};
  stream_->write({&bytes, 1});
}

bool PeerSession::onMessage(std::span<const std::string_view> pieces) {
  if (phase() == Phase::Open)
    return onFrames(pieces);
  if (phase() == Phase::Ended)
    return false;
  std::string bytes;
  for (std::string_view piece : pieces)
    bytes.append(piece);
  absl::StatusOr<HandshakeMessage> message = decodeHandshake(bytes);
  absl::Status status = message.ok() ? onHandshake(*message) : message.status();
  if (!status.ok())
    refuse(status, false);
  return host_.changed();
}

absl::Status PeerSession::onHandshake(const HandshakeMessage &message) {
  using Kind = HandshakeMessage::Kind;
  if (message.kind == Kind::Refusal) {
    phase_.store(Phase::Ended, std::memory_order_release);
    host_.refused(*this, absl::FailedPreconditionError(message.reason), message.flag);
    return absl::OkStatus();
  }
  if (message.kind == Kind::Hello && phase() == Phase::Greeting)
    return onHello(message.hello);
  if (message.kind != Kind::Choice || phase() != Phase::Choosing || dialled_)
    return absl::InvalidArgumentError("a message out of turn");
  absl::Status status = host_.chosen(*this, message.flag, message.reason);
  if (status.ok())
    phase_.store(Phase::Open, std::memory_order_release);
  return status;
}

absl::Status PeerSession::onHello(const Identity &hello) {
  bool isFinal = false;
  absl::Status status = checkIdentity(host_.identity(), hello, isFinal);
  if (status.ok() && dialled_ && hello.peer != *dialled_)
    status = absl::FailedPreconditionError(
        absl::StrCat("expects ", nameOf(*dialled_), ", got ", nameOf(hello.peer)));
  if (!status.ok()) {
    refuse(status, isFinal);
    return absl::OkStatus();
  }
  other_ = hello;
  lanes_ = std::make_unique<StreamLanes>(host_.topology(), host_.identity().peer, hello.peer);
  phase_.store(Phase::Choosing, std::memory_order_release);
  if (dialled_)
    return absl::OkStatus();
  if (absl::Status admitted = host_.admit(*this, hello.peer); !admitted.ok())
    return admitted;
  say({.hello = host_.identity()});
  return absl::OkStatus();
}

void PeerSession::refuse(const absl::Status &why, bool isFinal) {
  phase_.store(Phase::Ended, std::memory_order_release);
  say({.kind = HandshakeMessage::Kind::Refusal,
       .flag = isFinal,
       .reason = std::string(toStd(why.message()))});
  host_.refused(*this, why, isFinal);
}

void PeerSession::choose(bool sharesMemory, const std::string &reason) {
  // The answer to the choice may be tensors.
  Phase expected = Phase::Choosing;
  if (!phase_.compare_exchange_strong(expected, Phase::Open, std::memory_order_acq_rel))
    return;
  say({.kind = HandshakeMessage::Kind::Choice, .flag = sharesMemory, .reason = reason});
}

bool PeerSession::onFrames(std::span<const std::string_view> pieces) {
  absl::Status status = lanes_->accept(pieces);
  if (!status.ok()) {
    host_.fail(absl::Status(status.code(),
                            absl::StrCat(nameOf(host_.identity().peer), " refused a message of ",
                                         nameOf(other_.peer), " at ", stream_->address(), ": ",
                                         status.message())));
    phase_.store(Phase::Ended, std::memory_order_release);
    stream_->cancel();
    return true;
  }
  for (int64_t edge : lanes_->completed())
    host_.arrived(*this, edge);
  if (!lanes_->stopCause().ok() && !knowsOfStop_.exchange(true))
    host_.fail(lanes_->stopCause());
  if (lanes_->hasFinished() && !isFinishAnswered_) {
    isFinishAnswered_ = true;
    sendFrame(FrameKind::FinishSeen);
  }
  return lanes_->hasNews() && host_.changed();
}

void PeerSession::onEnd(const std::string &why) {
  Phase was = phase_.exchange(Phase::Ended, std::memory_order_acq_rel);
  if (was == Phase::Open && !lanes_->hasFinished())
    host_.lost(*this, absl::StrContains(why, "keepalive") ? "it stopped answering"
                                                          : "its connection ended");
  else if (was == Phase::Greeting || was == Phase::Choosing)
    host_.refused(*this, absl::UnavailableError(why.empty() ? "the connection ended" : why), false);
  host_.changed();
}

void PeerSession::sendFrame(FrameKind kind, uint32_t number, const std::string &payload,
                            bool isLast) {
  StreamMessage message;
  appendFrame({.kind = kind, .number = number}, message.head);
  message.head += payload;
  if (isLast)
    stream_->writeLast(std::move(message));
  else
    stream_->write({&message, 1});
}

void PeerSession::sendFinish() { sendFrame(FrameKind::Finish); }

void PeerSession::sendStop(const absl::Status &cause) {
  constexpr size_t kMaxText = 1 << 15;
  sendFrame(FrameKind::Stop, static_cast<uint32_t>(cause.code()),
            std::string(toStd(cause.message()).substr(0, kMaxText)), true);
}

bool PeerSession::isSettled() const {
  Phase now = phase();
  if (now != Phase::Open)
    return true;
  return lanes_->isFinishSeen() || knowsOfStop_.load(std::memory_order_acquire);
}

} // namespace pdg
