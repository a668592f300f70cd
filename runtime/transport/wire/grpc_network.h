// Streams of messages between processes over gRPC: one server and one completion queue per process,
// with one thread that takes everything from it. What messages mean is left to others; the only
// file beside its .cpp that knows gRPC is none. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/transport/wire/leaving.h"
#include "runtime/transport/wire/tls_identity.h"

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pdg {

/// A message to send. `head` is copied; `payload` is read where it lies until it has left.
struct StreamMessage {
  std::string head = {};
  std::string_view payload = {};
  Leaving *leaving = nullptr;
};

/// What happens on a stream, told by the network's thread. Calls are one after the other.
class StreamEvents {
public:
  virtual ~StreamEvents() = default;

  /// A message has arrived; the memory is the network's. Returns whether that woke another thread.
  virtual bool onMessage(std::span<const std::string_view> pieces) = 0;

  /// The stream has ended: the last call. `why` is a text for people.
  virtual void onEnd(const std::string &why) = 0;

  /// Something that was awaited has left.
  virtual void onLeft() = 0;
};

/// One stream; lives until its network ends.
class NetworkStream {
public:
  virtual ~NetworkStream() = default;

  /// Sends messages, in order, after those of earlier calls. Does not wait. Thread-safe. After the
  /// end of the stream they are dropped.
  virtual void write(std::span<StreamMessage> messages) = 0;

  /// Sends a last message, before those that still wait: they are dropped.
  virtual void writeLast(StreamMessage message) = 0;

  /// Ends the stream at once; what has not left is dropped.
  virtual void cancel() = 0;

  /// The address of the other process, for people.
  virtual std::string address() const = 0;
};

/// A process's end of the network.
class GrpcNetwork {
public:
  /// Called for a new stream from another process, by the network's thread; returns who listens.
  using OnStream = std::function<std::shared_ptr<StreamEvents>(NetworkStream &)>;

  /// Listens on a port of the system's choice at `host`. With an identity, all connections are
  /// mutual TLS; without, only a loopback address is allowed (PermissionDenied).
  static absl::StatusOr<std::unique_ptr<GrpcNetwork>>
  listen(const std::string &host, const std::optional<TlsIdentity> &identity, OnStream onStream);

  /// Cancels what is left and waits for the thread.
  virtual ~GrpcNetwork() = default;

  /// The port that others dial.
  virtual int port() const = 0;

  /// Opens a stream to the process at `address`, "host:port", as soon as that answers.
  virtual NetworkStream &dial(const std::string &address, std::shared_ptr<StreamEvents> events) = 0;
};

/// Lets this process keep the memory of messages instead of giving it back to the system after
/// each. Twice as fast for large ones. To be called first in main.
void keepMessageMemory();

} // namespace pdg
