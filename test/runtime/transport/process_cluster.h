// Clusters of process ends, all in this process: what the tests of the wire are made on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/transport/delayed_exchange.h"
#include "runtime/transport/wire/process_exchange.h"
#include "test/runtime/transport/conformance.h"

#include <map>
#include <mutex>
#include <thread>

namespace pdg {

/// Changes the options of one process before it listens.
using ChangeOptions = std::function<void(ProcessOptions &)>;

/// Ends that are connected over loopback.
class ProcessCluster : public TestCluster {
public:
  /// Listens with every process, then connects them at the same time; `statuses` says how that
  /// went.
  /// With a seed, every call is delayed.
  ProcessCluster(const Topology &topology, const ChangeOptions &change, uint64_t delaySeed = 0) {
    std::map<Peer, std::string> addresses;
    std::map<Peer, std::unique_ptr<ProcessExchange>> listening;
    for (Peer peer : allPeers(topology)) {
      ProcessOptions options;
      options.topology = topology;
      options.self = peer;
      options.job = "test";
      options.log = [this](const std::string &text) {
        std::lock_guard lock(mutex_);
        log_.push_back(text);
      };
      change(options);
      auto made = ProcessExchange::listen(std::move(options));
      statuses_[peer] = made.status();
      if (!made.ok())
        continue;
      addresses[peer] = "127.0.0.1:" + std::to_string((*made)->port());
      listening[peer] = *std::move(made);
    }
    {
      std::vector<std::jthread> threads;
      for (auto &[peer, end] : listening)
        threads.emplace_back([&status = statuses_[peer], &end = end, &addresses] {
          status = end->connect(addresses);
        });
    }
    for (auto &[peer, end] : listening)
      if (delaySeed != 0)
        ends_[peer] = std::make_unique<DelayedExchange>(std::move(end), delaySeed);
      else
        ends_[peer] = std::move(end);
  }

  /// The first connection that failed.
  absl::Status status() const {
    for (auto &[peer, status] : statuses_)
      if (!status.ok())
        return status;
    return absl::OkStatus();
  }

  absl::Status statusOf(Peer peer) const { return statuses_.at(peer); }
  Exchange &at(Peer peer) override { return *ends_.at(peer); }

  /// Ends one process as if it had been killed.
  void kill(Peer peer) { ends_.at(peer).reset(); }

  std::vector<std::string> log() {
    std::lock_guard lock(mutex_);
    return log_;
  }

private:
  std::mutex mutex_;
  std::vector<std::string> log_;
  std::map<Peer, absl::Status> statuses_;
  std::map<Peer, std::unique_ptr<Exchange>> ends_;
};

} // namespace pdg
