// Connections that must not come about, and what happens when processes come, go and misbehave.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/mix.h"
#include "runtime/transport/wire/grpc_network.h"
#include "runtime/transport/wire/identity.h"
#include "runtime/transport/wire/wire_frame.h"
#include "test/runtime/transport/process_cluster.h"

#include <absl/strings/match.h>

#include <atomic>

namespace pdg {
namespace {

constexpr Peer kTrainer{PeerKind::Trainer, 0};
constexpr Peer kServer{PeerKind::Server, 0};

/// Edge 0 to the server, edge 1 to the trainers.
Topology smallTopology(int64_t trainers = 1) {
  EdgeInfo gradient, parameter;
  gradient.name = "gradient";
  gradient.shape = {2};
  parameter = gradient;
  parameter.name = "parameter";
  std::swap(parameter.fromKind, parameter.toKind);
  return {trainers, 1, {gradient, parameter}};
}

TEST(Handshake, DifferentProgramsAreTheFirstAndOnlyError) {
  ProcessCluster cluster(smallTopology(), [](ProcessOptions &options) {
    options.manifestHash = nameOf(options.self);
  });
  for (Peer peer : {kTrainer, kServer}) {
    EXPECT_EQ(cluster.statusOf(peer).code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(cluster.statusOf(peer).message(),
              "server 0 and trainer 0 were started with different programs");
    EXPECT_EQ(cluster.at(peer).status(), cluster.statusOf(peer));
  }
}

TEST(Handshake, AnotherJobIsAStranger) {
  ProcessCluster cluster(smallTopology(), [](ProcessOptions &options) {
    if (options.self == kTrainer)
      options.job = "another";
    else
      options.connectLimit = std::chrono::milliseconds(100);
  });
  EXPECT_EQ(cluster.statusOf(kTrainer).message(),
            "cannot connect with server 0: trainer 0 belongs to another job");
  EXPECT_EQ(cluster.statusOf(kServer).message(), "server 0 waited 0.1 s for trainer 0");
}

TEST(Handshake, WhoIsMissingIsNamed) {
  ProcessOptions options;
  options.topology = smallTopology(2);
  options.self = kServer;
  options.connectLimit = std::chrono::milliseconds(20);
  auto end = ProcessExchange::listen(options);
  ASSERT_TRUE(end.ok());
  absl::Status status = (*end)->connect({});
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(status.message(), "server 0 waited 0.02 s for trainer 0, trainer 1");
  options.self = {PeerKind::Server, 1};
  EXPECT_EQ(ProcessExchange::listen(options).status().message(),
            "server 1 is none of the cluster's processes");
}

TEST(Handshake, TheWayOfEachPairIsLogged) {
  ProcessCluster shared(smallTopology(), [](ProcessOptions &) {});
  ASSERT_TRUE(shared.status().ok()) << shared.status();
  std::vector<std::string> log = shared.log();
  ASSERT_EQ(log.size(), 2u);
  std::sort(log.begin(), log.end());
  EXPECT_EQ(log[0], "server 0 and trainer 0 share memory");
  EXPECT_EQ(log[1], "trainer 0 and server 0 share memory");
  ProcessCluster streams(smallTopology(), [](ProcessOptions &options) {
    options.sharesMemory = options.self == kTrainer;
  });
  ASSERT_TRUE(streams.status().ok()) << streams.status();
  for (const std::string &line : streams.log())
    EXPECT_TRUE(
        absl::StrContains(line, "share no memory: server 0 shares none: it is switched off"))
        << line;
}

TEST(Handshake, AProcessThatEndsWithoutFinishIsLost) {
  ProcessCluster cluster(smallTopology(2), [](ProcessOptions &) {});
  ASSERT_TRUE(cluster.status().ok()) << cluster.status();
  cluster.kill({PeerKind::Trainer, 1});
  absl::Status cause = cluster.at(kServer).receive(0, {PeerKind::Trainer, 1}).status();
  EXPECT_EQ(cause.code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(absl::StrContains(cause.message(), "trainer 1 was lost: its connection ended"))
      << cause;
  // The other trainer is told by the server.
  EXPECT_EQ(cluster.at(kTrainer).receive(1, kServer).status(), cause);
}

TEST(Handshake, AfterFinishAnEndIsNoFailure) {
  ProcessCluster cluster(smallTopology(2), [](ProcessOptions &) {});
  ASSERT_TRUE(cluster.status().ok()) << cluster.status();
  const float values[] = {1, 2};
  const int64_t sizes[] = {2};
  TensorView view{reinterpret_cast<const char *>(values), sizes};
  ASSERT_TRUE(cluster.at(kTrainer).send(0, kServer, view).ok());
  ASSERT_TRUE(cluster.at(kTrainer).finish().ok());
  cluster.kill(kTrainer);
  EXPECT_TRUE(cluster.at(kServer).receive(0, kTrainer).ok());
  EXPECT_EQ(cluster.at(kServer).receive(0, kTrainer).status().code(),
            absl::StatusCode::kOutOfRange);
  absl::Status status;
  for (int64_t i = 0; status.ok() && i < 3; ++i)
    status = cluster.at(kServer).send(1, kTrainer, view);
  EXPECT_EQ(status, absl::OutOfRangeError("trainer 0 has finished"));
  EXPECT_TRUE(cluster.at(kServer).status().ok());
}

// Its streams end one after the other; the first of them is no loss that the others must hear of.
TEST(Handshake, WhoEndsFirstAlarmsNobody) {
  constexpr int64_t kTrainers = 6;
  for (int round = 0; round < 8; ++round) {
    ProcessCluster cluster(smallTopology(kTrainers), [](ProcessOptions &) {});
    ASSERT_TRUE(cluster.status().ok()) << cluster.status();
    ASSERT_TRUE(cluster.at(kServer).finish().ok());
    cluster.kill(kServer);
    for (int64_t i = 0; i < kTrainers; ++i) {
      Exchange &trainer = cluster.at({PeerKind::Trainer, i});
      EXPECT_EQ(trainer.receive(1, kServer).status(),
                absl::OutOfRangeError("server 0 has finished"));
      EXPECT_TRUE(trainer.status().ok()) << trainer.status();
    }
  }
}

/// A process of the job that says hello properly and then sends what it likes.
class Intruder : public StreamEvents {
public:
  Intruder() {
    network_ =
        *GrpcNetwork::listen("127.0.0.1", std::nullopt, [](NetworkStream &) { return nullptr; });
  }

  void dial(const std::string &address) {
    stream_ = &network_->dial(address, std::shared_ptr<Intruder>(this, [](auto *) {}));
    Identity self;
    self.peer = kTrainer;
    self.job = "test";
    self.noSharing = "no";
    send(encode({.hello = self}));
  }

  void send(const std::string &bytes) {
    StreamMessage message{.head = bytes};
    stream_->write({&message, 1});
  }

  bool onMessage(std::span<const std::string_view>) override {
    if (!std::exchange(isGreeted_, true)) {
      send(encode({.kind = HandshakeMessage::Kind::Choice, .reason = "none"}));
      send("no frame at all, and not short either");
    }
    return false;
  }
  void onEnd(const std::string &) override {}
  void onLeft() override {}

private:
  std::unique_ptr<GrpcNetwork> network_;
  NetworkStream *stream_ = nullptr;
  bool isGreeted_ = false;
};

TEST(Handshake, AProcessThatSendsNonsenseIsNamed) {
  ProcessOptions options;
  options.topology = smallTopology();
  options.self = kServer;
  options.job = "test";
  auto end = ProcessExchange::listen(options);
  ASSERT_TRUE(end.ok());
  Intruder intruder;
  intruder.dial("127.0.0.1:" + std::to_string((*end)->port()));
  (*end)->connect({}).IgnoreError();
  std::string cause((*end)->receive(0, kTrainer).status().message());
  EXPECT_TRUE(absl::StrContains(cause, "server 0 refused a message of trainer 0 at ipv4:127.0.0.1"))
      << cause;
  EXPECT_TRUE(absl::StrContains(cause, "expects a kind of frame, got 110")) << cause;
}

TEST(Handshake, ReadsOnlyItsMessages) {
  EXPECT_FALSE(decodeHandshake("nonsense").ok());
  EXPECT_FALSE(decodeHandshake("").ok());
  Identity self;
  self.peer = {PeerKind::Server, 3};
  self.job = "j";
  auto message = decodeHandshake(encode({.hello = self}));
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(message->hello.peer, self.peer);
  // Damaged ones are refused or are some other message, and end nothing.
  const std::string good = encode({.hello = self});
  for (uint64_t i = 0; i < 2000; ++i) {
    std::string bytes = good;
    bytes[drawBelow(i, 0, bytes.size())] = static_cast<char>(drawBelow(i, 1, 256));
    bytes.resize(drawBelow(i, 2, bytes.size() + 1));
    if (auto damaged = decodeHandshake(bytes); damaged.ok())
      EXPECT_LE(damaged->hello.peer.kind, PeerKind::Server);
  }
  Identity later = self;
  later.version = kProtocolVersion + 1;
  bool isFinal = false;
  EXPECT_EQ(checkIdentity(self, later, isFinal).message(),
            "server 3 speaks version 1 of the protocol, server 3 version 2");
  EXPECT_TRUE(isFinal);
}

} // namespace
} // namespace pdg
