// A libFuzzer target: any bytes as the messages of another process, of the handshake and of
// tensors. SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/wire/identity.h"
#include "runtime/transport/wire/stream_lanes.h"

#include <cstdlib>
#include <string>
#include <vector>

using namespace pdg;

namespace {

/// Edges of several types, fixed and free sizes, both ways.
Topology edges() {
  Topology topology{1, 1, {}};
  for (DType dtype : {DType::F32, DType::U8})
    for (bool leadsBack : {false, true}) {
      EdgeInfo edge;
      edge.name = "edge";
      edge.dtype = dtype;
      edge.shape = leadsBack ? std::vector<int64_t>{3} : std::vector<int64_t>{2, -1};
      edge.bound = leadsBack ? 0 : 20;
      if (leadsBack)
        std::swap(edge.fromKind, edge.toKind);
      topology.edges.push_back(edge);
    }
  return topology;
}

/// Says that something came through that must not.
void require(bool holds) {
  if (!holds)
    std::abort();
}

void takeMessages(std::string_view input) {
  static const Topology topology = edges();
  StreamLanes lanes(topology, {PeerKind::Server, 0}, {PeerKind::Trainer, 0});
  lanes.outgoing(1)->sent = 2;
  // The first byte of each message is its length, the second where gRPC cuts it.
  while (input.size() > 2) {
    size_t length = static_cast<unsigned char>(input[0]),
           cut = static_cast<unsigned char>(input[1]);
    std::string_view message = input.substr(2, length);
    input.remove_prefix(2 + message.size());
    cut = std::min(cut, message.size());
    const std::string_view pieces[] = {message.substr(0, cut), message.substr(cut)};
    if (!lanes.accept(pieces).ok())
      return;
    require(lanes.outgoing(1)->returned <= 2);
    for (int64_t edge : lanes.completed()) {
      IncomingLane &lane = *lanes.incoming(edge);
      require(lane.arrived - lane.released <= lane.slots.size());
      const IncomingLane::Slot &slot = lane.at(lane.arrived - 1);
      require(checkSizes(topology.edges[static_cast<size_t>(edge)], slot.sizes).ok());
      lane.released += lane.arrived % 3 != 0;
    }
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view input(reinterpret_cast<const char *>(data), size);
  takeMessages(input);
  if (auto message = decodeHandshake(std::string(input)); message.ok()) {
    // What was read is written the same way again.
    auto again = decodeHandshake(encode(*message));
    require(again.ok() && again->kind == message->kind && again->hello.job == message->hello.job);
    bool isFinal = false;
    checkIdentity(message->hello, again->hello, isFinal).IgnoreError();
    whyNotShared(message->hello, again->hello);
  }
  return 0;
}
