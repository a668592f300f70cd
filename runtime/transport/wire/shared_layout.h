// Where things lie in the memory that one process shows another. Both compute it from the edges, so
// that no address is ever sent. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/transport/exchange.h"
#include "runtime/transport/wire/wire_frame.h"

#include <atomic>
#include <cstdint>
#include <vector>

namespace pdg {

/// The sizes of the message in a slot.
struct alignas(64) SharedSlotHeader {
  uint32_t rank;
  int64_t sizes[WireFrame::kMaxRank];
};

/// One counter, alone on its cache line. Has one writer: the process that owns the memory.
struct alignas(64) SharedCounter {
  std::atomic<uint32_t> value;
};

/// The counters of one edge in the memory of the process that sends on it.
struct SharedSender {
  /// Messages handed over.
  SharedCounter sent;
  /// Not 0: the process waits for a message to be given back.
  SharedCounter wantsCredit;
};

/// The memory of `owner` that `other` may read: for each edge to `other` its counters and slots,
/// for each edge from `other` how many messages were given back.
struct SharedLayout {
  struct Outgoing {
    /// Of its SharedSender; -1: the edge does not lead that way.
    int64_t sender = -1;
    int64_t headers = 0;
    int64_t slots = 0;
    /// The distance between two slots.
    int64_t stride = 0;
  };

  /// Requires: a checked topology.
  SharedLayout(const Topology &topology, Peer owner, Peer other);

  /// By edge.
  std::vector<Outgoing> outgoing;
  /// By edge: where the counter of messages given back is; -1 if the edge does not lead that way.
  std::vector<int64_t> released;
  /// The bytes that get memory at the start: counters, and slots of messages whose sizes are known
  /// and which are not huge.
  int64_t eager = 0;
  int64_t size = 0;
  /// Not ok if the addresses overflow.
  absl::Status status;
};

} // namespace pdg
