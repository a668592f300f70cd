// Pauses before calls. SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/delayed_exchange.h"

#include "runtime/base/mix.h"

#include <chrono>
#include <thread>

namespace pdg {

DelayedExchange::DelayedExchange(std::unique_ptr<Exchange> exchange, uint64_t seed)
    : exchange_(std::move(exchange)),
      key_(combine(seed, combine(static_cast<uint64_t>(exchange_->self().kind),
                                 static_cast<uint64_t>(exchange_->self().index)))) {}

void DelayedExchange::delay() {
  uint64_t call = calls_.fetch_add(1, std::memory_order_relaxed);
  uint64_t kind = drawBelow(key_, 2 * call, 8);
  if (kind >= 6)
    std::this_thread::sleep_for(
        std::chrono::microseconds(static_cast<int64_t>(drawBelow(key_, 2 * call + 1, 333))));
  else if (kind >= 3)
    std::this_thread::yield();
}

absl::Status DelayedExchange::send(int64_t edge, Peer to, TensorView value) {
  delay();
  return exchange_->send(edge, to, value);
}

absl::StatusOr<char *> DelayedExchange::reserve(int64_t edge, Peer to,
                                                std::span<const int64_t> sizes) {
  delay();
  return exchange_->reserve(edge, to, sizes);
}

absl::Status DelayedExchange::commit(int64_t edge, Peer to) {
  delay();
  return exchange_->commit(edge, to);
}

absl::StatusOr<TensorView> DelayedExchange::receive(int64_t edge, Peer from) {
  delay();
  return exchange_->receive(edge, from);
}

absl::StatusOr<Peer> DelayedExchange::nextSender(int64_t edge) {
  delay();
  return exchange_->nextSender(edge);
}

absl::Status DelayedExchange::finish() {
  delay();
  return exchange_->finish();
}

} // namespace pdg
