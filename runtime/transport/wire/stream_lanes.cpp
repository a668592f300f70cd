// What may come over a stream, and where it goes. SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/wire/stream_lanes.h"

#include "runtime/base/tensor.h"

#include <absl/strings/str_cat.h>

namespace pdg {

StreamLanes::StreamLanes(const Topology &topology, Peer self, Peer other) : topology_(topology) {
  for (const EdgeInfo &edge : topology.edges) {
    outgoing_.push_back(connects(edge, self, other) ? std::make_unique<OutgoingLane>(edge.depth)
                                                    : nullptr);
    incoming_.push_back(connects(edge, other, self) ? std::make_unique<IncomingLane>(edge.depth)
                                                    : nullptr);
  }
}

absl::Status StreamLanes::accept(std::span<const std::string_view> pieces) {
  ByteReader reader(pieces);
  completed_.clear();
  hasNews_ = false;
  do {
    absl::StatusOr<WireFrame> frame = readFrame(reader);
    absl::Status status = frame.status();
    if (status.ok()) {
      switch (frame->kind) {
      case FrameKind::Tensor:
        status = acceptTensor(*frame, reader);
        break;
      case FrameKind::Piece:
        status = acceptPiece(*frame, reader);
        break;
      case FrameKind::Credit:
        status = acceptCredit(*frame);
        break;
      case FrameKind::Finish:
        hasFinished_.store(true, std::memory_order_release);
        hasNews_ = true;
        break;
      case FrameKind::FinishSeen:
        isFinishSeen_.store(true, std::memory_order_release);
        hasNews_ = true;
        break;
      case FrameKind::Stop:
        status = acceptStop(*frame, reader);
        break;
      }
    }
    if (!status.ok())
      return status;
  } while (reader.left() > 0);
  return absl::OkStatus();
}

absl::StatusOr<IncomingLane *> StreamLanes::findIncoming(const WireFrame &frame) const {
  if (frame.edge >= incoming_.size())
    return absl::InvalidArgumentError(
        absl::StrCat("a message of edge ", frame.edge, ", but there are ", incoming_.size()));
  IncomingLane *lane = incoming_[frame.edge].get();
  if (!lane)
    return absl::InvalidArgumentError(absl::StrCat(
        "a message of edge '", topology_.edges[frame.edge].name, "', which does not lead here"));
  if (hasFinished())
    return absl::InvalidArgumentError("a message after the last");
  uint32_t arrived = lane->arrived.load(std::memory_order_relaxed);
  if (frame.number != arrived)
    return absl::InvalidArgumentError(absl::StrCat("edge '", topology_.edges[frame.edge].name,
                                                   "': expects message ", arrived, ", got ",
                                                   frame.number));
  return lane;
}

absl::Status StreamLanes::acceptTensor(const WireFrame &frame, ByteReader &reader) {
  absl::StatusOr<IncomingLane *> lane = findIncoming(frame);
  if (!lane.ok())
    return lane.status();
  const EdgeInfo &edge = topology_.edges[frame.edge];
  auto refuse = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("edge '", edge.name, "': ", what));
  };
  if ((*lane)->have != (*lane)->want)
    return refuse("a message begins before the last one ended");
  uint32_t used = frame.number - (*lane)->released.load(std::memory_order_acquire);
  if (used >= (*lane)->slots.size())
    return refuse("more messages than its depth");
  std::span<const int64_t> sizes(frame.sizes.data(), frame.rank);
  if (frame.dtype != edge.dtype)
    return absl::InvalidArgumentError(absl::StrCat("edge '", edge.name, "': expects ",
                                                   typeString(edge.dtype, edge.shape), ", got ",
                                                   typeString(frame.dtype, sizes)));
  if (absl::Status status = checkSizes(edge, sizes); !status.ok())
    return status;
  absl::StatusOr<int64_t> bytes = countBytes(edge.dtype, sizes);
  if (!bytes.ok())
    return bytes.status();
  IncomingLane::Slot &slot = (*lane)->at(frame.number);
  if (absl::Status status = slot.buffer.grow(*bytes); !status.ok())
    return absl::Status(status.code(), absl::StrCat("edge '", edge.name, "': ", status.message()));
  slot.sizes.assign(sizes.begin(), sizes.end());
  (*lane)->have = 0;
  (*lane)->want = static_cast<uint64_t>(*bytes);
  return take(frame.edge, **lane, reader);
}

absl::Status StreamLanes::acceptPiece(const WireFrame &frame, ByteReader &reader) {
  absl::StatusOr<IncomingLane *> lane = findIncoming(frame);
  if (!lane.ok())
    return lane.status();
  if ((*lane)->have == (*lane)->want || frame.offset != (*lane)->have)
    return absl::InvalidArgumentError(
        absl::StrCat("edge '", topology_.edges[frame.edge].name, "': a piece at byte ",
                     frame.offset, " of ", (*lane)->want, ", ", (*lane)->have, " are there"));
  return take(frame.edge, **lane, reader);
}

absl::Status StreamLanes::take(int64_t edge, IncomingLane &lane, ByteReader &reader) {
  uint32_t number = lane.arrived.load(std::memory_order_relaxed);
  uint64_t count = reader.left();
  if (count > lane.want - lane.have || (count == 0 && lane.have != lane.want))
    return absl::InvalidArgumentError(
        absl::StrCat("edge '", topology_.edges[static_cast<size_t>(edge)].name, "': expects ",
                     lane.want - lane.have, " more bytes, got ", count));
  reader.read(lane.at(number).buffer.data() + lane.have, count);
  lane.have += count;
  if (lane.have == lane.want) {
    lane.arrived.store(number + 1, std::memory_order_release);
    completed_.push_back(edge);
    hasNews_ = true;
  }
  return absl::OkStatus();
}

absl::Status StreamLanes::acceptCredit(const WireFrame &frame) {
  OutgoingLane *lane = frame.edge < outgoing_.size() ? outgoing_[frame.edge].get() : nullptr;
  if (!lane)
    return absl::InvalidArgumentError(
        absl::StrCat("a credit for edge ", frame.edge, ", which does not lead there"));
  uint32_t returned = lane->returned.load(std::memory_order_relaxed);
  // Two threads of the other process may send credits in turned order: older ones say nothing new.
  if (static_cast<int32_t>(frame.number - returned) <= 0)
    return absl::OkStatus();
  if (frame.number - returned > lane->sent.load(std::memory_order_acquire) - returned)
    return absl::InvalidArgumentError(absl::StrCat("edge '", topology_.edges[frame.edge].name,
                                                   "': a credit for messages that were not sent"));
  lane->returned.store(frame.number, std::memory_order_release);
  // Either this sees that the sender had nothing left, or the sender sees the credit.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (lane->sent.load(std::memory_order_relaxed) - returned >= lane->slots.size())
    hasNews_ = true;
  return absl::OkStatus();
}

absl::Status StreamLanes::acceptStop(const WireFrame &frame, ByteReader &reader) {
  constexpr uint64_t kMaxText = 1 << 16;
  auto code = static_cast<absl::StatusCode>(frame.number);
  if (frame.number == 0 ||
      frame.number > static_cast<uint32_t>(absl::StatusCode::kUnauthenticated) ||
      reader.left() > kMaxText)
    return absl::InvalidArgumentError("a stop without a cause");
  std::string text(reader.left(), '\0');
  reader.read(text.data(), text.size());
  stopCause_ = absl::Status(code, text);
  hasNews_ = true;
  return absl::OkStatus();
}

} // namespace pdg
