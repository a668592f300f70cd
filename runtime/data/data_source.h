// A running data source: its files are read and its next batches made on a thread of its own while
// the program computes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/data/batch_maker.h"
#include "runtime/data/data_files.h"

#include <absl/status/statusor.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace pdg {

struct Reader;

/// What all sources of a run share.
struct DataOptions {
  DataPaths paths;
  uint64_t runSeed = 0; ///< `--seed`.
  /// Once true (set by a signal handler, say), waiting for data ends with Cancelled. May be null;
  /// else it outlives the source.
  const std::atomic<bool> *interrupted = nullptr;
};

/// A batch: n examples, and per field the address of a contiguous [n, example dims...] buffer,
/// aligned to 64 bytes. n is 0 at the end of a pass.
struct DataBatch {
  int64_t n = 0;
  std::span<char *const> fields;
};

/// Yields the batches of one source, pass after pass. Deterministic: which examples a batch has
/// depends on seeds, pass and batch number alone. After the first batch nothing is allocated.
///
/// Used by one thread at a time. Destroying a source at any moment ends its thread in order.
class DataSource {
public:
  /// Finds the files, checks their headers against `source.fields` and begins to read them in the
  /// background. Errors of the reading itself come from the first call that needs the examples.
  static absl::StatusOr<std::unique_ptr<DataSource>> open(const SourceInfo &source,
                                                          const DataOptions &options);

  DataSource(const DataSource &) = delete;
  DataSource &operator=(const DataSource &) = delete;
  ~DataSource();

  /// The number of examples. Waits for the files only if their headers do not say it.
  absl::StatusOr<int64_t> size();

  /// Goes to the first batch of pass `pass`, wherever the current pass is. Quick for the pass that
  /// follows the current one: its first batches are made ahead. Does not wait and cannot fail.
  /// Requires: pass >= 0.
  void beginPass(int64_t pass);

  /// Takes the next batch of the pass, or n = 0 at its end, then again and again until the next
  /// beginPass. The buffers are valid until the next call of beginPass, seek or next.
  absl::StatusOr<DataBatch> next();

  /// Where the next batch is, as one number: pass * batches per pass + batch. The end of a pass is
  /// the beginning of the following one.
  absl::StatusOr<int64_t> position();

  /// Goes to the place that position() gave, inside its pass.
  absl::Status seek(int64_t position);

private:
  struct Slot;

  DataSource(const SourceInfo &source, const DataOptions &options);

  absl::Status start();
  absl::Status describe(const absl::Status &status) const;

  void runProducer();
  absl::Status load();
  absl::Status allocateSlots();
  void produce();

  absl::StatusOr<int64_t> waitForLoading(std::unique_lock<std::mutex> &lock);
  absl::Status waitUntil(std::unique_lock<std::mutex> &lock, bool (DataSource::*condition)() const);
  void moveTo(DataPosition position);
  void releaseHeldSlot();
  bool isLoaded() const { return isLoaded_; }
  bool hasBatch() const { return isLoaded_ && (!loadStatus_.ok() || head_ != tail_); }

  const SourceInfo source_;
  const DataOptions options_;
  const Reader *reader_ = nullptr;
  std::vector<std::string> files_;
  int64_t knownSize_ = kDynamicSize;

  // The consumer's own.
  bool isInPass_ = false;  ///< Between beginPass and the end of the pass.
  bool holdsSlot_ = false; ///< The slot at head_ is the batch returned last.
  DataPosition next_;      ///< Of the batch that comes next.

  // The producer's own.
  std::optional<BatchMaker> maker_;
  HostTensor memory_;

  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable changed_; ///< For the consumer: loaded, or a batch more.
  std::condition_variable wanted_;  ///< For the producer: slots to fill, or stop, or a new place.

  // Guarded by mutex_. Slots are a ring: [head_, tail_) are full, in order, and the next to be
  // filled is tail_. Both numbers only grow; slot i lies at i mod the number of slots.
  bool isLoaded_ = false;
  absl::Status loadStatus_;
  std::vector<Slot> slots_; ///< The vector is fixed once isLoaded_; full slots are the consumer's.
  uint64_t head_ = 0;
  uint64_t tail_ = 0;
  DataPosition start_;      ///< Where the producer is to go on after a move.
  uint64_t generation_ = 0; ///< Counts moves.
  bool consumerWaits_ = false;
  bool producerWaits_ = false;

  std::thread producer_;
};

} // namespace pdg
