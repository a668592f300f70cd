// How two processes of one host come to share memory: they hand each other descriptors over a Unix
// socket that has no file. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/transport/wire/doorbell.h"
#include "runtime/transport/wire/shared_layout.h"
#include "runtime/transport/wire/shared_region.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace pdg {

/// What a process shares with one other.
struct SharedPair {
  /// Ours, which the other process reads.
  SharedRegion own;
  /// The other's.
  SharedRegion other;
  /// The other's bell.
  SharedRegion otherBell;
};

/// A process's offer of memory to others.
class Sharing {
public:
  /// Makes the bell and begins to listen. The error says why this process cannot share.
  static absl::StatusOr<std::unique_ptr<Sharing>> create(const Topology &topology, Peer self);
  ~Sharing();

  /// The abstract socket's name: 128 random bits, told only to processes of the same run.
  const std::string &socketName() const { return name_; }

  /// This process's bell, in memory that the others may write.
  DoorbellWord &bell() const { return *reinterpret_cast<DoorbellWord *>(bell_.data()); }

  /// Exchanges memory with the process that listens at `name`. The error is the reason for people.
  absl::StatusOr<SharedPair> offer(const std::string &name, Peer other);

  /// What `other` has exchanged with this process; NotFound if it has not.
  absl::StatusOr<SharedPair> accepted(Peer other);

  /// Ends listening.
  void endAccepting();

private:
  struct Offer;

  Sharing(const Topology &topology, Peer self) : topology_(topology), self_(self) {}

  absl::Status listen();
  void accept();
  absl::Status exchange(int socket);
  absl::StatusOr<SharedRegion> makeRegion(Peer other) const;
  absl::Status sendOffer(int socket, const SharedRegion &own) const;
  absl::StatusOr<SharedPair> takeOffer(int socket, Peer *other) const;

  const Topology &topology_;
  const Peer self_;
  SharedRegion bell_;
  std::string name_;
  Descriptor listener_;
  Descriptor ending_;
  std::mutex mutex_;
  /// Guarded by mutex_.
  std::map<Peer, SharedPair> accepted_;
  std::jthread thread_;
};

} // namespace pdg
