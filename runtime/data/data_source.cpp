// The thread behind a data source, and the ring of batches between it and the program.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/data_source.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <system_error>

namespace pdg {

namespace {

// Enough batches to even out a hiccup, few enough to stay in the cache.
constexpr int64_t kMinSlots = 3;
constexpr int64_t kMaxSlots = 8;
constexpr int64_t kRingBytes = int64_t{16} << 20;
// How soon an interrupt is noticed while waiting.
constexpr auto kInterruptPeriod = std::chrono::milliseconds(20);
constexpr int64_t kAlignment = HostTensor::kAlignment;

int64_t alignUp(int64_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

} // namespace

/// A batch that was made ahead. n = 0 is the end of a pass.
struct DataSource::Slot {
  absl::Status status;
  int64_t n = 0;
  std::vector<char *> fields;
};

DataSource::DataSource(const SourceInfo &source, const DataOptions &options)
    : source_(source), options_(options) {}

absl::StatusOr<std::unique_ptr<DataSource>> DataSource::open(const SourceInfo &source,
                                                             const DataOptions &options) {
  std::unique_ptr<DataSource> result(new DataSource(source, options));
  if (absl::Status status = result->start(); !status.ok())
    return result->describe(status);
  return result;
}

absl::Status DataSource::start() {
  absl::StatusOr<const Reader *> reader = findReader(source_);
  if (!reader.ok())
    return reader.status();
  absl::StatusOr<std::vector<std::vector<std::string>>> files =
      resolveSourceFiles(source_, options_.paths);
  if (!files.ok())
    return files.status();
  reader_ = *reader;
  files_ = *std::move(files);
  absl::StatusOr<SourceHeader> header = reader_->probe(input(nullptr));
  if (!header.ok())
    return header.status();
  std::string expected = typeString(source_.fields), found = typeString(header->fields);
  if (expected != found)
    return absl::InvalidArgumentError(absl::StrCat("the program was compiled for examples ",
                                                   expected, ", found ", found, " in ",
                                                   files_.front().front()));
  header_ = *std::move(header);
  if (header_.numExamples != kDynamicSize) {
    absl::StatusOr<ExampleRange> range = exampleRange(source_, header_.numExamples);
    if (!range.ok())
      return range.status();
    count_ = range->end - range->begin;
  }
  // The one exception that starting a thread can throw becomes a status here.
  try {
    producer_ = std::thread([this] { runProducer(); });
  } catch (const std::system_error &error) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot start a thread: ", error.what()));
  }
  return absl::OkStatus();
}

ReaderInput DataSource::input(const std::atomic<bool> *cancelled) const {
  return {source_, files_, options_.paths, cancelled};
}

DataSource::~DataSource() {
  stop_.store(true, std::memory_order_relaxed);
  {
    // Taking the lock orders the flag before any check under it, so no wake-up is lost.
    std::lock_guard<std::mutex> lock(mutex_);
  }
  wanted_.notify_all();
  if (producer_.joinable())
    producer_.join();
}

/// Adds whose error it is.
absl::Status DataSource::describe(const absl::Status &status) const {
  std::string place = source_.location.empty() ? "" : absl::StrCat(source_.location, ": ");
  return absl::Status(status.code(),
                      absl::StrCat(place, "data source '", source_.name, "': ", status.message()));
}

//===-- The producer --------------------------------------------------------------------------===//

void DataSource::runProducer() {
  absl::Status status = load();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    loadStatus_ = status.ok() ? status : describe(status);
    isLoaded_ = true;
  }
  changed_.notify_all();
  if (status.ok())
    produce();
}

absl::Status DataSource::load() {
  absl::StatusOr<std::unique_ptr<ExampleReader>> reader = reader_->open(input(&stop_));
  return reader.ok() ? makeBatchesFrom(*std::move(reader)) : reader.status();
}

