// Tensors over a stream: cutting them into messages, credits. SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/wire/stream_link.h"

#include "runtime/base/tensor.h"

#include <algorithm>

namespace pdg {

bool StreamLink::canSend(int64_t edge) { return lanes_.outgoing(edge)->hasCredit(); }

absl::Status StreamLink::send(int64_t edge, TensorView value) {
  lanes_.outgoing(edge)->reserved.reset();
  post(edge, value);
  return absl::OkStatus();
}

bool StreamLink::hasLeft(int64_t edge) {
  OutgoingLane &lane = *lanes_.outgoing(edge);
  uint32_t last = lane.sent.load(std::memory_order_relaxed) - 1;
  return lane.slots[last % lane.slots.size()].leaving.isDone();
}

absl::StatusOr<char *> StreamLink::reserve(int64_t edge, std::span<const int64_t> sizes) {
  OutgoingLane &lane = *lanes_.outgoing(edge);
  absl::StatusOr<int64_t> bytes =
      countBytes(topology_.edges[static_cast<size_t>(edge)].dtype, sizes);
  if (!bytes.ok())
    return bytes.status();
  lane.reserved.reset();
  if (absl::Status status = lane.next().buffer.grow(*bytes); !status.ok())
    return status;
  lane.reserved.emplace(sizes.begin(), sizes.end());
  return lane.next().buffer.data();
}

absl::Status StreamLink::commit(int64_t edge) {
  OutgoingLane &lane = *lanes_.outgoing(edge);
  if (!lane.reserved)
    return absl::FailedPreconditionError("commit without a reserve");
  std::vector<int64_t> sizes = *std::move(lane.reserved);
  lane.reserved.reset();
  post(edge, {lane.next().buffer.data(), sizes});
  return absl::OkStatus();
}

void StreamLink::post(int64_t edge, TensorView value) {
  OutgoingLane &lane = *lanes_.outgoing(edge);
  OutgoingLane::Slot &slot = lane.next();
  WireFrame frame;
  frame.dtype = topology_.edges[static_cast<size_t>(edge)].dtype;
  frame.rank = static_cast<uint8_t>(value.sizes.size());
  frame.edge = static_cast<uint32_t>(edge);
  frame.number = lane.sent.load(std::memory_order_relaxed);
  std::copy(value.sizes.begin(), value.sizes.end(), frame.sizes.begin());
  uint64_t bytes = sizeOf(frame.dtype);
  for (int64_t size : value.sizes)
    bytes *= static_cast<uint64_t>(size);
  uint64_t step = bytes <= kWholeBytes ? std::max<uint64_t>(bytes, 1) : kPieceBytes;

  std::vector<StreamMessage> messages;
  do {
    StreamMessage &message = messages.emplace_back();
    if (frame.offset == 0)
      appendCredits(message.head);
    appendFrame(frame, message.head);
    message.payload = {value.data + frame.offset, std::min(step, bytes - frame.offset)};
    message.leaving = &slot.leaving;
    frame.kind = FrameKind::Piece;
    frame.rank = 0;
    frame.offset += step;
  } while (frame.offset < bytes);
  slot.leaving.begin(static_cast<int>(messages.size()));
  // Before the other process can give it back.
  lane.sent.store(frame.number + 1, std::memory_order_release);
  stream_.write(messages);
}

void StreamLink::appendCredits(std::string &bytes) {
  // More wait for the next message, which keeps a message small.
  constexpr size_t kMost = 1000;
  std::lock_guard lock(creditMutex_);
  for (size_t count = std::min(kMost, dueCredits_.size()); count > 0; --count) {
    int64_t edge = dueCredits_.back();
    dueCredits_.pop_back();
    IncomingLane &lane = *lanes_.incoming(edge);
    WireFrame frame;
    frame.kind = FrameKind::Credit;
    frame.edge = static_cast<uint32_t>(edge);
    frame.number = lane.credited = lane.released.load(std::memory_order_relaxed);
    appendFrame(frame, bytes);
  }
}

bool StreamLink::hasMessage(int64_t edge, uint32_t held) {
  IncomingLane &lane = *lanes_.incoming(edge);
  return lane.arrived.load(std::memory_order_acquire) -
             lane.released.load(std::memory_order_relaxed) >
         held;
}

absl::StatusOr<TensorView> StreamLink::take(int64_t edge) {
  IncomingLane &lane = *lanes_.incoming(edge);
  IncomingLane::Slot &slot = lane.at(lane.released.load(std::memory_order_relaxed));
  return TensorView{slot.buffer.data(), slot.sizes};
}

void StreamLink::release(int64_t edge) {
  IncomingLane &lane = *lanes_.incoming(edge);
  uint32_t released = lane.released.load(std::memory_order_relaxed) + 1;
  lane.released.store(released, std::memory_order_release);
  {
    std::lock_guard lock(creditMutex_);
    if (released - lane.credited == 1)
      dueCredits_.push_back(edge);
    if (!isCreditUrgent(lane))
      return;
  }
  sendCredits();
}

void StreamLink::arrived(int64_t edge) {
  {
    // Either this sees the last release, or the release sees this arrival.
    std::lock_guard lock(creditMutex_);
    if (!isCreditUrgent(*lanes_.incoming(edge)))
      return;
  }
  sendCredits();
}

bool StreamLink::isCreditUrgent(const IncomingLane &lane) const {
  uint32_t due = lane.released.load(std::memory_order_relaxed) - lane.credited;
  uint32_t used = lane.arrived.load(std::memory_order_relaxed) - lane.credited;
  return due > 0 && (due > lane.slots.size() / 2 || used >= lane.slots.size());
}

void StreamLink::sendCredits() {
  StreamMessage message;
  appendCredits(message.head);
  // Another thread may just have sent them with its message.
  if (!message.head.empty())
    stream_.write({&message, 1});
}

uint32_t StreamLink::countArrived(int64_t edge) {
  return lanes_.incoming(edge)->arrived.load(std::memory_order_relaxed);
}

} // namespace pdg
