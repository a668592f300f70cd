// The transport between processes: a gRPC stream per pair, and shared memory where both are on one
// host. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/transport/exchange.h"
#include "runtime/transport/wire/tls_identity.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace pdg {

/// What a process is told about the cluster that it joins.
struct ProcessOptions {
  Topology topology;
  Peer self;
  /// Which run this is; processes of other runs are refused.
  std::string job;
  /// Of the program and its edges; a process with another one is an error.
  std::string manifestHash;
  /// The address to listen at; the port is chosen by the system.
  std::string host = "127.0.0.1";
  /// What protects the streams; without, the host must be a loopback address.
  std::optional<TlsIdentity> tls;
  /// Whether tensors go through shared memory where they can.
  bool sharesMemory = true;
  /// How long `connect` waits for the others.
  std::chrono::milliseconds connectLimit{30000};
  /// Told what a person may want to read: the way that each pair takes, who was refused. May be
  /// called by several threads, one after the other.
  std::function<void(const std::string &)> log;
};

/// One process's end. Listen, tell the others the port, connect, exchange, finish, destroy. To
/// destroy it without finish is a failure of the run: the others see this process as lost.
class ProcessExchange : public Exchange {
public:
  /// Begins to listen. Unavailable if it cannot, PermissionDenied if it should not.
  static absl::StatusOr<std::unique_ptr<ProcessExchange>> listen(ProcessOptions options);

  /// The port at which other processes reach this one.
  virtual int port() const = 0;

  /// Connects with every process that shares an edge with this one, and waits for it. `addresses`
  /// has "host:port" of each. DeadlineExceeded names who is missing; FailedPrecondition says that a
  /// process runs something else. To be called once, before anything else.
  virtual absl::Status connect(const std::map<Peer, std::string> &addresses) = 0;
};

} // namespace pdg
