// Fork and join of tasks: spinning workers, one word per slice from which tasks are taken, and a
// futex for those who sleep.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/thread_pool.h"

#include <algorithm>
#include <climits>

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pdg {

namespace {

// About a third of a millisecond: longer than the gaps inside a step, shorter than what a user
// would notice as a busy processor after the last one.
constexpr int kSpins = 20000;

// Untaken tasks must fit into half a word. No real range comes near it.
constexpr int64_t kMaxTasks = int64_t{1} << 31;

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#else
  sched_yield();
#endif
}

void futexWait(std::atomic<uint32_t> &word, uint32_t expected) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futexWakeAll(std::atomic<uint32_t> &word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

int64_t sliceBegin(int64_t tasks, int64_t threads, int64_t slice) {
  return tasks / threads * slice + std::min(slice, tasks % threads);
}

void runAlone(ThreadPool::Task task, void *args, int64_t tasks) {
  for (int64_t i = 0; i < tasks; ++i)
    task(args, i, tasks);
}

// Binds the thread to the `index`-th processor of the process. Only speed depends on it, so a
// refusal is not an error.
void pin(pthread_t thread, int index) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || index-- != 0)
      continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(thread, sizeof(one), &one);
    return;
  }
}

} // namespace

int ThreadPool::availableProcessors() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
    return std::max(1, CPU_COUNT(&allowed));
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

ThreadPool::ThreadPool(int threads)
    : slots_(static_cast<size_t>(threads > 0 ? threads : availableProcessors())) {
  // With more threads than processors a spinning thread keeps a working one from its processor.
  spins_ = size() <= availableProcessors() ? kSpins : 0;
  startWorkers();
}

void ThreadPool::startWorkers() {
  // Bound to their processors only if the pool has them all: two processes with small pools would
  // otherwise choose the same ones and leave others idle.
  bool pinned = size() == availableProcessors();
  workers_.reserve(slots_.size());
  for (int thread = 1; thread < size(); ++thread) {
    Slot &slot = slots_[static_cast<size_t>(thread)];
    slot.pool = this;
    pthread_t worker;
    if (pthread_create(&worker, nullptr, enterWorker, &slot) != 0)
      break;
    workers_.push_back(worker);
    if (pinned)
      pin(worker, thread);
  }
}

void *ThreadPool::enterWorker(void *slot) {
  ThreadPool *pool = static_cast<Slot *>(slot)->pool;
  pool->workLoop(static_cast<int>(static_cast<Slot *>(slot) - pool->slots_.data()));
  return nullptr;
}

ThreadPool::~ThreadPool() {
  stopping_.store(true);
  generation_.fetch_add(1);
  futexWakeAll(generation_);
  for (pthread_t worker : workers_)
    pthread_join(worker, nullptr);
}

void ThreadPool::run(Task task, void *args, int64_t tasks) {
  if (tasks <= 1 || size() == 1 || tasks >= kMaxTasks) {
    runAlone(task, args, tasks);
    return;
  }
  if (busy_.exchange(true, std::memory_order_acquire)) {
    runAlone(task, args, tasks);
    return;
  }
  publish(task, args, tasks);
  takeTasks(0);
  for (int spin = 0; done_.load(std::memory_order_acquire) != tasks;) {
    if (++spin < spins_)
      pause();
    else
      sched_yield(); // A worker was interrupted inside a task: it may need this processor.
  }
  busy_.store(false, std::memory_order_release);
}

// All tasks of the run before are done, so all tickets are empty and no one can take a task while
// the description of the run is replaced. A late worker may read a mixture of two descriptions,
// but it then holds a ticket of an older generation and fails to take anything with it.
void ThreadPool::publish(Task task, void *args, int64_t tasks) {
  uint32_t generation = generation_.load(std::memory_order_relaxed) + 1;
  done_.store(0, std::memory_order_relaxed);
  task_.store(task, std::memory_order_relaxed);
  args_.store(args, std::memory_order_relaxed);
  tasks_.store(tasks, std::memory_order_relaxed);
  for (int64_t slice = 0; slice < size(); ++slice) {
    int64_t count = sliceBegin(tasks, size(), slice + 1) - sliceBegin(tasks, size(), slice);
    if (count == 0)
      break; // As have all later ones. Their tickets are empty already.
    slots_[static_cast<size_t>(slice)].ticket.store(
        uint64_t{generation} << 32 | static_cast<uint64_t>(count), std::memory_order_release);
  }
  // Sequentially consistent on both sides: either the sleeper's wait sees the new generation, or
  // the sleeper is counted here.
  generation_.store(generation, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) != 0)
    futexWakeAll(generation_);
}

void ThreadPool::takeTasks(int thread) {
  int64_t taken = 0;
  for (int other = 0; other < size(); ++other)
    taken += takeFrom((thread + other) % size());
  if (taken != 0)
    done_.fetch_add(taken, std::memory_order_release);
}

int64_t ThreadPool::takeFrom(int slice) {
  int64_t taken = 0;
  std::atomic<uint64_t> &ticket = slots_[static_cast<size_t>(slice)].ticket;
  uint64_t seen = ticket.load(std::memory_order_acquire);
  while ((seen & 0xffffffffu) != 0) {
    Task task = task_.load(std::memory_order_relaxed);
    void *args = args_.load(std::memory_order_relaxed);
    int64_t tasks = tasks_.load(std::memory_order_relaxed);
    // Success means that `seen` was still the ticket: its run was not over, so what was read above
    // belongs to it.
    if (!ticket.compare_exchange_strong(seen, seen - 1, std::memory_order_acq_rel,
                                        std::memory_order_acquire))
      continue;
    int64_t untaken = static_cast<int64_t>(seen & 0xffffffffu);
    task(args, sliceBegin(tasks, size(), slice + 1) - untaken, tasks);
    ++taken;
    seen = ticket.load(std::memory_order_acquire);
  }
  return taken;
}

void ThreadPool::waitForRun(uint32_t seen) {
  for (int spin = 0; spin < spins_; ++spin) {
    if (generation_.load(std::memory_order_acquire) != seen)
      return;
    pause();
  }
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  while (generation_.load(std::memory_order_seq_cst) == seen)
    futexWait(generation_, seen);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

void ThreadPool::workLoop(int thread) {
  uint32_t seen = 0;
  while (!stopping_.load(std::memory_order_acquire)) {
    waitForRun(seen);
    seen = generation_.load(std::memory_order_acquire);
    takeTasks(thread);
  }
}

} // namespace pdg
