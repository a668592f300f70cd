// Two trainers and two servers as real processes, exchanging tensors until something happens.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "test/runtime/transport/child_process.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace pdg {

/// Started and past its hundredth step.
class PeerCluster {
public:
  static constexpr size_t kTrainers = 2, kServers = 2;

  explicit PeerCluster(const std::string &way) {
    for (size_t i = 0; i < kTrainers + kServers; ++i)
      processes.push_back(std::make_unique<ChildProcess>(
          "pdg-transport-peer",
          std::vector<std::string>{i < kTrainers ? "trainer" : "server",
                                   std::to_string(i < kTrainers ? i : i - kTrainers), "2", "2",
                                   way}));
    std::string addresses;
    for (auto &process : processes)
      addresses += "127.0.0.1:" + process->readLine() + "\n";
    for (auto &process : processes)
      process->write(addresses);
    for (auto &process : processes)
      EXPECT_EQ(process->readLine(), "running");
  }

  /// Trainers, then servers.
  std::vector<std::unique_ptr<ChildProcess>> processes;
};

} // namespace pdg
