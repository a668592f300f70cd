// The state of one pair of processes on their stream: per edge, what is on the way in either
// direction. Every byte of the other process passes the checks here. Knows nothing of gRPC.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/transport/buffer.h"
#include "runtime/transport/exchange.h"
#include "runtime/transport/wire/leaving.h"
#include "runtime/transport/wire/wire_frame.h"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace pdg {

/// The messages of one edge to the other process. Numbers are counted modulo 2^32.
struct OutgoingLane {
  struct Slot {
    Buffer buffer;
    /// What of the message the stream still has to read.
    Leaving leaving;
  };

  explicit OutgoingLane(int64_t depth) : slots(static_cast<size_t>(depth)) {}

  /// Messages handed over; written by the sending thread.
  std::atomic<uint32_t> sent = 0;
  /// Messages given back; written by the transport's thread.
  std::atomic<uint32_t> returned = 0;
  std::vector<Slot> slots;
  /// The sizes that reserve was called with. The sending thread's.
  std::optional<std::vector<int64_t>> reserved;

  Slot &next() { return slots[sent.load(std::memory_order_relaxed) % slots.size()]; }

  /// Says whether there is room for a message.
  bool hasCredit() {
    uint32_t used = sent.load(std::memory_order_relaxed) - returned.load(std::memory_order_acquire);
    return used < slots.size() && next().leaving.isDone();
  }
};

/// The messages of one edge from the other process.
struct IncomingLane {
  struct Slot {
    Buffer buffer;
    std::vector<int64_t> sizes;
  };

  explicit IncomingLane(int64_t depth) : slots(static_cast<size_t>(depth)) {}

  /// Complete messages; written by the transport's thread.
  std::atomic<uint32_t> arrived = 0;
  /// Messages given back; written by the receiving thread.
  std::atomic<uint32_t> released = 0;
  /// Of those, how many the other process was told of. The receiving thread's.
  uint32_t credited = 0;
  std::vector<Slot> slots;
  /// The bytes that the message in progress has and will have; equal if there is none. The
  /// transport thread's.
  uint64_t have = 0;
  uint64_t want = 0;

  Slot &at(uint32_t number) { return slots[number % slots.size()]; }
};

/// Both directions of all edges between `self` and `other`.
class StreamLanes {
public:
  /// Requires: a checked topology, which outlives this.
  StreamLanes(const Topology &topology, Peer self, Peer other);

  /// The lane of an edge; null if the edge does not lead that way.
  OutgoingLane *outgoing(int64_t edge) const { return outgoing_[static_cast<size_t>(edge)].get(); }
  IncomingLane *incoming(int64_t edge) const { return incoming_[static_cast<size_t>(edge)].get(); }

  /// Takes in one message, which lies in `pieces` of memory. An error says what the other process
  /// should not have sent, or that memory is short; nothing may be accepted after it. Called by one
  /// thread.
  absl::Status accept(std::span<const std::string_view> pieces);

  /// The edges of which the last accept completed a message. For the thread that accepts.
  std::span<const int64_t> completed() const { return completed_; }

  /// Says whether the last accept changed what a thread may be waiting for. For the thread that
  /// accepts.
  bool hasNews() const { return hasNews_; }

  /// Says whether the other process has said that it sends no more tensors.
  bool hasFinished() const { return hasFinished_.load(std::memory_order_acquire); }

  /// Says whether the other process has all that was sent to it, our Finish too.
  bool isFinishSeen() const { return isFinishSeen_.load(std::memory_order_acquire); }

  /// Why the run failed, if the other process said that it did. For the thread that accepts.
  const absl::Status &stopCause() const { return stopCause_; }

private:
  absl::Status acceptTensor(const WireFrame &frame, ByteReader &reader);
  absl::Status acceptPiece(const WireFrame &frame, ByteReader &reader);
  absl::Status acceptCredit(const WireFrame &frame);
  absl::Status acceptStop(const WireFrame &frame, ByteReader &reader);
  absl::Status take(int64_t edge, IncomingLane &lane, ByteReader &reader);
  absl::StatusOr<IncomingLane *> findIncoming(const WireFrame &frame) const;

  const Topology &topology_;
  std::vector<std::unique_ptr<OutgoingLane>> outgoing_;
  std::vector<std::unique_ptr<IncomingLane>> incoming_;
  std::vector<int64_t> completed_;
  bool hasNews_ = false;
  std::atomic<bool> hasFinished_ = false;
  std::atomic<bool> isFinishSeen_ = false;
  absl::Status stopCause_;
};

} // namespace pdg
