// The rules that every transport keeps. SPDX-License-Identifier: Apache-2.0
#include "test/runtime/transport/conformance.h"

#include "runtime/base/mix.h"

#include <atomic>
#include <numeric>
#include <set>
#include <thread>

namespace pdg {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExchangeConformance);

namespace {

constexpr Peer kTrainer{PeerKind::Trainer, 0};
constexpr Peer kServer{PeerKind::Server, 0};

/// An edge of f32 from trainers to servers.
EdgeInfo gradient(std::vector<int64_t> shape, int64_t bound = 0) {
  EdgeInfo edge;
  edge.name = "gradient";
  edge.shape = std::move(shape);
  edge.bound = bound;
  return edge;
}

/// An edge of f32 from servers to trainers.
EdgeInfo parameter(std::vector<int64_t> shape, int64_t bound = 0) {
  EdgeInfo edge = gradient(std::move(shape), bound);
  edge.name = "parameter";
  std::swap(edge.fromKind, edge.toKind);
  return edge;
}

Topology clusterOf(int64_t trainers, int64_t servers, std::vector<EdgeInfo> edges) {
  return {trainers, servers, std::move(edges)};
}

std::vector<float> valuesOf(uint64_t key, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(combine(key, i) >> 40);
  return values;
}

TensorView viewOf(const std::vector<float> &values, std::span<const int64_t> sizes) {
  return {reinterpret_cast<const char *>(values.data()), sizes};
}

std::vector<float> floatsOf(const TensorView &view) {
  int64_t count = 1;
  for (int64_t size : view.sizes)
    count *= size;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(view.data) % 64, 0u);
  const float *data = reinterpret_cast<const float *>(view.data);
  return {data, data + count};
}

absl::Status sendValues(Exchange &end, int64_t edge, Peer to, const std::vector<float> &values) {
  const int64_t sizes[] = {static_cast<int64_t>(values.size())};
  return end.send(edge, to, viewOf(values, sizes));
}

} // namespace

void ExchangeConformance::start(const Topology &topology) {
  topology_ = topology;
  auto made = GetParam().make(topology);
  ASSERT_TRUE(made.ok()) << made.status();
  cluster_ = *std::move(made);
}

void ExchangeConformance::inParallel(const std::function<void(Exchange &)> &body) {
  std::vector<std::jthread> threads;
  for (Peer peer : allPeers(topology_))
    threads.emplace_back([&, peer] { body(cluster_->at(peer)); });
}

TEST_P(ExchangeConformance, KeepsOrderSizesAndBytes) {
  start(clusterOf(1, 1, {gradient({-1}, (1 << 20) + 70000)}));
  // 0, 1, odd ones, one past a page, one past the size from which messages travel in pieces.
  const std::vector<int64_t> counts = {0, 1, 3, 1023, 1025, 0, 7, (1 << 20) + 70000, 1};
  inParallel([&](Exchange &end) {
    for (size_t i = 0; i < counts.size(); ++i) {
      std::vector<float> values = valuesOf(i, counts[i]);
      if (end.self() == kTrainer) {
        absl::Status status = sendValues(end, 0, kServer, values);
        ASSERT_TRUE(status.ok()) << status;
        continue;
      }
      auto view = end.receive(0, kTrainer);
      ASSERT_TRUE(view.ok()) << view.status();
      ASSERT_EQ(view->sizes.size(), 1u);
      EXPECT_EQ(view->sizes[0], counts[i]);
      EXPECT_TRUE(floatsOf(*view) == values) << "message " << i;
    }
  });
}

