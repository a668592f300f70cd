// Passing a turn on: the next thread is drawn from those that can go on.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/turns.h"

#include "runtime/base/mix.h"

namespace pdg {

Turns::Turns(int64_t threads, uint64_t seed) : threads_(static_cast<size_t>(threads)), seed_(seed) {
  std::lock_guard lock(mutex_);
  passOn();
}

// With nobody who can go on, the first that waits is told so.
void Turns::passOn() {
  std::vector<int64_t> ready, blocked;
  for (int64_t i = 0; i < static_cast<int64_t>(threads_.size()); ++i) {
    const Thread &thread = threads_[static_cast<size_t>(i)];
    if (!thread.isDone)
      (thread.isBlocked ? blocked : ready).push_back(i);
  }
  if (!ready.empty())
    current_ = ready[drawBelow(seed_, draws_++, ready.size())];
  else if (!blocked.empty())
    threads_[static_cast<size_t>(current_ = blocked[0])].isStuck = true;
  else
    return;
  threads_[static_cast<size_t>(current_)].turn.notify_one();
}

void Turns::await(std::unique_lock<std::mutex> &lock, int64_t thread) {
  threads_[static_cast<size_t>(thread)].turn.wait(lock, [&] { return current_ == thread; });
}

void Turns::enter(int64_t thread) {
  std::unique_lock lock(mutex_);
  await(lock, thread);
}

void Turns::leave(int64_t thread) {
  std::lock_guard lock(mutex_);
  threads_[static_cast<size_t>(thread)].isDone = true;
  passOn();
}

void Turns::yield(int64_t thread) {
  std::unique_lock lock(mutex_);
  passOn();
  await(lock, thread);
}

bool Turns::block(int64_t thread, std::string reason) {
  std::unique_lock lock(mutex_);
  Thread &self = threads_[static_cast<size_t>(thread)];
  self.isBlocked = true;
  self.reason = std::move(reason);
  passOn();
  await(lock, thread);
  bool isStuck = self.isStuck;
  // The reasons of all stay known until somebody asked for them.
  if (!isStuck)
    self.isBlocked = false;
  self.isStuck = false;
  return !isStuck;
}

void Turns::wake() {
  std::lock_guard lock(mutex_);
  for (Thread &thread : threads_)
    thread.isBlocked = false;
}

std::vector<std::string> Turns::reasons() {
  std::lock_guard lock(mutex_);
  std::vector<std::string> reasons;
  for (const Thread &thread : threads_)
    if (!thread.isDone && thread.isBlocked)
      reasons.push_back(thread.reason);
  return reasons;
}

} // namespace pdg
