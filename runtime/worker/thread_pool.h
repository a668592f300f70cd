// The threads of a run. One pool serves all products and all element-wise loops, because a second
// one (a library's) on the same processors costs more than it gives.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include <pthread.h>

namespace pdg {

/// A fixed set of threads that share one range of tasks at a time. The calling thread is thread 0;
/// the others spin for a while after their last task, then sleep. Allocates only when constructed.
class ThreadPool {
public:
  /// One task of a range: `i` in [0, tasks).
  using Task = void (*)(void *args, int64_t i, int64_t tasks);

  /// Starts `threads - 1` workers; `threads` <= 0 means one thread per available processor. If the
  /// system refuses a thread, the others do its tasks.
  explicit ThreadPool(int threads = 0);

  /// Ends the workers. Requires: no run is in progress.
  ~ThreadPool();

  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// The number of threads, the caller included.
  int size() const { return static_cast<int>(slots_.size()); }

  /// Calls `task` once for each i in [0, tasks) and returns when all calls have returned. Thread t
  /// prefers the t-th slice of the range, the same in every run, and then helps the others. A call
  /// from inside a task, or while another thread's run is in progress, runs all its tasks itself.
  /// Thread-safe.
  void run(Task task, void *args, int64_t tasks);

  /// The number of processors that this process may use.
  static int availableProcessors();

private:
  /// What is left of one thread's slice. A cache line each: a thread that only takes its own tasks
  /// shares nothing.
  struct alignas(64) Slot {
    /// The generation in the upper half, the number of untaken tasks in the lower half.
    std::atomic<uint64_t> ticket{0};
    ThreadPool *pool = nullptr; ///< For the thread's entry function.
  };

  static void *enterWorker(void *slot);
  void startWorkers();
  void workLoop(int thread);
  void waitForRun(uint32_t seen);
  void takeTasks(int thread);
  int64_t takeFrom(int slice);
  void publish(Task task, void *args, int64_t tasks);

  std::vector<Slot> slots_;
  std::vector<pthread_t> workers_;
  int spins_ = 0;

  /// Set while a run is in progress; whoever finds it set works alone.
  std::atomic<bool> busy_{false};
  std::atomic<bool> stopping_{false};

  alignas(64) std::atomic<uint32_t> generation_{0}; ///< Counts runs; sleepers wait on its address.
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<Task> task_{nullptr};
  std::atomic<void *> args_{nullptr};
  std::atomic<int64_t> tasks_{0};

  alignas(64) std::atomic<int64_t> done_{0}; ///< Finished tasks of the run.
};

} // namespace pdg