TEST_P(ExchangeConformance, CarriesEveryTypeAndRank) {
  std::vector<EdgeInfo> edges;
  for (DType dtype : {DType::F32, DType::F64, DType::I32, DType::I64, DType::U8, DType::Bool,
                      DType::BF16, DType::F16, DType::I8})
    for (std::vector<int64_t> shape : {std::vector<int64_t>{}, {3}, {0, 5}, {2, 1, 3}, {2, -1}}) {
      edges.push_back(gradient(shape, 8));
      edges.back().dtype = dtype;
    }
  start(clusterOf(1, 1, edges));
  const std::string bytes = "a text of as many bytes as eight elements of eight can have.....";
  inParallel([&](Exchange &end) {
    for (size_t i = 0; i < edges.size(); ++i) {
      std::vector<int64_t> sizes = edges[i].shape;
      std::replace(sizes.begin(), sizes.end(), int64_t{-1}, int64_t{4});
      size_t length = std::accumulate(sizes.begin(), sizes.end(), size_t{1},
                                      [](size_t a, int64_t b) { return a * size_t(b); }) *
                      sizeOf(edges[i].dtype);
      int64_t edge = static_cast<int64_t>(i);
      if (end.self() == kTrainer) {
        EXPECT_TRUE(end.send(edge, kServer, {bytes.data(), sizes}).ok());
        continue;
      }
      auto view = end.receive(edge, kTrainer);
      ASSERT_TRUE(view.ok()) << view.status();
      EXPECT_EQ(std::vector<int64_t>(view->sizes.begin(), view->sizes.end()), sizes);
      EXPECT_EQ(std::string(view->data, length), bytes.substr(0, length));
    }
  });
}

TEST_P(ExchangeConformance, ASenderWaitsWhenTheDepthIsReached) {
  for (int64_t depth : {1, 2, 5}) {
    Topology topology = clusterOf(1, 1, {gradient({-1}, 64)});
    topology.edges[0].depth = depth;
    start(topology);
    constexpr int64_t kMessages = 30;
    std::atomic<int64_t> sent = 0;
    inParallel([&](Exchange &end) {
      for (int64_t i = 0; i < kMessages; ++i) {
        if (end.self() == kTrainer) {
          ASSERT_TRUE(sendValues(end, 0, kServer, valuesOf(i, i)).ok());
          ++sent;
          continue;
        }
        // Message i is in our hands, so i messages were given back.
        ASSERT_TRUE(end.receive(0, kTrainer).ok());
        while (sent < std::min(kMessages, i + depth))
          std::this_thread::yield();
        for (int turn = 0; turn < 20; ++turn)
          std::this_thread::yield();
        ASSERT_LE(sent, i + depth);
      }
    });
  }
}

TEST_P(ExchangeConformance, AMessageStaysUntilTheNextReceive) {
  start(clusterOf(1, 1, {gradient({1000})}));
  inParallel([&](Exchange &end) {
    for (uint64_t i = 0; i < 50; ++i) {
      if (end.self() == kTrainer) {
        ASSERT_TRUE(sendValues(end, 0, kServer, valuesOf(i, 1000)).ok());
        continue;
      }
      auto view = end.receive(0, kTrainer);
      ASSERT_TRUE(view.ok());
      std::this_thread::yield();
      ASSERT_TRUE(floatsOf(*view) == valuesOf(i, 1000));
    }
  });
}

TEST_P(ExchangeConformance, BothSendLargeMessagesBeforeTheyReceive) {
  constexpr int64_t kCount = (5 << 20) / 4 + 1;
  start(clusterOf(1, 1, {gradient({kCount}), parameter({kCount})}));
  inParallel([&](Exchange &end) {
    bool isTrainer = end.self() == kTrainer;
    Peer other = isTrainer ? kServer : kTrainer;
    ASSERT_TRUE(sendValues(end, isTrainer ? 0 : 1, other, valuesOf(1, kCount)).ok());
    auto view = end.receive(isTrainer ? 1 : 0, other);
    ASSERT_TRUE(view.ok()) << view.status();
    ASSERT_TRUE(floatsOf(*view) == valuesOf(1, kCount));
  });
}

TEST_P(ExchangeConformance, ValuesAreMadeInPlace) {
  start(clusterOf(1, 1, {gradient({-1}, 100)}));
  inParallel([&](Exchange &end) {
    for (int64_t i = 1; i < 20; ++i) {
      if (end.self() == kTrainer) {
        const int64_t wrong[] = {100}, sizes[] = {i};
        ASSERT_TRUE(end.reserve(0, kServer, wrong).ok());
        auto place = end.reserve(0, kServer, sizes);
        ASSERT_TRUE(place.ok()) << place.status();
        EXPECT_EQ(reinterpret_cast<uintptr_t>(*place) % 64, 0u);
        std::iota(reinterpret_cast<float *>(*place), reinterpret_cast<float *>(*place) + i, 0.0f);
        ASSERT_TRUE(end.commit(0, kServer).ok());
        EXPECT_EQ(end.commit(0, kServer).code(), absl::StatusCode::kFailedPrecondition);
        continue;
      }
      auto view = end.receive(0, kTrainer);
      ASSERT_TRUE(view.ok());
      ASSERT_EQ(view->sizes[0], i);
      EXPECT_EQ(floatsOf(*view).back(), static_cast<float>(i - 1));
    }
  });
}

