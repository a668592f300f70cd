// The thread behind a data source, and the ring of batches between it and the program.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/data_source.h"

#include "runtime/data/reader.h"

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
  absl::StatusOr<std::vector<std::string>> files = resolveSourceFiles(source_, options_.paths);
  if (!files.ok())
    return files.status();
  reader_ = *reader;
  files_ = *std::move(files);
  absl::StatusOr<SourceHeader> header = reader_->probe({source_, files_});
  if (!header.ok())
    return header.status();
  std::string expected = typeString(source_.fields), found = typeString(header->fields);
  if (expected != found)
    return absl::InvalidArgumentError(absl::StrCat("the program was compiled for examples ",
                                                   expected, ", found ", found, " in ",
                                                   files_.front()));
  knownSize_ = header->numExamples;
  // The one exception that starting a thread can throw becomes a status here.
  try {
    producer_ = std::thread([this] { runProducer(); });
  } catch (const std::system_error &error) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot start a thread: ", error.what()));
  }
  return absl::OkStatus();
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
  absl::StatusOr<ExampleTable> table = reader_->load({source_, files_, &stop_});
  if (!table.ok())
    return table.status();
  absl::StatusOr<BatchMaker> maker =
      BatchMaker::create(source_, options_.runSeed, *std::move(table));
  if (!maker.ok())
    return maker.status();
  maker_.emplace(*std::move(maker));
  return allocateSlots();
}

absl::Status DataSource::allocateSlots() {
  int64_t slotBytes = 0;
  for (int64_t i = 0; i < maker_->numFields(); ++i)
    slotBytes += alignUp(maker_->fieldBytes(i));
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
      place += alignUp(maker_->fieldBytes(i));
    }
  return absl::OkStatus();
}

/// Fills slots until it is told to stop: the batches of a pass, its end, and on with the next pass.
void DataSource::produce() {
  std::unique_lock<std::mutex> lock(mutex_);
  uint64_t generation = generation_;
  DataPosition position = start_;
  while (true) {
    producerWaits_ = true;
    wanted_.wait(lock, [&] { return stop_ || tail_ - head_ < slots_.size(); });
    producerWaits_ = false;
    if (stop_)
      return;
    if (generation != generation_) {
      generation = generation_;
      position = start_;
    }
    Slot &slot = slots_[tail_ % slots_.size()];
    lock.unlock();
    slot.n = maker_->fill(position, slot.fields);
    lock.lock();
    // After a move meanwhile the batch is of no use; the same slot is filled again.
    if (generation != generation_)
      continue;
    position = slot.n == 0 ? DataPosition{position.pass + 1, 0}
                           : DataPosition{position.pass, position.batch + 1};
    ++tail_;
    if (consumerWaits_)
      changed_.notify_one();
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

absl::StatusOr<int64_t> DataSource::waitForLoading(std::unique_lock<std::mutex> &lock) {
  if (absl::Status status = waitUntil(lock, &DataSource::isLoaded); !status.ok())
    return status;
  return std::max<int64_t>(maker_->numBatches(), 1);
}

absl::StatusOr<int64_t> DataSource::size() {
  if (knownSize_ != kDynamicSize)
    return knownSize_;
  std::unique_lock<std::mutex> lock(mutex_);
  if (absl::Status status = waitUntil(lock, &DataSource::isLoaded); !status.ok())
    return status;
  return maker_->numExamples();
}

void DataSource::beginPass(int64_t pass) {
  assert(pass >= 0 && "passes are counted from 0");
  moveTo({pass, 0});
}

void DataSource::moveTo(DataPosition position) {
  isInPass_ = true;
  std::lock_guard<std::mutex> lock(mutex_);
  releaseHeldSlot();
  if (position != next_) {
    next_ = start_ = position;
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
  holdsSlot_ = true;
  isInPass_ = slot.n != 0;
  next_ = isInPass_ ? DataPosition{next_.pass, next_.batch + 1} : DataPosition{next_.pass + 1, 0};
  return DataBatch{slot.n, slot.fields};
}

absl::StatusOr<int64_t> DataSource::position() {
  std::unique_lock<std::mutex> lock(mutex_);
  absl::StatusOr<int64_t> numBatches = waitForLoading(lock);
  if (!numBatches.ok())
    return numBatches;
  return next_.pass * *numBatches + next_.batch;
}

absl::Status DataSource::seek(int64_t position) {
  if (position < 0)
    return absl::InvalidArgumentError(
        absl::StrCat("expects a data position from 0 on, found ", position));
  int64_t numBatches = 0;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    absl::StatusOr<int64_t> found = waitForLoading(lock);
    if (!found.ok())
      return found.status();
    numBatches = *found;
  }
  moveTo({position / numBatches, position % numBatches});
  return absl::OkStatus();
}

} // namespace pdg
