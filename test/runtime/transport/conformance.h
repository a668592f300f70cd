// The rules that every transport keeps, as tests: a transport joins by a function that makes a
// cluster. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/transport/exchange.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

namespace pdg {

/// All ends of one cluster, in this process.
class TestCluster {
public:
  virtual ~TestCluster() = default;
  virtual Exchange &at(Peer peer) = 0;
};

/// A transport under test: its name and how a cluster of it is made.
struct TestTransport {
  std::string name;
  std::function<absl::StatusOr<std::unique_ptr<TestCluster>>(const Topology &)> make;

  friend void PrintTo(const TestTransport &transport, std::ostream *out) { *out << transport.name; }
};

/// Instantiate it with the transports to test; name the instances by `nameOfTransport`.
class ExchangeConformance : public testing::TestWithParam<TestTransport> {
protected:
  /// Makes the cluster of this test.
  void start(const Topology &topology);

  Exchange &at(PeerKind kind, int64_t index) { return cluster_->at({kind, index}); }

  /// Runs `body` for each process in a thread of its own and waits for all.
  void inParallel(const std::function<void(Exchange &)> &body);

private:
  Topology topology_;
  std::unique_ptr<TestCluster> cluster_;
};

inline std::string nameOfTransport(const testing::TestParamInfo<TestTransport> &info) {
  return info.param.name;
}

} // namespace pdg
