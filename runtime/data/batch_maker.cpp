// Gathers the examples of a batch.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/batch_maker.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace pdg {

absl::StatusOr<BatchMaker> BatchMaker::create(const SourceInfo &source, uint64_t runSeed,
                                              std::unique_ptr<ExampleReader> reader,
                                              const SourceHeader &header, ExampleRange range) {
  if (source.batch < 1)
    return absl::InvalidArgumentError(
        absl::StrCat("expects a batch of at least 1 example, found ", source.batch));
  BatchMaker maker;
  maker.range_ = range;
  maker.batch_ = source.batch;
  if (range.end != kDynamicSize)
    maker.batch_ = std::min(source.batch, std::max<int64_t>(maker.numExamples(), 1));
  maker.runSeed_ = runSeed;
  maker.seed_ = source.seed;
  maker.isShuffled_ = source.shuffle;
  maker.windowSize_ = source.window;
  for (const FieldInfo &field : header.fields) {
    absl::StatusOr<FieldColumn> column = makeColumn(field);
    if (!column.ok())
      return column.status();
    maker.exampleBytes_.push_back(column->exampleBytes);
    if (absl::Status status = column->bytes.reserve(1); !status.ok())
      return status;
    maker.window_.table.columns.push_back(*std::move(column));
  }
  maker.places_.resize(header.fields.size());
  if (source.shuffle && source.window == 0) {
    absl::StatusOr<HostTensor> order = HostTensor::create(DType::I64, {maker.numExamples()});
    if (!order.ok())
      return order.status();
    maker.order_ = *std::move(order);
  }
  maker.reader_ = std::move(reader);
  return maker;
}

int64_t BatchMaker::numBatches() const {
  int64_t count = numExamples();
  return count == kDynamicSize ? kDynamicSize : count / batch_ + (count % batch_ != 0);
}

absl::StatusOr<int64_t> BatchMaker::fieldBytes(int64_t i) const {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(batch_, exampleBytes_[i], &bytes) || bytes > INT64_MAX / 64)
    return absl::ResourceExhaustedError(
        absl::StrCat("a batch of ", batch_, " examples is larger than any memory"));
  return bytes;
}

absl::StatusOr<int64_t> BatchMaker::fill(DataPosition position, std::span<char *const> fields) {
  int64_t begin = 0, count = batch_;
  if (__builtin_mul_overflow(position.batch, batch_, &begin))
    return 0;
  if (range_.end != kDynamicSize)
    count = std::min(batch_, numExamples() - begin);
  if (count <= 0)
    return 0;
  absl::StatusOr<int64_t> found = !isShuffled_ ? readInOrder(begin, count, fields)
                                  : windowSize_ == 0
                                      ? gather(position.pass, begin, count, fields)
                                      : gatherFromWindows(position.pass, begin, count, fields);
  if (found.ok() && *found == 0 && begin == 0 && range_.begin > 0)
    return absl::InvalidArgumentError(absl::StrCat("the files have no more than ", range_.begin,
                                                   " examples, which 'skip' "
                                                   "leaves out"));
  return found;
}

absl::StatusOr<int64_t> BatchMaker::readInOrder(int64_t begin, int64_t count,
                                                std::span<char *const> fields) {
  absl::StatusOr<int64_t> place = reader_->seek(range_.begin + begin);
  if (!place.ok())
    return place;
  return *place < range_.begin + begin ? absl::StatusOr<int64_t>(0) : reader_->read(count, fields);
}

/// Reads examples one by one, in the order of the pass.
absl::StatusOr<int64_t> BatchMaker::gather(int64_t pass, int64_t begin, int64_t count,
                                           std::span<char *const> fields) {
  if (pass != orderPass_) {
    shuffleOrder(runSeed_, seed_, pass, order_.values<int64_t>());
    orderPass_ = pass;
  }
  std::copy(fields.begin(), fields.end(), places_.begin());
  for (int64_t row :
       order_.values<int64_t>().subspan(static_cast<size_t>(begin), static_cast<size_t>(count))) {
    absl::StatusOr<int64_t> place = reader_->seek(range_.begin + row);
    absl::StatusOr<int64_t> found = place.ok() ? reader_->read(1, places_) : place;
    if (!found.ok())
      return found;
    for (size_t i = 0; i < places_.size(); ++i)
      places_[i] += exampleBytes_[i];
  }
  return count;
}

absl::StatusOr<int64_t> BatchMaker::gatherFromWindows(int64_t pass, int64_t begin, int64_t count,
                                                      std::span<char *const> fields) {
  WindowOrder windows(runSeed_, seed_, pass, windowSize_);
  for (int64_t done = 0; done < count; ++done) {
    int64_t index = windows.windowOf(begin + done);
    if (absl::Status status = loadWindow(windows, pass, index); !status.ok())
      return status;
    int64_t place = begin + done - windows.beginOf(index);
    if (place >= window_.table.numExamples)
      return done;
    int64_t row = window_.order[static_cast<size_t>(place)];
    for (size_t i = 0; i < fields.size(); ++i) {
      int64_t size = exampleBytes_[i];
      std::memcpy(fields[i] + done * size, window_.table.columns[i].bytes.data() + row * size,
                  static_cast<size_t>(size));
    }
  }
  return count;
}

absl::Status BatchMaker::loadWindow(const WindowOrder &windows, int64_t pass, int64_t index) {
  if (window_.pass == pass && window_.index == index)
    return absl::OkStatus();
  window_.pass = -1;
  int64_t begin = windows.beginOf(index), end = windows.beginOf(index + 1);
  if (range_.end != kDynamicSize)
    end = std::min(end, numExamples());
  absl::StatusOr<int64_t> place = reader_->seek(range_.begin + begin);
  if (!place.ok())
    return place.status();
  window_.table.numExamples = 0;
  // The files bound the memory, whatever the script says: it grows with what was read.
  constexpr int64_t kPieceBytes = int64_t{1} << 20;
  int64_t exampleSize = std::accumulate(exampleBytes_.begin(), exampleBytes_.end(), int64_t{1});
  int64_t most = std::max<int64_t>(kPieceBytes / exampleSize, 1);
  int64_t wanted = *place < range_.begin + begin ? 0 : end - begin;
  while (window_.table.numExamples < wanted) {
    int64_t piece = std::min(most, wanted - window_.table.numExamples);
    for (size_t i = 0; i < places_.size(); ++i) {
      int64_t used = window_.table.numExamples * exampleBytes_[i];
      GrowingBytes &bytes = window_.table.columns[i].bytes;
      if (absl::Status status = bytes.reserveMore(used, piece * exampleBytes_[i]); !status.ok())
        return status;
      places_[i] = reinterpret_cast<char *>(bytes.data()) + used;
    }
    absl::StatusOr<int64_t> found = reader_->read(piece, places_);
    if (!found.ok())
      return found.status();
    window_.table.numExamples += *found;
    if (*found < piece)
      break;
  }
  window_.order.resize(static_cast<size_t>(window_.table.numExamples));
  windows.shuffle(index, window_.order);
  window_.pass = pass;
  window_.index = index;
  return absl::OkStatus();
}

} // namespace pdg
