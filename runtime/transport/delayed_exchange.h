// An exchange that is slower than it has to be, for tests of whole jobs: what must not depend on
// the order of events is run with many orders. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/transport/exchange.h"

#include <atomic>
#include <memory>

namespace pdg {

/// Passes every call on, after a pause of up to a third of a millisecond, or none, as drawn from a
/// seed, the process and the number of the call.
class DelayedExchange : public Exchange {
public:
  DelayedExchange(std::unique_ptr<Exchange> exchange, uint64_t seed);

  Peer self() const override { return exchange_->self(); }
  const Topology &topology() const override { return exchange_->topology(); }
  absl::Status send(int64_t edge, Peer to, TensorView value) override;
  absl::StatusOr<char *> reserve(int64_t edge, Peer to, std::span<const int64_t> sizes) override;
  absl::Status commit(int64_t edge, Peer to) override;
  absl::StatusOr<TensorView> receive(int64_t edge, Peer from) override;
  absl::StatusOr<Peer> nextSender(int64_t edge) override;
  absl::Status finish() override;
  void stop(absl::Status cause) override { exchange_->stop(std::move(cause)); }
  absl::Status status() const override { return exchange_->status(); }

private:
  void delay();

  std::unique_ptr<Exchange> exchange_;
  const uint64_t key_;
  std::atomic<uint64_t> calls_ = 0;
};

} // namespace pdg
