// Rings of slots in shared memory. SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/wire/shared_link.h"

#include "runtime/base/tensor.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>

namespace pdg {

SharedLink::SharedLink(const Topology &topology, Peer self, Peer other, SharedPair pair)
    : topology_(topology), pair_(std::move(pair)), senders_(topology.edges.size()),
      receivers_(topology.edges.size()) {
  SharedLayout ours(topology, self, other), theirs(topology, other, self);
  char *own = pair_.own.data();
  const char *shown = pair_.other.data();
  for (size_t i = 0; i < topology.edges.size(); ++i) {
    const SharedLayout::Outgoing &out = ours.outgoing[i], &in = theirs.outgoing[i];
    auto depth = static_cast<uint32_t>(topology.edges[i].depth);
    if (out.sender >= 0) {
      // What was laid out among the first bytes has memory already.
      bool isEager = out.slots + out.stride * depth <= ours.eager;
      senders_[i].emplace(
          Sender{reinterpret_cast<SharedSender *>(own + out.sender),
                 reinterpret_cast<const SharedCounter *>(shown + theirs.released[i]),
                 reinterpret_cast<SharedSlotHeader *>(own + out.headers), own + out.slots,
                 out.stride, depth, std::vector<int64_t>(depth, isEager ? out.stride : 0)});
    }
    if (in.sender >= 0)
      receivers_[i].emplace(Receiver{reinterpret_cast<const SharedSender *>(shown + in.sender),
                                     reinterpret_cast<SharedCounter *>(own + ours.released[i]),
                                     reinterpret_cast<const SharedSlotHeader *>(shown + in.headers),
                                     shown + in.slots,
                                     in.stride,
                                     depth,
                                     {}});
  }
}

bool SharedLink::canSend(int64_t edge) {
  Sender &lane = *senders_[static_cast<size_t>(edge)];
  std::atomic<uint32_t> &wants = lane.counters->wantsCredit.value;
  if (lane.hasRoom()) {
    if (wants.load(std::memory_order_relaxed) != 0)
      wants.store(0, std::memory_order_relaxed);
    return true;
  }
  // Announce, then look again: a release after that sees the announcement and rings.
  wants.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return lane.hasRoom();
}

absl::StatusOr<char *> SharedLink::reserve(int64_t edge, std::span<const int64_t> sizes) {
  Sender &lane = *senders_[static_cast<size_t>(edge)];
  absl::StatusOr<int64_t> bytes =
      countBytes(topology_.edges[static_cast<size_t>(edge)].dtype, sizes);
  if (!bytes.ok())
    return bytes.status();
  lane.isReserved = false;
  uint32_t slot = lane.sent() % lane.depth;
  char *place = lane.slots + slot * lane.stride;
  if (*bytes > lane.allocated[slot]) {
    if (absl::Status status = pair_.own.allocate(place - pair_.own.data(), *bytes); !status.ok())
      return status;
    lane.allocated[slot] = *bytes;
  }
  SharedSlotHeader &header = lane.headers[slot];
  header.rank = static_cast<uint32_t>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), header.sizes);
  lane.isReserved = true;
  return place;
}

absl::Status SharedLink::commit(int64_t edge) {
  Sender &lane = *senders_[static_cast<size_t>(edge)];
  if (!lane.isReserved)
    return absl::FailedPreconditionError("commit without a reserve");
  lane.isReserved = false;
  lane.counters->sent.value.store(lane.sent() + 1, std::memory_order_release);
  ring(*reinterpret_cast<DoorbellWord *>(pair_.otherBell.data()));
  return absl::OkStatus();
}

absl::Status SharedLink::send(int64_t edge, TensorView value) {
  absl::StatusOr<char *> place = reserve(edge, value.sizes);
  if (!place.ok())
    return place.status();
  size_t bytes = sizeOf(topology_.edges[static_cast<size_t>(edge)].dtype);
  for (int64_t size : value.sizes)
    bytes *= static_cast<size_t>(size);
  if (bytes != 0)
    std::memcpy(*place, value.data, bytes);
  return commit(edge);
}

bool SharedLink::hasMessage(int64_t edge, uint32_t held) {
  Receiver &lane = *receivers_[static_cast<size_t>(edge)];
  return lane.counters->sent.value.load(std::memory_order_acquire) - lane.taken() > held;
}

absl::StatusOr<TensorView> SharedLink::take(int64_t edge) {
  Receiver &lane = *receivers_[static_cast<size_t>(edge)];
  const EdgeInfo &info = topology_.edges[static_cast<size_t>(edge)];
  uint32_t number = lane.taken();
  if (lane.counters->sent.value.load(std::memory_order_acquire) - number > lane.depth)
    return absl::InvalidArgumentError(
        absl::StrCat("edge '", info.name, "': more messages than its depth"));
  // Copied first, then checked: the other process could change them in between.
  SharedSlotHeader header = lane.headers[number % lane.depth];
  lane.sizes.assign(header.sizes,
                    header.sizes + std::min<size_t>(header.rank, WireFrame::kMaxRank));
  if (absl::Status status = checkSizes(info, lane.sizes); !status.ok())
    return status;
  return TensorView{lane.slots + (number % lane.depth) * lane.stride, lane.sizes};
}

void SharedLink::release(int64_t edge) {
  Receiver &lane = *receivers_[static_cast<size_t>(edge)];
  lane.released->value.store(lane.taken() + 1, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (lane.counters->wantsCredit.value.load(std::memory_order_relaxed) != 0)
    ring(*reinterpret_cast<DoorbellWord *>(pair_.otherBell.data()));
}

uint32_t SharedLink::countArrived(int64_t edge) {
  return receivers_[static_cast<size_t>(edge)]->counters->sent.value.load(
      std::memory_order_relaxed);
}

} // namespace pdg
