// How the processes of a cluster hand each other tensors: the interface that compiled programs use,
// whatever carries the messages. The edges are fixed when compiling; nothing is looked up by name.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/base/dtype.h"

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pdg {

/// What the processes of a cluster are.
enum class PeerKind : uint8_t { Trainer, Server };

/// Which process of a cluster: {Trainer, 1}, {Server, 0}.
struct Peer {
  PeerKind kind = PeerKind::Trainer;
  int64_t index = 0;

  auto operator<=>(const Peer &) const = default;
};

/// Returns "trainer 1" or "server 0".
std::string nameOf(Peer peer);

/// An index that stands for every process of its kind.
inline constexpr int64_t kAllOfKind = -1;

/// One edge of the cluster's communication graph. Its messages are tensors of one declared type;
/// between two processes they arrive in the order in which they were sent.
struct EdgeInfo {
  /// What travels, for messages to the user: a variable's name, for example.
  std::string name;
  DType dtype = DType::F32;
  /// The sizes of every message; -1 where a message says its own.
  std::vector<int64_t> shape;
  /// No message has more elements. 0 stands for the product of `shape`, which then has no -1.
  int64_t bound = 0;
  PeerKind fromKind = PeerKind::Trainer;
  /// Which process of the kind sends; kAllOfKind: each of them may.
  int64_t fromIndex = kAllOfKind;
  PeerKind toKind = PeerKind::Server;
  /// Which process of the kind receives; kAllOfKind: each of them may.
  int64_t toIndex = kAllOfKind;
  /// Only replica 0 of the senders sends.
  bool firstOnly = false;
  /// How many messages between two processes may be on the way or in the receiver's hands before
  /// the sender waits. At least 1; with 1 a sender waits until its last message is given back.
  int64_t depth = 2;
  /// The line of the script that the edge comes from: "model.pdg:12:5".
  std::string place;
};

/// The processes of a cluster and the edges between them: the same table in every process.
struct Topology {
  int64_t trainers = 1;
  int64_t servers = 0;
  /// An edge's number is its index.
  std::vector<EdgeInfo> edges;
};

/// Checks that every edge names processes that exist, a type that has a size, and a depth.
absl::Status checkTopology(const Topology &topology);

/// All processes: trainers, then servers.
std::vector<Peer> allPeers(const Topology &topology);

/// Says whether a message of `edge` may go from `from` to `to`. No process sends to itself.
bool connects(const EdgeInfo &edge, Peer from, Peer to);

/// The most elements that a message of `edge` can have. Requires a topology that was checked.
int64_t boundOf(const EdgeInfo &edge);

/// The most bytes that a message of `edge` can have. Requires a topology that was checked.
int64_t byteBoundOf(const EdgeInfo &edge);

/// Says what is wrong with `sizes` as those of a message of `edge`, if anything.
absl::Status checkSizes(const EdgeInfo &edge, std::span<const int64_t> sizes);

/// The elements of a tensor in row-major order, in memory of somebody else.
struct TensorView {
  const char *data = nullptr;
  std::span<const int64_t> sizes;
};

/// One process's end of the exchange.
///
/// Thread-safe, but for one edge and one peer only one thread at a time sends, and one receives.
/// Every wait ends when the run fails anywhere: the call then returns the first cause, which is the
/// same in every process.
class Exchange {
public:
  virtual ~Exchange() = default;

  /// Which process this is.
  virtual Peer self() const = 0;

  virtual const Topology &topology() const = 0;

  /// Hands over `value`, which may be changed when this returns. Waits while `depth` earlier
  /// messages of the edge to this peer were not given back; OutOfRange if it has finished then.
  /// InvalidArgument if the edge does not lead from here to `to`, or the sizes are not the edge's.
  virtual absl::Status send(int64_t edge, Peer to, TensorView value);

  /// Sends `value` to every process that the edge leads to, in the order of their indices.
  virtual absl::Status broadcast(int64_t edge, TensorView value);

  /// The first half of a send whose value is made in place: returns memory of the transport,
  /// aligned to 64, for a message of these sizes. Waits like send. Until `commit` nothing is sent,
  /// and calling it again starts over.
  virtual absl::StatusOr<char *> reserve(int64_t edge, Peer to, std::span<const int64_t> sizes) = 0;

  /// The second half: sends what was reserved last for the edge and peer. Does not wait.
  virtual absl::Status commit(int64_t edge, Peer to) = 0;

  /// Waits for the next message of `edge` from `from`. Its memory, aligned to 64, stays as it is
  /// until the next receive of the same edge and peer. OutOfRange if `from` has finished and all
  /// its messages were received.
  virtual absl::StatusOr<TensorView> receive(int64_t edge, Peer from) = 0;

  /// Waits until a receive of `edge` from some process would not wait, and returns which. If there
  /// are several, they take turns. OutOfRange if all that send on the edge have finished.
  ///
  /// Requires: a depth of at least 2, because the message that was received last counts.
  virtual absl::StatusOr<Peer> nextSender(int64_t edge) = 0;

  /// Says that this process sends nothing more. Its end is then no failure.
  virtual absl::Status finish() = 0;

  /// Makes every waiting and every later call fail with `cause`, here and in all other processes,
  /// unless something else was the cause before. `cause` is not ok.
  virtual void stop(absl::Status cause) = 0;

  /// The cause that stopped the exchange, or ok.
  virtual absl::Status status() const = 0;
};

} // namespace pdg
