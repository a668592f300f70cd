// Tensors between two processes of one host through memory that both see.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/transport/wire/link.h"
#include "runtime/transport/wire/sharing.h"

#include <memory>
#include <optional>

namespace pdg {

/// One copy at most: the sender's into the slot, or none if the value is made there; the receiver
/// reads it where it lies. Every word has one writer, but for the bells.
class SharedLink : public Link {
public:
  /// Requires: the topology outlives this.
  SharedLink(const Topology &topology, Peer self, Peer other, SharedPair pair);

  bool canSend(int64_t edge) override;
  absl::Status send(int64_t edge, TensorView value) override;
  bool hasLeft(int64_t edge) override { return true; }
  absl::StatusOr<char *> reserve(int64_t edge, std::span<const int64_t> sizes) override;
  absl::Status commit(int64_t edge) override;
  bool hasMessage(int64_t edge, uint32_t held) override;
  absl::StatusOr<TensorView> take(int64_t edge) override;
  void release(int64_t edge) override;
  uint32_t countArrived(int64_t edge) override;

private:
  struct Sender {
    SharedSender *counters;
    const SharedCounter *released;
    SharedSlotHeader *headers;
    char *slots;
    int64_t stride;
    uint32_t depth;
    /// By slot: the bytes that have memory.
    std::vector<int64_t> allocated;
    bool isReserved = false;

    uint32_t sent() const { return counters->sent.value.load(std::memory_order_relaxed); }
    bool hasRoom() const {
      return sent() - released->value.load(std::memory_order_acquire) < depth;
    }
  };

  struct Receiver {
    const SharedSender *counters;
    SharedCounter *released;
    const SharedSlotHeader *headers;
    const char *slots;
    int64_t stride;
    uint32_t depth;
    /// Of the message that was taken: the other process cannot change these.
    std::vector<int64_t> sizes;

    uint32_t taken() const { return released->value.load(std::memory_order_relaxed); }
  };

  const Topology &topology_;
  SharedPair pair_;
  std::vector<std::optional<Sender>> senders_;
  std::vector<std::optional<Receiver>> receivers_;
};

} // namespace pdg
