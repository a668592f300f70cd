// Sleeping and waking by futex. SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/wire/doorbell.h"

#include <climits>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace pdg {

namespace {

// Not the private form: other processes may ring.
long futex(std::atomic<uint32_t> &word, int operation, uint32_t value, const timespec *limit) {
  static_assert(sizeof(word) == sizeof(uint32_t) && std::atomic<uint32_t>::is_always_lock_free);
  return syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), operation, value, limit, nullptr,
                 0);
}

} // namespace

bool ring(DoorbellWord &bell) {
  bell.rings.fetch_add(1, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (bell.sleepers.load(std::memory_order_relaxed) == 0)
    return false;
  futex(bell.rings, FUTEX_WAKE, INT_MAX, nullptr);
  return true;
}

void sleepUntilRung(DoorbellWord &bell, uint32_t seen,
                    std::chrono::steady_clock::time_point deadline) {
  if (deadline == kNever) {
    futex(bell.rings, FUTEX_WAIT, seen, nullptr);
    return;
  }
  std::chrono::nanoseconds left = deadline - std::chrono::steady_clock::now();
  if (left.count() <= 0)
    return;
  timespec limit = {left.count() / 1000000000, left.count() % 1000000000};
  futex(bell.rings, FUTEX_WAIT, seen, &limit);
}

} // namespace pdg
