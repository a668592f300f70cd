// How a thread sleeps until something changed: a word that is counted up, in memory that other
// processes may share. One bell serves everything that a process waits for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace pdg {

/// The shared part of a bell; all zero at first. The only words that several processes write.
struct DoorbellWord {
  alignas(64) std::atomic<uint32_t> rings = 0;
  std::atomic<uint32_t> sleepers = 0;
};

/// Tells the sleepers of `bell` to look again. What the caller wrote before is visible to them.
/// Returns whether there were any.
bool ring(DoorbellWord &bell);

/// The end of a wait that has none.
inline constexpr std::chrono::steady_clock::time_point kNever =
    std::chrono::steady_clock::time_point::max();

/// How long a waiting thread looks before it sleeps. A sleeping thread takes 30 us to wake on some
/// machines; looking for longer starves others as soon as there are more processes than processors.
inline constexpr std::chrono::microseconds kSpin{5};

/// Sleeps until `bell.rings` is no longer `seen`, until `deadline`, or a little less.
void sleepUntilRung(DoorbellWord &bell, uint32_t seen,
                    std::chrono::steady_clock::time_point deadline);

/// Lets the processor rest for a moment.
inline void pauseProcessor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Waits until `ready()` or `deadline`, and says whether it is. It is called again after each ring,
/// by this thread.
template <typename Ready>
bool waitFor(DoorbellWord &bell, Ready ready,
             std::chrono::steady_clock::time_point deadline = kNever) {
  if (ready())
    return true;
  for (auto end = std::chrono::steady_clock::now() + kSpin; std::chrono::steady_clock::now() < end;
       pauseProcessor())
    if (ready())
      return true;
  for (;;) {
    // The word is read before the condition, and the sleeper is announced before it too. A ring
    // after the look then either changes the word or finds the sleeper.
    uint32_t seen = bell.rings.load(std::memory_order_acquire);
    bell.sleepers.fetch_add(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    bool isReady = ready();
    if (!isReady)
      sleepUntilRung(bell, seen, deadline);
    bell.sleepers.fetch_sub(1, std::memory_order_relaxed);
    if (isReady || (deadline != kNever && std::chrono::steady_clock::now() >= deadline))
      return isReady;
  }
}

} // namespace pdg
