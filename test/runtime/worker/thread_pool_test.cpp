// Every task runs once, whatever the number of threads, and nothing is allocated while running.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace pdg {
namespace {

struct Counts {
  std::vector<std::atomic<int>> calls;
  std::atomic<int64_t> wrongTotals{0};
  explicit Counts(int64_t tasks) : calls(static_cast<size_t>(tasks)) {}
};

void count(void *args, int64_t i, int64_t tasks) {
  Counts &counts = *static_cast<Counts *>(args);
  counts.calls[static_cast<size_t>(i)].fetch_add(1, std::memory_order_relaxed);
  if (tasks != static_cast<int64_t>(counts.calls.size()))
    counts.wrongTotals.fetch_add(1);
}

TEST(ThreadPool, RunsEachTaskOnce) {
  for (int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (int64_t tasks : {0, 1, 2, 3, 5, 64, 1000}) {
      Counts counts(tasks);
      pool.run(count, &counts, tasks);
      for (const std::atomic<int> &calls : counts.calls)
        EXPECT_EQ(calls.load(), 1);
      EXPECT_EQ(counts.wrongTotals.load(), 0);
    }
  }
}

TEST(ThreadPool, DefaultsToAvailableProcessors) {
  EXPECT_EQ(ThreadPool().size(), ThreadPool::availableProcessors());
}

// Plain memory written by tasks must be visible after run, and the next run's description must
// never be seen by a late worker of the one before.
void checkShortRuns(int threads) {
  ThreadPool pool(threads);
  struct Args {
    int64_t round;
    int64_t cells[8];
  };
  std::vector<Args> args(64);
  for (int64_t round = 0; round < 20000; ++round) {
    Args &mine = args[static_cast<size_t>(round) % args.size()];
    mine = {round, {}};
    int64_t tasks = 2 + round % 7;
    pool.run(
        [](void *raw, int64_t i, int64_t tasks) {
          Args &args = *static_cast<Args *>(raw);
          args.cells[i] += args.round * tasks;
        },
        &mine, tasks);
    for (int64_t i = 0; i < 8; ++i)
      ASSERT_EQ(mine.cells[i], i < tasks ? round * tasks : 0) << "round " << round;
  }
}

TEST(ThreadPool, ManyShortRunsStayInOrder) {
  checkShortRuns(2);
  checkShortRuns(3);
}

TEST(ThreadPool, NestedRunsAreInline) {
  ThreadPool pool(4);
  struct Args {
    ThreadPool *pool;
    std::atomic<int64_t> sum{0};
  } args{&pool};
  pool.run(
      [](void *raw, int64_t, int64_t) {
        auto *args = static_cast<Args *>(raw);
        args->pool->run(
            [](void *raw, int64_t i, int64_t) { static_cast<Args *>(raw)->sum.fetch_add(i + 1); },
            raw, 10);
      },
      &args, 16);
  EXPECT_EQ(args.sum.load(), 16 * 55);
}

TEST(ThreadPool, ServesSeveralCallers) {
  ThreadPool pool(2);
  std::atomic<int64_t> sum{0};
  auto call = [&] {
    for (int round = 0; round < 500; ++round)
      pool.run([](void *raw, int64_t i,
                  int64_t) { static_cast<std::atomic<int64_t> *>(raw)->fetch_add(i); },
               &sum, 5);
  };
  std::thread other(call);
  call();
  other.join();
  EXPECT_EQ(sum.load(), 2 * 500 * 10);
}

// Workers that sleep are woken: the caller holds its own first task until a second thread has come.
TEST(ThreadPool, UsesSeveralThreads) {
  ThreadPool pool(2);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> arrived{0};
    pool.run(
        [](void *raw, int64_t, int64_t) {
          auto *arrived = static_cast<std::atomic<int> *>(raw);
          arrived->fetch_add(1);
          while (arrived->load() < 2)
            std::this_thread::yield();
        },
        &arrived, 2);
    EXPECT_EQ(arrived.load(), 2);
  }
}

} // namespace
} // namespace pdg