/// Reads the examples if they are to be kept, and makes batches of what was read or of the reader.
absl::Status DataSource::makeBatchesFrom(std::unique_ptr<ExampleReader> reader) {
  using Access = ExampleReader::Access;
  bool isInMemory = reader->access() == Access::InMemory;
  if (header_.numExamples == kDynamicSize && (needsCount(source_) || isInMemory)) {
    absl::StatusOr<int64_t> count = reader->seek(INT64_MAX);
    if (!count.ok())
      return count.status();
    header_.numExamples = *count;
  }
  absl::StatusOr<ExampleRange> range = exampleRange(source_, header_.numExamples);
  if (!range.ok())
    return range.status();
  if (!isInMemory) {
    bool isKept = source_.shuffle && source_.window == 0 && reader->access() == Access::Forward;
    absl::StatusOr<std::optional<ExampleTable>> table =
        readTable(*reader, header_, *range, isKept ? INT64_MAX : options_.keepBytes);
    if (absl::IsResourceExhausted(table.status()) && isKept)
      return absl::ResourceExhaustedError(absl::StrCat(table.status().message(),
                                                       "; shuffle: window(n) needs memory for n "
                                                       "examples only"));
    if (!table.ok())
      return table.status();
    if (table->has_value()) {
      if ((*table)->numExamples == 0 && source_.skip > 0)
        return absl::InvalidArgumentError(absl::StrCat("the files have no more than ", source_.skip,
                                                       " examples, which 'skip' leaves out"));
      *range = {0, (*table)->numExamples};
      header_.numExamples = (*table)->numExamples;
      reader = std::make_unique<TableReader>(**std::move(table));
    }
  }
  absl::StatusOr<BatchMaker> maker =
      BatchMaker::create(source_, options_.runSeed, std::move(reader), header_, *range);
  if (!maker.ok())
    return maker.status();
  maker_.emplace(*std::move(maker));
  return allocateSlots();
}

absl::Status DataSource::allocateSlots() {
  int64_t slotBytes = 0;
  for (int64_t i = 0; i < maker_->numFields(); ++i) {
    absl::StatusOr<int64_t> bytes = maker_->fieldBytes(i);
    if (!bytes.ok())
      return bytes.status();
    if (__builtin_add_overflow(slotBytes, alignUp(*bytes), &slotBytes))
      return absl::ResourceExhaustedError("a batch is larger than any memory");
  }
  int64_t numSlots = std::clamp(kRingBytes / std::max<int64_t>(slotBytes, 1), kMinSlots, kMaxSlots);
  absl::StatusOr<HostTensor> memory = HostTensor::create(DType::U8, {numSlots, slotBytes});
  if (!memory.ok())
    return memory.status();
  memory_ = *std::move(memory);
  char *place = reinterpret_cast<char *>(memory_.bytes());
  slots_.resize(static_cast<size_t>(numSlots));
  for (Slot &slot : slots_)
    for (int64_t i = 0; i < maker_->numFields(); ++i) {
      slot.fields.push_back(place);
      place += alignUp(*maker_->fieldBytes(i));
    }
  return absl::OkStatus();
}

/// Fills slots until it is told to stop: the batches of a pass, its end, and on with the next pass.
void DataSource::produce() {
  std::unique_lock<std::mutex> lock(mutex_);
  uint64_t generation = generation_;
  DataPosition position = start_;
  bool hasFailed = false; // Until the program goes elsewhere.
  while (true) {
    producerWaits_ = true;
    wanted_.wait(lock, [&] {
      bool hasRoom = tail_ - head_ < slots_.size() && !hasFailed;
      return stop_ || hasRoom || generation != generation_;
    });
    producerWaits_ = false;
    if (stop_)
      return;
    if (generation != generation_) {
      generation = generation_;
      position = start_;
      hasFailed = false;
    }
    Slot &slot = slots_[tail_ % slots_.size()];
    DataPosition after = position;
    lock.unlock();
    makeBatch(slot, after);
    lock.lock();
    // After a move meanwhile the batch is of no use; the same slot is filled again.
    if (generation != generation_)
      continue;
    position = after;
    hasFailed = !slot.status.ok();
    ++tail_;
    if (consumerWaits_)
      changed_.notify_one();
  }
}

/// Makes the batch at `position`, or finds the end of the pass there, and goes on. Passes of the
/// data that a pass of the program repeats have no end of their own.
void DataSource::makeBatch(Slot &slot, DataPosition &position) {
  slot.status = absl::OkStatus();
  while (true) {
    absl::StatusOr<int64_t> n = maker_->fill(position, slot.fields);
    if (!n.ok()) {
      slot.status = describe(n.status());
      return;
    }
    slot.n = *n;
    if (*n != 0) {
      ++position.batch;
      return;
    }
    bool isEmpty = position.batch == 0;
    int64_t repeated = position.pass % source_.repeat;
    bool isEnd = isEmpty || repeated == source_.repeat - 1;
    position = {position.pass + (isEnd ? source_.repeat - repeated : 1), 0};
    if (isEnd)
      return;
  }
}

//===-- The consumer --------------------------------------------------------------------------===//

absl::Status DataSource::waitUntil(std::unique_lock<std::mutex> &lock,
                                   bool (DataSource::*condition)() const) {
  consumerWaits_ = true;
  bool isInterrupted = false;
  while (!(this->*condition)() && !isInterrupted) {
    changed_.wait_for(lock, kInterruptPeriod);
    isInterrupted = options_.interrupted && *options_.interrupted;
  }
  consumerWaits_ = false;
  return isInterrupted ? absl::CancelledError("interrupted") : loadStatus_;
}

