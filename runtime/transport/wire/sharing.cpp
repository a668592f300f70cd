// Exchanging descriptors of shared memory. SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/wire/sharing.h"

#include "runtime/transport/wire/identity.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace pdg {

/// What goes with the two descriptors: region, bell.
struct Sharing::Offer {
  static constexpr uint32_t kMagic = 0x70646731;
  static constexpr size_t kTextBytes = 200;

  uint32_t magic = kMagic;
  uint32_t version = kProtocolVersion;
  uint32_t role = 0;
  /// 0, or why nothing is offered: `text`.
  uint32_t isRefusal = 0;
  int64_t index = 0;
  int64_t size = 0;
  char text[kTextBytes] = {};
};

namespace {

constexpr int64_t kBellBytes = 4096;
constexpr int kDescriptors = 2;

struct Address {
  sockaddr_un address = {};
  socklen_t length = 0;
};

/// An abstract name begins with a zero byte and has no terminator.
Address addressOf(const std::string &name) {
  Address made;
  made.address.sun_family = AF_UNIX;
  size_t count = std::min(name.size(), sizeof(made.address.sun_path) - 1);
  std::memcpy(made.address.sun_path + 1, name.data(), count);
  made.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + count);
  return made;
}

const sockaddr *generic(const Address &address) {
  return reinterpret_cast<const sockaddr *>(&address.address);
}

absl::Status failed(const char *what) { return absl::ErrnoToStatus(errno, what); }

/// Nobody waits for a process that hangs; one that fills its memory may take a while.
void limitWaits(int socket) {
  timeval limit = {10, 0};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

Descriptor openSocket() {
  Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  limitWaits(socket.get());
  return socket;
}

absl::Status checkUser(int socket) {
  ucred credentials = {};
  socklen_t length = sizeof(credentials);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0)
    return failed("cannot tell who connects");
  if (credentials.uid != getuid())
    return absl::PermissionDeniedError("the process belongs to another user");
  return absl::OkStatus();
}

/// Sends `bytes` with descriptors.
absl::Status sendPacket(int socket, const void *bytes, size_t size, const int *descriptors) {
  iovec part = {const_cast<void *>(bytes), size};
  alignas(cmsghdr) char control[CMSG_SPACE(kDescriptors * sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptors) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(kDescriptors * sizeof(int));
    std::memcpy(CMSG_DATA(header), descriptors, kDescriptors * sizeof(int));
  }
  if (sendmsg(socket, &message, MSG_NOSIGNAL) != static_cast<ssize_t>(size))
    return failed("cannot send descriptors");
  return absl::OkStatus();
}

/// Receives one packet and all descriptors in it, which are closed whatever is wrong with them.
absl::Status receivePacket(int socket, void *bytes, size_t size,
                           std::vector<Descriptor> &descriptors) {
  iovec part = {bytes, size};
  alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (count < 0)
    return failed("cannot receive descriptors");
  for (cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header))
    if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
      for (size_t i = 0; i + sizeof(int) <= header->cmsg_len - CMSG_LEN(0); i += sizeof(int)) {
        int fd;
        std::memcpy(&fd, CMSG_DATA(header) + i, sizeof(int));
        descriptors.emplace_back(fd);
      }
  if (count != static_cast<ssize_t>(size) || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
    return absl::InvalidArgumentError("expects an offer of memory, got something else");
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<std::unique_ptr<Sharing>> Sharing::create(const Topology &topology, Peer self) {
  std::unique_ptr<Sharing> made(new Sharing(topology, self));
  auto bell = SharedRegion::create(kBellBytes, SharedRegion::Access::AllWrite);
  if (!bell.ok())
    return bell.status();
  made->bell_ = *std::move(bell);
  if (absl::Status status = made->bell_.allocate(0, kBellBytes); !status.ok())
    return status;
  if (absl::Status status = made->listen(); !status.ok())
    return status;
  return made;
}

absl::Status Sharing::listen() {
  char random[16];
  if (getrandom(random, sizeof(random), 0) != sizeof(random))
    return failed("no random numbers");
  name_ = "pdg-" + absl::BytesToHexString(absl::string_view(random, sizeof(random)));
  listener_ = openSocket();
  ending_ = Descriptor(eventfd(0, EFD_CLOEXEC));
  Address address = addressOf(name_);
  if (!listener_.isOpen() || !ending_.isOpen() ||
      bind(listener_.get(), generic(address), address.length) != 0 ||
      ::listen(listener_.get(), SOMAXCONN) != 0)
    return failed("cannot listen at a Unix socket");
  thread_ = std::jthread([this] { accept(); });
  return absl::OkStatus();
}

Sharing::~Sharing() { endAccepting(); }

void Sharing::endAccepting() {
  if (!thread_.joinable())
    return;
  uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(ending_.get(), &one, sizeof(one));
  thread_.join();
  listener_ = Descriptor();
}

void Sharing::accept() {
  for (;;) {
    pollfd sources[] = {{listener_.get(), POLLIN, 0}, {ending_.get(), POLLIN, 0}};
    if (poll(sources, 2, -1) < 0 && errno != EINTR)
      return;
    if (sources[1].revents)
      return;
    if (!sources[0].revents)
      continue;
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.isOpen())
      continue;
    limitWaits(socket.get());
    int fd = socket.get();
    if (absl::Status status = exchange(fd); !status.ok()) {
      // The process that offers tells its person, and ours by its choice.
      Offer refusal;
      refusal.isRefusal = 1;
      std::string text(status.message());
      std::strncpy(refusal.text, text.c_str(), Offer::kTextBytes - 1);
      sendPacket(fd, &refusal, sizeof(refusal), nullptr).IgnoreError();
    }
  }
}

