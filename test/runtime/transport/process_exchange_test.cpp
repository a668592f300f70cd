// The transport between processes keeps the rules; handshakes that fail, ends that come early.
// SPDX-License-Identifier: Apache-2.0
#include "test/runtime/transport/process_cluster.h"

#include <algorithm>

namespace pdg {
namespace {

TestTransport betweenProcesses(std::string name, ChangeOptions change) {
  return {std::move(name),
          [change](const Topology &topology) -> absl::StatusOr<std::unique_ptr<TestCluster>> {
            auto cluster = std::make_unique<ProcessCluster>(topology, change);
            if (!cluster->status().ok())
              return cluster->status();
            return cluster;
          }};
}

INSTANTIATE_TEST_SUITE_P(
    Processes, ExchangeConformance,
    testing::Values(betweenProcesses("stream", [](auto &options) { options.sharesMemory = false; }),
                    betweenProcesses("memory", [](auto &) {})),
    nameOfTransport);

} // namespace
} // namespace pdg