absl::StatusOr<int64_t> DataSource::size() {
  if (count_ == kDynamicSize) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (absl::Status status = waitUntil(lock, &DataSource::isLoaded); !status.ok())
      return status;
    // A limit may be more than there is.
    if (header_.numExamples != kDynamicSize)
      count_ = maker_->numExamples();
  }
  if (count_ == kDynamicSize) {
    absl::StatusOr<int64_t> count = countExamples();
    if (!count.ok())
      return describe(count.status());
    count_ = *count;
  }
  int64_t size = 0;
  if (__builtin_mul_overflow(count_, source_.repeat, &size))
    return describe(absl::InvalidArgumentError(absl::StrCat(
        count_, " examples, repeated ", source_.repeat, " times, are more than can be counted")));
  return size;
}

/// Reads streamed files through, beside the thread that makes batches of them.
absl::StatusOr<int64_t> DataSource::countExamples() {
  absl::StatusOr<std::unique_ptr<ExampleReader>> reader =
      reader_->open(input(options_.interrupted));
  if (!reader.ok())
    return reader.status();
  absl::StatusOr<ExampleRange> whole = exampleRange(source_, kDynamicSize);
  absl::StatusOr<int64_t> count =
      (*reader)->seek(whole->end == kDynamicSize ? INT64_MAX : whole->end);
  if (!count.ok())
    return count;
  absl::StatusOr<ExampleRange> range = exampleRange(source_, *count);
  return range.ok() ? absl::StatusOr<int64_t>(range->end - range->begin) : range.status();
}

int64_t DataSource::knownBatches() {
  std::unique_lock<std::mutex> lock(mutex_);
  bool isKnown = isLoaded_ && loadStatus_.ok() && header_.numExamples != kDynamicSize;
  return isKnown ? maker_->numBatches() * source_.repeat : 0;
}

/// The number of batches of a pass of the program; at least 1.
absl::StatusOr<int64_t> DataSource::batchesPerPass() {
  absl::StatusOr<int64_t> total = size();
  if (!total.ok())
    return total;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (absl::Status status = waitUntil(lock, &DataSource::isLoaded); !status.ok())
      return status;
  }
  int64_t batches = count_ / source_.batch + (count_ % source_.batch != 0);
  return std::max<int64_t>(batches, 1) * source_.repeat;
}

void DataSource::beginPass(int64_t pass) {
  assert(pass >= 0 && "passes are counted from 0");
  moveTo({pass, 0}, {pass * source_.repeat, 0});
}

/// Goes to `position`, which is `start` in passes of the data.
void DataSource::moveTo(DataPosition position, DataPosition start) {
  isInPass_ = true;
  std::lock_guard<std::mutex> lock(mutex_);
  releaseHeldSlot();
  if (position != next_) {
    next_ = position;
    start_ = start;
    ++generation_;
    head_ = tail_;
    if (producerWaits_)
      wanted_.notify_one();
  }
}

/// Gives the batch returned last back to the producer. It is woken only once half of the ring is
/// empty: one wake-up then makes several batches.
void DataSource::releaseHeldSlot() {
  if (!holdsSlot_)
    return;
  holdsSlot_ = false;
  ++head_;
  uint64_t numEmpty = slots_.size() - (tail_ - head_);
  if (producerWaits_ && 2 * numEmpty >= slots_.size())
    wanted_.notify_one();
}

absl::StatusOr<DataBatch> DataSource::next() {
  if (!isInPass_)
    return DataBatch{};
  std::unique_lock<std::mutex> lock(mutex_);
  releaseHeldSlot();
  if (absl::Status status = waitUntil(lock, &DataSource::hasBatch); !status.ok())
    return status;
  const Slot &slot = slots_[head_ % slots_.size()];
  if (!slot.status.ok())
    return slot.status;
  holdsSlot_ = true;
  isInPass_ = slot.n != 0;
  next_ = isInPass_ ? DataPosition{next_.pass, next_.batch + 1} : DataPosition{next_.pass + 1, 0};
  return DataBatch{slot.n, slot.fields};
}

absl::StatusOr<int64_t> DataSource::position() {
  absl::StatusOr<int64_t> batches = batchesPerPass();
  if (!batches.ok())
    return batches;
  return next_.pass * *batches + next_.batch;
}

absl::Status DataSource::seek(int64_t position) {
  if (position < 0)
    return absl::InvalidArgumentError(
        absl::StrCat("expects a data position from 0 on, found ", position));
  absl::StatusOr<int64_t> batches = batchesPerPass();
  if (!batches.ok())
    return batches.status();
  int64_t pass = position / *batches, batch = position % *batches;
  int64_t once = *batches / source_.repeat;
  moveTo({pass, batch}, {pass * source_.repeat + batch / once, batch % once});
  return absl::OkStatus();
}

} // namespace pdg
