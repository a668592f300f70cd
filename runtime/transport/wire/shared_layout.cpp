// Laying out shared memory: counters first, then slots. SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/wire/shared_layout.h"

#include <algorithm>

namespace pdg {

namespace {

constexpr int64_t kLine = 64;
constexpr int64_t kPage = 4096;
/// Larger slots get memory when they are used.
constexpr int64_t kEagerBytes = int64_t{16} << 20;

int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

bool isEager(const EdgeInfo &edge) {
  return byteBoundOf(edge) <= kEagerBytes &&
         std::count(edge.shape.begin(), edge.shape.end(), -1) == 0;
}

} // namespace

SharedLayout::SharedLayout(const Topology &topology, Peer owner, Peer other)
    : outgoing(topology.edges.size()), released(topology.edges.size(), -1) {
  auto take = [&](int64_t bytes, int64_t alignment) {
    int64_t begin = 0, end = 0;
    if (__builtin_add_overflow(size, alignment, &end) || __builtin_add_overflow(end, bytes, &end))
      status = absl::ResourceExhaustedError("the messages need more memory than addresses");
    else
      begin = roundUp(size, alignment), size = begin + bytes;
    return begin;
  };
  for (size_t i = 0; i < topology.edges.size(); ++i) {
    const EdgeInfo &edge = topology.edges[i];
    if (connects(edge, owner, other)) {
      outgoing[i].sender = take(sizeof(SharedSender), kLine);
      outgoing[i].headers = take(edge.depth * int64_t{sizeof(SharedSlotHeader)}, kLine);
    }
    if (connects(edge, other, owner))
      released[i] = take(sizeof(SharedCounter), kLine);
  }
  for (bool wantsEager : {true, false}) {
    for (size_t i = 0; i < topology.edges.size(); ++i) {
      const EdgeInfo &edge = topology.edges[i];
      if (outgoing[i].sender < 0 || isEager(edge) != wantsEager)
        continue;
      int64_t bytes = 0;
      outgoing[i].stride =
          roundUp(std::max<int64_t>(byteBoundOf(edge), 1), wantsEager ? kLine : kPage);
      if (__builtin_mul_overflow(outgoing[i].stride, edge.depth, &bytes))
        status = absl::ResourceExhaustedError("the messages need more memory than addresses");
      else
        outgoing[i].slots = take(bytes, wantsEager ? kLine : kPage);
    }
    if (wantsEager)
      eager = size;
  }
  size = roundUp(std::max<int64_t>(size, 1), kPage);
}

} // namespace pdg
