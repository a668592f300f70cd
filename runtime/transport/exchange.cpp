// What all transports share: names, the checks of edges and sizes, sending by copying.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/exchange.h"

#include "runtime/base/tensor.h"
#include "runtime/base/text.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>

namespace pdg {

namespace {

/// A message's header has one byte for the rank.
constexpr size_t kMaxRank = 16;

int64_t countOf(const Topology &topology, PeerKind kind) {
  return kind == PeerKind::Trainer ? topology.trainers : topology.servers;
}

absl::Status checkEdge(const Topology &topology, const EdgeInfo &edge) {
  for (auto [kind, index] : {std::pair(edge.fromKind, edge.fromIndex), {edge.toKind, edge.toIndex}})
    if (index < kAllOfKind || index >= countOf(topology, kind))
      return absl::InvalidArgumentError(absl::StrCat("expects one of ", countOf(topology, kind),
                                                     " processes, got ",
                                                     nameOf(Peer{kind, index})));
  if (edge.shape.size() > kMaxRank)
    return absl::InvalidArgumentError(
        absl::StrCat("expects at most ", kMaxRank, " axes, got ", edge.shape.size()));
  bool isDynamic =
      std::any_of(edge.shape.begin(), edge.shape.end(), [](int64_t size) { return size == -1; });
  if (edge.bound < 0 || (isDynamic && edge.bound == 0))
    return absl::InvalidArgumentError("expects a bound on the elements of a message");
  if (edge.depth < 1 || edge.depth > (1 << 16))
    return absl::InvalidArgumentError(
        absl::StrCat("expects a depth from 1 to 65536, got ", edge.depth));
  std::vector<int64_t> known = edge.shape;
  std::replace(known.begin(), known.end(), int64_t{-1}, int64_t{1});
  absl::StatusOr<int64_t> bytes = countBytes(edge.dtype, known);
  if (!bytes.ok())
    return bytes.status();
  if (!isDynamic && edge.bound > 0 &&
      *bytes / static_cast<int64_t>(sizeOf(edge.dtype)) > edge.bound)
    return absl::InvalidArgumentError(absl::StrCat(
        "expects at most ", edge.bound, " elements, got ", typeString(edge.dtype, edge.shape)));
  const int64_t bounded[] = {edge.bound};
  return countBytes(edge.dtype, bounded).status();
}

} // namespace

std::string nameOf(Peer peer) {
  return absl::StrCat(peer.kind == PeerKind::Trainer ? "trainer " : "server ", peer.index);
}

absl::Status checkTopology(const Topology &topology) {
  if (topology.trainers < 1 || topology.servers < 0)
    return absl::InvalidArgumentError(absl::StrCat("expects at least one trainer, got ",
                                                   topology.trainers, " trainers and ",
                                                   topology.servers, " servers"));
  for (const EdgeInfo &edge : topology.edges)
    if (absl::Status status = checkEdge(topology, edge); !status.ok())
      return absl::Status(status.code(),
                          absl::StrCat("edge '", edge.name, "': ", status.message()));
  return absl::OkStatus();
}

std::vector<Peer> allPeers(const Topology &topology) {
  std::vector<Peer> peers;
  for (PeerKind kind : {PeerKind::Trainer, PeerKind::Server})
    for (int64_t i = 0; i < countOf(topology, kind); ++i)
      peers.push_back({kind, i});
  return peers;
}

bool connects(const EdgeInfo &edge, Peer from, Peer to) {
  if (from == to || from.kind != edge.fromKind || to.kind != edge.toKind)
    return false;
  if (edge.firstOnly && from.index != 0)
    return false;
  return (edge.fromIndex == kAllOfKind || edge.fromIndex == from.index) &&
         (edge.toIndex == kAllOfKind || edge.toIndex == to.index);
}

int64_t boundOf(const EdgeInfo &edge) {
  if (edge.bound > 0)
    return edge.bound;
  int64_t elements = 1;
  for (int64_t size : edge.shape)
    elements *= size;
  return elements;
}

int64_t byteBoundOf(const EdgeInfo &edge) {
  return boundOf(edge) * static_cast<int64_t>(sizeOf(edge.dtype));
}

absl::Status checkSizes(const EdgeInfo &edge, std::span<const int64_t> sizes) {
  bool fits = sizes.size() == edge.shape.size();
  for (size_t i = 0; fits && i < sizes.size(); ++i)
    fits = sizes[i] >= 0 && (edge.shape[i] == -1 || edge.shape[i] == sizes[i]);
  if (!fits)
    return absl::InvalidArgumentError(absl::StrCat("edge '", edge.name, "': expects ",
                                                   typeString(edge.dtype, edge.shape), ", got ",
                                                   typeString(edge.dtype, sizes)));
  absl::StatusOr<int64_t> elements = countElements(sizes);
  if (!elements.ok() || *elements > boundOf(edge))
    return absl::InvalidArgumentError(absl::StrCat("edge '", edge.name, "': expects at most ",
                                                   boundOf(edge), " elements, got ",
                                                   typeString(edge.dtype, sizes)));
  return absl::OkStatus();
}

absl::Status Exchange::send(int64_t edge, Peer to, TensorView value) {
  absl::StatusOr<char *> place = reserve(edge, to, value.sizes);
  if (!place.ok())
    return place.status();
  // The sizes were checked against the edge by now, so the product cannot overflow.
  size_t bytes = sizeOf(topology().edges[static_cast<size_t>(edge)].dtype);
  for (int64_t size : value.sizes)
    bytes *= static_cast<size_t>(size);
  if (bytes != 0)
    std::memcpy(*place, value.data, bytes);
  return commit(edge, to);
}

absl::Status Exchange::broadcast(int64_t edge, TensorView value) {
  if (edge < 0 || edge >= static_cast<int64_t>(topology().edges.size()))
    return absl::InvalidArgumentError(absl::StrCat("there is no edge ", edge));
  for (Peer peer : allPeers(topology()))
    if (connects(topology().edges[static_cast<size_t>(edge)], self(), peer))
      if (absl::Status status = send(edge, peer, value); !status.ok())
        return status;
  return absl::OkStatus();
}

} // namespace pdg
