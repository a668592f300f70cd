// The way of tensors between this process and one other. Nothing here waits: whoever uses it waits
// at the doorbell until an answer changes. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/transport/exchange.h"

namespace pdg {

/// Both directions of one pair. Edges are those that lead the way in question; per edge and
/// direction one thread at a time.
class Link {
public:
  virtual ~Link() = default;

  /// Says whether a message of the edge can be handed over. Becomes true with a ring.
  virtual bool canSend(int64_t edge) = 0;

  /// Begins to send. Requires: canSend, and sizes that the edge has.
  virtual absl::Status send(int64_t edge, TensorView value) = 0;

  /// Says whether what was sent last may be changed. Becomes true with a ring.
  virtual bool hasLeft(int64_t edge) = 0;

  /// Returns memory for a message. Requires: as for send.
  virtual absl::StatusOr<char *> reserve(int64_t edge, std::span<const int64_t> sizes) = 0;

  /// Sends what was reserved last; FailedPrecondition if nothing is.
  virtual absl::Status commit(int64_t edge) = 0;

  /// Says whether a message has come beside the `held` ones that were taken and not released.
  /// Becomes true with a ring.
  virtual bool hasMessage(int64_t edge, uint32_t held) = 0;

  /// Takes the next message. Requires: hasMessage with none held.
  virtual absl::StatusOr<TensorView> take(int64_t edge) = 0;

  /// Gives the taken message back.
  virtual void release(int64_t edge) = 0;

  /// A message of the edge came over the stream. Called by the network's thread.
  virtual void arrived(int64_t edge) {}

  /// How many messages of the edge have come, ever, for people.
  virtual uint32_t countArrived(int64_t edge) = 0;
};

} // namespace pdg
