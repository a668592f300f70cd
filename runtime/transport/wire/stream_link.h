// Tensors between two processes over their stream. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/transport/wire/grpc_network.h"
#include "runtime/transport/wire/link.h"
#include "runtime/transport/wire/stream_lanes.h"

#include <mutex>

namespace pdg {

/// Large messages travel in pieces, so that copying one into place overlaps the next one's way.
class StreamLink : public Link {
public:
  /// What is larger travels in pieces.
  static constexpr uint64_t kWholeBytes = 4 << 20;
  static constexpr uint64_t kPieceBytes = 1 << 20;

  /// Requires: all outlive this.
  StreamLink(const Topology &topology, StreamLanes &lanes, NetworkStream &stream)
      : topology_(topology), lanes_(lanes), stream_(stream) {}

  bool canSend(int64_t edge) override;
  absl::Status send(int64_t edge, TensorView value) override;
  bool hasLeft(int64_t edge) override;
  absl::StatusOr<char *> reserve(int64_t edge, std::span<const int64_t> sizes) override;
  absl::Status commit(int64_t edge) override;
  bool hasMessage(int64_t edge, uint32_t held) override;
  absl::StatusOr<TensorView> take(int64_t edge) override;
  void release(int64_t edge) override;
  void arrived(int64_t edge) override;
  uint32_t countArrived(int64_t edge) override;

private:
  void post(int64_t edge, TensorView value);
  void appendCredits(std::string &bytes);

  const Topology &topology_;
  StreamLanes &lanes_;
  NetworkStream &stream_;

  void sendCredits();
  /// Says whether the sender may be waiting for a credit, or soon. Guarded by creditMutex_.
  bool isCreditUrgent(const IncomingLane &lane) const;

  /// Edges with messages that were given back without telling the other process yet: it is told
  /// with the next message, or when more than half of the depth is due, or when it has no other
  /// credit left.
  std::mutex creditMutex_;
  std::vector<int64_t> dueCredits_;
};

} // namespace pdg
