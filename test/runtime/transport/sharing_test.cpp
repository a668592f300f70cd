// Shared memory: what its seals forbid, what is refused of other processes, how its parts lie, and
// that the bell loses no ring. SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/wire/sharing.h"

#include "runtime/base/mix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace pdg {
namespace {

constexpr Peer kTrainer{PeerKind::Trainer, 0};
constexpr Peer kServer{PeerKind::Server, 0};

Topology twoEdges() {
  EdgeInfo gradient, parameter;
  gradient.shape = {100};
  parameter.shape = {-1};
  parameter.bound = 50;
  parameter.depth = 3;
  std::swap(parameter.fromKind, parameter.toKind);
  return {1, 1, {gradient, parameter}};
}

TEST(SharedRegion, IsReadOnlyForOthersAndKeepsItsSize) {
  auto region = SharedRegion::create(8192, SharedRegion::Access::OwnerWrites);
  ASSERT_TRUE(region.ok()) << region.status();
  ASSERT_TRUE(region->allocate(0, 8192).ok());
  region->data()[5000] = 'x';
  EXPECT_EQ(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, region->descriptor(), 0),
            MAP_FAILED);
  EXPECT_NE(ftruncate(region->descriptor(), 4096), 0);
  EXPECT_NE(ftruncate(region->descriptor(), 16384), 0);
  auto view = SharedRegion::map(Descriptor(dup(region->descriptor())), 8192,
                                SharedRegion::Access::OwnerWrites);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->data()[5000], 'x');
  EXPECT_NE(mprotect(view->data(), 8192, PROT_READ | PROT_WRITE), 0);
}

TEST(SharedRegion, RefusesMemoryThatCouldShrinkOrHasAnotherSize) {
  Descriptor open(memfd_create("open", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(open.get(), 4096), 0);
  auto map = [](int fd, int64_t size) {
    return SharedRegion::map(Descriptor(dup(fd)), size, SharedRegion::Access::OwnerWrites).status();
  };
  EXPECT_EQ(map(open.get(), 4096).code(), absl::StatusCode::kPermissionDenied);
  auto sealed = SharedRegion::create(4096, SharedRegion::Access::OwnerWrites);
  ASSERT_TRUE(sealed.ok());
  EXPECT_TRUE(map(sealed->descriptor(), 4096).ok());
  EXPECT_EQ(map(sealed->descriptor(), 8192).code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(map(STDIN_FILENO, 4096).code(), absl::StatusCode::kPermissionDenied);
}

TEST(SharedLayout, PartsDoNotOverlap) {
  const Topology topology = twoEdges();
  SharedLayout layout(topology, kServer, kTrainer);
  ASSERT_TRUE(layout.status.ok());
  const SharedLayout::Outgoing &out = layout.outgoing[1];
  EXPECT_EQ(layout.outgoing[0].sender, -1);
  EXPECT_EQ(layout.released[1], -1);
  std::vector<std::pair<int64_t, int64_t>> parts = {
      {out.sender, sizeof(SharedSender)},
      {out.headers, 3 * int64_t{sizeof(SharedSlotHeader)}},
      {layout.released[0], sizeof(SharedCounter)},
      {out.slots, 3 * out.stride}};
  std::sort(parts.begin(), parts.end());
  for (size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].first % 64, 0);
    EXPECT_LE(parts[i].first + parts[i].second,
              i + 1 < parts.size() ? parts[i + 1].first : layout.size);
  }
  EXPECT_GE(out.stride, 50 * 4);
  Topology huge = twoEdges();
  huge.edges[1].bound = INT64_MAX / 8;
  huge.edges[1].depth = 1000;
  EXPECT_FALSE(SharedLayout(huge, kServer, kTrainer).status.ok());
}

/// Sends bytes to the socket of a process that shares, and returns how it answers.
std::string answerTo(const std::string &name, const std::string &bytes) {
  Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (connect(socket.get(), reinterpret_cast<sockaddr *>(&address), length) != 0 ||
      send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0)
    return "no connection";
  std::string answer(1000, '\0');
  ssize_t count = recv(socket.get(), answer.data(), answer.size(), 0);
  answer.resize(count < 0 ? 0 : static_cast<size_t>(count));
  return answer;
}

TEST(Sharing, NonsenseIsRefusedAndTheNextIsServed) {
  const Topology topology = twoEdges();
  auto server = Sharing::create(topology, kServer), trainer = Sharing::create(topology, kTrainer);
  ASSERT_TRUE(server.ok() && trainer.ok());
  for (uint64_t i = 0; i < 20; ++i) {
    std::string bytes(drawBelow(1, i, 400) + 1, '\0');
    for (size_t j = 0; j < bytes.size(); ++j)
      bytes[j] = static_cast<char>(combine(i, j));
    EXPECT_NE(answerTo((*server)->socketName(), bytes).find("expects an offer of memory"),
              std::string::npos);
  }
  EXPECT_EQ((*server)->accepted(kTrainer).status().code(), absl::StatusCode::kNotFound);
  auto pair = (*trainer)->offer((*server)->socketName(), kServer);
  ASSERT_TRUE(pair.ok()) << pair.status();
  EXPECT_TRUE((*server)->accepted(kTrainer).ok());
  EXPECT_EQ((*trainer)->offer("pdg-nobody", kServer).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST(Sharing, AnotherProgramsMemoryIsRefused) {
  const Topology topology = twoEdges(), other = {1, 1, {twoEdges().edges[0]}};
  auto server = Sharing::create(topology, kServer), trainer = Sharing::create(other, kTrainer);
  ASSERT_TRUE(server.ok() && trainer.ok());
  EXPECT_EQ((*trainer)->offer((*server)->socketName(), kServer).status().message(),
            "expects memory for the program's edges, got other memory");
}

TEST(Doorbell, NoRingIsLost) {
  DoorbellWord there, back;
  std::atomic<int> ping = 0, pong = 0;
  constexpr int kRounds = 3000;
  std::jthread other([&] {
    for (int i = 1; i <= kRounds; ++i) {
      waitFor(there, [&] { return ping.load(std::memory_order_acquire) >= i; });
      pong.store(i, std::memory_order_release);
      ring(back);
    }
  });
  for (int i = 1; i <= kRounds; ++i) {
    ping.store(i, std::memory_order_release);
    ring(there);
    waitFor(back, [&] { return pong.load(std::memory_order_acquire) >= i; });
  }
  EXPECT_FALSE(waitFor(back, [] { return false; }, std::chrono::steady_clock::now()));
}

} // namespace
} // namespace pdg
