// Who a process is when it connects, and which others it accepts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/transport/exchange.h"

#include <string>

namespace pdg {

/// Of the handshake and the frames. To be counted up with every change of either, and of DType.
inline constexpr uint32_t kProtocolVersion = 1;

/// What a process says of itself.
struct Identity {
  Peer peer;
  uint32_t version = kProtocolVersion;
  /// Which run; processes of other runs are strangers.
  std::string job;
  /// Of the program and its edges; must be equal in all processes.
  std::string manifestHash;
  /// The boot of the machine, the network namespace and the user: processes in which all three are
  /// equal can share memory.
  std::string boot;
  uint64_t networkNamespace = 0;
  uint32_t user = 0;
  /// The abstract Unix socket where memory is shared; or else why it is not.
  std::string sharingSocket;
  std::string noSharing;
};

/// Fills in boot, network namespace and user of this process.
void identifyHost(Identity &identity);

/// Why `self` does not talk to `other`, if it does not. `isFinal` says that it is of the same run,
/// so that the run cannot work.
absl::Status checkIdentity(const Identity &self, const Identity &other, bool &isFinal);

/// Why the two cannot share memory; empty if they can.
std::string whyNotShared(const Identity &self, const Identity &other);

/// A message of the handshake.
struct HandshakeMessage {
  enum class Kind { Hello, Choice, Refusal };

  Kind kind = Kind::Hello;
  Identity hello = {};
  /// Choice: over shared memory? Refusal: is it final?
  bool flag = false;
  std::string reason = {};
};

/// Returns the bytes of a message.
std::string encode(const HandshakeMessage &message);

/// Reads a message; InvalidArgument if the bytes are none.
absl::StatusOr<HandshakeMessage> decodeHandshake(const std::string &bytes);

} // namespace pdg
