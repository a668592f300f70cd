// Identities: where they come from, their comparison, their form in Protobuf.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/wire/identity.h"

#include "runtime/transport/wire/handshake.pb.h"

#include <absl/strings/str_cat.h>

#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace pdg {

void identifyHost(Identity &identity) {
  std::ifstream("/proc/sys/kernel/random/boot_id") >> identity.boot;
  struct stat status;
  if (stat("/proc/self/ns/net", &status) == 0)
    identity.networkNamespace = status.st_ino;
  identity.user = getuid();
}

absl::Status checkIdentity(const Identity &self, const Identity &other, bool &isFinal) {
  // Versions first: what follows may mean something else in another one.
  isFinal = self.job == other.job;
  if (self.version != other.version)
    return absl::FailedPreconditionError(
        absl::StrCat(nameOf(self.peer), " speaks version ", self.version, " of the protocol, ",
                     nameOf(other.peer), " version ", other.version));
  if (self.job != other.job)
    return absl::PermissionDeniedError(absl::StrCat(nameOf(other.peer), " belongs to another job"));
  if (self.manifestHash != other.manifestHash)
    return absl::FailedPreconditionError(absl::StrCat(
        nameOf(self.peer), " and ", nameOf(other.peer), " were started with different programs"));
  return absl::OkStatus();
}

std::string whyNotShared(const Identity &self, const Identity &other) {
  for (const Identity *side : {&self, &other})
    if (side->sharingSocket.empty())
      return absl::StrCat(nameOf(side->peer), " shares none: ", side->noSharing);
  if (self.boot.empty() || self.boot != other.boot)
    return "they are on different machines";
  if (self.networkNamespace != other.networkNamespace)
    return "they are in different network namespaces";
  if (self.user != other.user)
    return "they belong to different users";
  return "";
}

std::string encode(const HandshakeMessage &message) {
  wire::Handshake proto;
  if (message.kind == HandshakeMessage::Kind::Choice) {
    proto.mutable_choice()->set_shares_memory(message.flag);
    proto.mutable_choice()->set_reason(message.reason);
  } else if (message.kind == HandshakeMessage::Kind::Refusal) {
    proto.mutable_refusal()->set_is_final(message.flag);
    proto.mutable_refusal()->set_reason(message.reason);
  } else {
    wire::Hello &hello = *proto.mutable_hello();
    hello.set_version(message.hello.version);
    hello.set_job(message.hello.job);
    hello.set_manifest_hash(message.hello.manifestHash);
    hello.set_role(static_cast<uint32_t>(message.hello.peer.kind));
    hello.set_index(message.hello.peer.index);
    hello.set_boot(message.hello.boot);
    hello.set_network_namespace(message.hello.networkNamespace);
    hello.set_user(message.hello.user);
    hello.set_sharing_socket(message.hello.sharingSocket);
    hello.set_no_sharing(message.hello.noSharing);
  }
  return proto.SerializeAsString();
}

absl::StatusOr<HandshakeMessage> decodeHandshake(const std::string &bytes) {
  wire::Handshake proto;
  if (!proto.ParseFromString(bytes))
    return absl::InvalidArgumentError("expects a message of the handshake");
  HandshakeMessage message;
  if (proto.has_choice()) {
    message.kind = HandshakeMessage::Kind::Choice;
    message.flag = proto.choice().shares_memory();
    message.reason = proto.choice().reason();
    return message;
  }
  if (proto.has_refusal()) {
    message.kind = HandshakeMessage::Kind::Refusal;
    message.flag = proto.refusal().is_final();
    message.reason = proto.refusal().reason();
    return message;
  }
  const wire::Hello &hello = proto.hello();
  if (!proto.has_hello() || hello.role() > static_cast<uint32_t>(PeerKind::Server))
    return absl::InvalidArgumentError("expects a hello of a trainer or a server");
  message.hello = {.peer = {static_cast<PeerKind>(hello.role()), hello.index()},
                   .version = hello.version(),
                   .job = hello.job(),
                   .manifestHash = hello.manifest_hash(),
                   .boot = hello.boot(),
                   .networkNamespace = hello.network_namespace(),
                   .user = hello.user(),
                   .sharingSocket = hello.sharing_socket(),
                   .noSharing = hello.no_sharing()};
  return message;
}

} // namespace pdg