TEST_P(ExchangeConformance, RefusesWhatWasNotDeclared) {
  start(clusterOf(2, 1, {gradient({2, -1}, 8), parameter({})}));
  Exchange &end = at(PeerKind::Trainer, 0);
  float value = 1;
  auto send = [&](int64_t edge, Peer to, std::vector<int64_t> sizes) {
    return end.send(edge, to, {reinterpret_cast<const char *>(&value), sizes});
  };
  auto code = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(send(0, kServer, {2, 5}).message(),
            "edge 'gradient': expects at most 8 elements, got f32[2, 5]");
  EXPECT_EQ(send(0, kServer, {3, 1}).message(),
            "edge 'gradient': expects f32[2, ?], got f32[3, 1]");
  EXPECT_EQ(send(0, kServer, {2}).code(), code);
  EXPECT_EQ(send(0, kServer, {2, -1}).code(), code);
  EXPECT_EQ(send(0, kServer, {2, int64_t{1} << 62}).code(), code);
  EXPECT_EQ(send(2, kServer, {}).message(), "there is no edge 2");
  EXPECT_EQ(send(-1, kServer, {}).code(), code);
  EXPECT_EQ(send(1, kServer, {}).message(),
            "edge 'parameter' does not lead from trainer 0 to server 0");
  EXPECT_EQ(send(0, {PeerKind::Server, 7}, {2, 1}).code(), code);
  EXPECT_EQ(send(0, {PeerKind::Trainer, 1}, {2, 1}).code(), code);
  EXPECT_EQ(end.receive(0, kServer).status().code(), code);
  EXPECT_EQ(end.nextSender(5).status().code(), code);
  EXPECT_TRUE(end.status().ok());
}

TEST_P(ExchangeConformance, StopWakesEverybody) {
  start(clusterOf(2, 2, {gradient({1}), parameter({-1}, 4)}));
  std::atomic<int> waiting = 0;
  auto cause = absl::DataLossError("the disk is full");
  inParallel([&](Exchange &end) {
    absl::Status status;
    ++waiting;
    if (end.self() == Peer{PeerKind::Server, 1}) {
      while (waiting < 4)
        std::this_thread::yield();
      end.stop(cause);
      status = end.status();
    } else if (end.self() == kServer) {
      status = end.nextSender(0).status();
    } else if (end.self() == kTrainer) {
      // The second server receives nothing, so that the third send waits.
      while (status.ok())
        status = sendValues(end, 0, {PeerKind::Server, 1}, {1.0f});
    } else {
      status = end.receive(1, kServer).status();
    }
    EXPECT_EQ(status, cause) << nameOf(end.self());
    end.stop(absl::InternalError("another cause"));
    EXPECT_EQ(end.status(), cause);
    EXPECT_EQ(end.receive(end.self().kind == PeerKind::Trainer ? 1 : 0,
                          end.self().kind == PeerKind::Trainer ? kServer : kTrainer)
                  .status(),
              cause);
  });
}

TEST_P(ExchangeConformance, FinishComesAfterTheMessages) {
  start(clusterOf(2, 1, {gradient({-1}, 9)}));
  inParallel([&](Exchange &end) {
    if (end.self().kind == PeerKind::Trainer) {
      for (int64_t i = 0; i <= end.self().index; ++i)
        ASSERT_TRUE(sendValues(end, 0, kServer, {1.0f}).ok());
      EXPECT_TRUE(end.finish().ok());
      return;
    }
    for (int64_t trainer : {1, 0}) {
      Peer peer{PeerKind::Trainer, trainer};
      for (int64_t i = 0; i <= trainer; ++i)
        ASSERT_TRUE(end.receive(0, peer).ok());
      EXPECT_EQ(end.receive(0, peer).status().code(), absl::StatusCode::kOutOfRange);
    }
    EXPECT_EQ(end.nextSender(0).status().code(), absl::StatusCode::kOutOfRange);
    EXPECT_TRUE(end.status().ok());
  });
}