absl::Status Sharing::exchange(int socket) {
  if (absl::Status status = checkUser(socket); !status.ok())
    return status;
  Peer other;
  absl::StatusOr<SharedPair> pair = takeOffer(socket, &other);
  if (!pair.ok())
    return pair.status();
  absl::StatusOr<SharedRegion> own = makeRegion(other);
  if (!own.ok())
    return own.status();
  pair->own = *std::move(own);
  // Before the answer, because the other process may tell its choice at once.
  int descriptor = pair->own.descriptor();
  Offer answer;
  answer.role = static_cast<uint32_t>(self_.kind);
  answer.index = self_.index;
  answer.size = pair->own.size();
  {
    std::lock_guard lock(mutex_);
    accepted_[other] = *std::move(pair);
  }
  const int descriptors[] = {descriptor, bell_.descriptor()};
  return sendPacket(socket, &answer, sizeof(answer), descriptors);
}

absl::StatusOr<SharedRegion> Sharing::makeRegion(Peer other) const {
  SharedLayout layout(topology_, self_, other);
  if (!layout.status.ok())
    return layout.status;
  auto region = SharedRegion::create(layout.size, SharedRegion::Access::OwnerWrites);
  if (!region.ok())
    return region;
  if (absl::Status status = region->allocate(0, layout.eager); !status.ok())
    return status;
  region->populate(layout.eager);
  return region;
}

absl::StatusOr<SharedPair> Sharing::takeOffer(int socket, Peer *other) const {
  Offer offer;
  std::vector<Descriptor> descriptors;
  if (absl::Status status = receivePacket(socket, &offer, sizeof(offer), descriptors); !status.ok())
    return status;
  if (offer.magic != Offer::kMagic || offer.version != kProtocolVersion)
    return absl::InvalidArgumentError("expects an offer of memory, got something else");
  if (offer.isRefusal)
    return absl::FailedPreconditionError(
        absl::string_view(offer.text, strnlen(offer.text, Offer::kTextBytes)));
  *other = {static_cast<PeerKind>(offer.role), offer.index};
  SharedLayout layout(topology_, *other, self_);
  if (descriptors.size() != kDescriptors || !layout.status.ok() || offer.size != layout.size)
    return absl::InvalidArgumentError("expects memory for the program's edges, got other memory");
  SharedPair pair;
  auto region =
      SharedRegion::map(std::move(descriptors[0]), layout.size, SharedRegion::Access::OwnerWrites);
  if (!region.ok())
    return region.status();
  region->populate(layout.eager);
  auto bell =
      SharedRegion::map(std::move(descriptors[1]), kBellBytes, SharedRegion::Access::AllWrite);
  if (!bell.ok())
    return bell.status();
  pair.other = *std::move(region);
  pair.otherBell = *std::move(bell);
  return pair;
}

absl::StatusOr<SharedPair> Sharing::offer(const std::string &name, Peer other) {
  Descriptor socket = openSocket();
  Address address = addressOf(name);
  if (!socket.isOpen() || connect(socket.get(), generic(address), address.length) != 0)
    return failed("cannot reach its Unix socket");
  if (absl::Status status = checkUser(socket.get()); !status.ok())
    return status;
  absl::StatusOr<SharedRegion> own = makeRegion(other);
  if (!own.ok())
    return own.status();
  Offer offer;
  offer.role = static_cast<uint32_t>(self_.kind);
  offer.index = self_.index;
  offer.size = own->size();
  const int descriptors[] = {own->descriptor(), bell_.descriptor()};
  absl::Status status = sendPacket(socket.get(), &offer, sizeof(offer), descriptors);
  if (!status.ok())
    return status;
  Peer answering;
  absl::StatusOr<SharedPair> pair = takeOffer(socket.get(), &answering);
  if (!pair.ok())
    return pair;
  if (answering != other)
    return absl::FailedPreconditionError(
        absl::StrCat("expects ", nameOf(other), ", got ", nameOf(answering)));
  pair->own = *std::move(own);
  return pair;
}

absl::StatusOr<SharedPair> Sharing::accepted(Peer other) {
  std::lock_guard lock(mutex_);
  auto found = accepted_.find(other);
  if (found == accepted_.end())
    return absl::NotFoundError(absl::StrCat(nameOf(other), " has shared no memory"));
  SharedPair pair = std::move(found->second);
  accepted_.erase(found);
  return pair;
}

} // namespace pdg
