// A running data source: its files are read and its next batches made on a thread of its own while
// the program computes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/data/batch_maker.h"
#include "runtime/data/reader.h"

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

/// What all sources of a run share.
struct DataOptions {
  DataPaths paths;
  uint64_t runSeed = 0; ///< `--seed`.
  /// Once true (set by a signal handler, say), waiting for data ends with Cancelled. May be null;
  /// else it outlives the source.
  const std::atomic<bool> *interrupted = nullptr;
  /// Sources whose examples take no more bytes are read once and kept; others are streamed.
  int64_t keepBytes = int64_t{256} << 20;
};

/// A batch: n examples, and per field the address of a contiguous [n, example dims...] buffer,
/// aligned to 64 bytes. n is 0 at the end of a pass.
struct DataBatch {
  int64_t n = 0;
  std::span<char *const> fields;
};

/// Yields the batches of one source, pass after pass. Deterministic: which examples a batch has
/// depends on seeds, pass and batch number alone. Memory is bounded: DataOptions::keepBytes, or all
/// examples of a source that is shuffled as a whole and has to be unpacked or parsed, or a window.
/// Once batches and windows have been made, nothing is allocated.
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

  /// The number of examples of a pass. Waits for the files only if their headers do not say it;
  /// reads them through if they are streamed.
  absl::StatusOr<int64_t> size();

  /// The number of batches of a pass if it is known without waiting, else 0.
  int64_t knownBatches();

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
  ReaderInput input(const std::atomic<bool> *cancelled) const;
  absl::StatusOr<int64_t> countExamples();
  absl::Status describe(const absl::Status &status) const;

  void runProducer();
  absl::Status load();
  absl::Status makeBatchesFrom(std::unique_ptr<ExampleReader> reader);
  absl::Status allocateSlots();
  void produce();
  void makeBatch(Slot &slot, DataPosition &position);

  absl::StatusOr<int64_t> batchesPerPass();
  absl::Status waitUntil(std::unique_lock<std::mutex> &lock, bool (DataSource::*condition)() const);
  void moveTo(DataPosition position, DataPosition start);
  void releaseHeldSlot();
  bool isLoaded() const { return isLoaded_; }
  bool hasBatch() const { return isLoaded_ && (!loadStatus_.ok() || head_ != tail_); }

  const SourceInfo source_;
  const DataOptions options_;
  const Reader *reader_ = nullptr;
  std::vector<std::vector<std::string>> files_;
  SourceHeader header_; ///< The producer's own until it has loaded.

  // The consumer's own.
  int64_t count_ = kDynamicSize; ///< Of the examples of one pass of the data, once known.
  bool isInPass_ = false;        ///< Between beginPass and the end of the pass.
  bool holdsSlot_ = false;       ///< The slot at head_ is the batch returned last.
  DataPosition next_;            ///< Of the batch that comes next.

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
  DataPosition start_;      ///< Where the producer is to go on after a move: a pass of the data.
  uint64_t generation_ = 0; ///< Counts moves.
  bool consumerWaits_ = false;
  bool producerWaits_ = false;

  std::thread producer_;
};

} // namespace pdg