TEST_P(ExchangeConformance, WhoHasFinishedTakesNoMoreThanTheDepth) {
  start(clusterOf(1, 1, {gradient({1}), parameter({1})}));
  inParallel([&](Exchange &end) {
    if (end.self() == kTrainer) {
      ASSERT_TRUE(end.finish().ok());
      return;
    }
    EXPECT_EQ(end.receive(0, kTrainer).status().code(), absl::StatusCode::kOutOfRange);
    for (int64_t i = 0; i < 2; ++i)
      EXPECT_TRUE(sendValues(end, 1, kTrainer, {1.0f}).ok());
    EXPECT_EQ(sendValues(end, 1, kTrainer, {1.0f}).code(), absl::StatusCode::kOutOfRange);
    EXPECT_TRUE(end.status().ok());
  });
}

TEST_P(ExchangeConformance, SendersTakeTurns) {
  start(clusterOf(3, 1, {gradient({1})}));
  inParallel([&](Exchange &end) {
    constexpr int64_t kMessages = 20;
    if (end.self().kind == PeerKind::Trainer) {
      for (int64_t i = 0; i < kMessages; ++i)
        ASSERT_TRUE(sendValues(end, 0, kServer, {static_cast<float>(i)}).ok());
      ASSERT_TRUE(end.finish().ok());
      return;
    }
    std::vector<float> next(3);
    absl::StatusOr<Peer> peer = end.nextSender(0);
    for (; peer.ok(); peer = end.nextSender(0)) {
      auto view = end.receive(0, *peer);
      ASSERT_TRUE(view.ok());
      EXPECT_EQ(floatsOf(*view)[0], next[static_cast<size_t>(peer->index)]++);
    }
    EXPECT_EQ(peer.status().code(), absl::StatusCode::kOutOfRange);
    EXPECT_EQ(next, std::vector<float>(3, kMessages));
  });
}

/// Steps of a synchronous job with parameter servers and an exchange between the trainers: what
/// arrives is a function of the step and the two processes.
TEST_P(ExchangeConformance, RunsTheStepsOfAJob) {
  EdgeInfo peers = gradient({-1}, 64);
  peers.toKind = PeerKind::Trainer;
  EdgeInfo first = gradient({2});
  first.firstOnly = true;
  const std::vector<EdgeInfo> edges = {gradient({33}), parameter({1025}), peers, first};
  start(clusterOf(3, 2, edges));
  auto key = [](uint64_t step, size_t edge, Peer from, Peer to) {
    return combine(combine(step, edge),
                   combine(static_cast<uint64_t>(from.index), static_cast<uint64_t>(to.index)));
  };
  std::vector<Peer> all = allPeers(clusterOf(3, 2, {}));
  inParallel([&](Exchange &end) {
    for (uint64_t step = 0; step < 6; ++step)
      for (size_t e = 0; e < edges.size(); ++e) {
        int64_t count = e == 2 ? static_cast<int64_t>(step * 5) : edges[e].shape[0];
        for (Peer to : all)
          if (connects(edges[e], end.self(), to))
            ASSERT_TRUE(
                sendValues(end, int64_t(e), to, valuesOf(key(step, e, end.self(), to), count))
                    .ok());
        for (Peer from : all)
          if (connects(edges[e], from, end.self())) {
            auto view = end.receive(static_cast<int64_t>(e), from);
            ASSERT_TRUE(view.ok()) << view.status();
            ASSERT_TRUE(floatsOf(*view) == valuesOf(key(step, e, from, end.self()), count))
                << "step " << step << " edge " << e << " from " << nameOf(from);
          }
      }
  });
}

TEST_P(ExchangeConformance, BroadcastReachesAllTrainers) {
  start(clusterOf(3, 1, {parameter({5}), gradient({1})}));
  inParallel([&](Exchange &end) {
    for (uint64_t step = 0; step < 8; ++step) {
      std::vector<float> values = valuesOf(step, 5);
      if (end.self() == kServer) {
        const int64_t sizes[] = {5};
        ASSERT_TRUE(end.broadcast(0, viewOf(values, sizes)).ok());
        continue;
      }
      auto view = end.receive(0, kServer);
      ASSERT_TRUE(view.ok());
      EXPECT_TRUE(floatsOf(*view) == values);
    }
  });
  EXPECT_EQ(at(PeerKind::Server, 0).broadcast(9, {}).code(), absl::StatusCode::kInvalidArgument);
}

} // namespace pdg
