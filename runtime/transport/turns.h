// Lets threads run one at a time, in an order drawn from a seed: what depends on the order of
// events shows, the same in every run of the seed, and it is noticed when all wait for each other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace pdg {

/// The turns of a fixed number of threads. Each calls `enter` first and `leave` last; between them
/// it runs alone until it gives its turn away.
class Turns {
public:
  Turns(int64_t threads, uint64_t seed);

  /// Waits for the first turn.
  void enter(int64_t thread);
  /// Ends; somebody else has the turn.
  void leave(int64_t thread);
  /// Perhaps gives the turn away, and waits until it comes back.
  void yield(int64_t thread);
  /// Says that the thread waits for something, called `reason`, which only others can do. Returns
  /// when the turn came back after `wake`; false when all threads wait.
  bool block(int64_t thread, std::string reason);
  /// Says that what somebody waits for may have happened.
  void wake();
  /// What the waiting threads wait for. After block() returned false.
  std::vector<std::string> reasons();

private:
  struct Thread {
    bool isDone = false, isBlocked = false, isStuck = false;
    std::string reason;
    std::condition_variable turn;
  };

  void passOn();
  void await(std::unique_lock<std::mutex> &lock, int64_t thread);

  std::mutex mutex_;
  std::deque<Thread> threads_;
  uint64_t seed_, draws_ = 0;
  int64_t current_ = 0;
};

} // namespace pdg
