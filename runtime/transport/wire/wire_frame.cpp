// Frames as bytes: kind, type, rank, 0, edge, number, offset, sizes.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/wire/wire_frame.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cassert>
#include <cstring>

namespace pdg {

namespace {

// Types are numbered as in the enumeration; the protocol's version stands for its order.
#define PDG_COUNT_DTYPE(enumerator, name, size, descr) +1
constexpr int kTypes = 0 PDG_DTYPES(PDG_COUNT_DTYPE);
#undef PDG_COUNT_DTYPE

template <typename T> void append(T value, std::string &bytes) {
  for (size_t i = 0; i < sizeof(T); ++i)
    bytes.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i)));
}

template <typename T> T load(const unsigned char *bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value |= uint64_t{bytes[i]} << (8 * i);
  return static_cast<T>(value);
}

} // namespace

void appendFrame(const WireFrame &frame, std::string &bytes) {
  append(static_cast<uint8_t>(frame.kind), bytes);
  append(static_cast<uint8_t>(frame.dtype), bytes);
  append(frame.rank, bytes);
  append(uint8_t{0}, bytes);
  append(frame.edge, bytes);
  append(frame.number, bytes);
  append(frame.offset, bytes);
  for (size_t i = 0; i < frame.rank; ++i)
    append(frame.sizes[i], bytes);
}

ByteReader::ByteReader(std::span<const std::string_view> pieces) : pieces_(pieces) {
  for (std::string_view piece : pieces)
    left_ += piece.size();
}

void ByteReader::read(void *place, uint64_t size) {
  assert(size <= left_ && "reads past the end");
  left_ -= size;
  for (char *to = static_cast<char *>(place); size > 0;) {
    std::string_view rest = pieces_.front().substr(inPiece_);
    size_t count = std::min<uint64_t>(rest.size(), size);
    if (count != 0)
      std::memcpy(to, rest.data(), count);
    to += count;
    size -= count;
    inPiece_ += count;
    if (inPiece_ == pieces_.front().size()) {
      pieces_ = pieces_.subspan(1);
      inPiece_ = 0;
    }
  }
}

absl::StatusOr<WireFrame> readFrame(ByteReader &reader) {
  // A piece of memory may end anywhere, in the middle of a number too.
  unsigned char bytes[WireFrame::kMaxRank * sizeof(int64_t)];
  if (reader.left() < WireFrame::kFixedBytes)
    return absl::InvalidArgumentError(absl::StrCat("expects a frame of ", WireFrame::kFixedBytes,
                                                   " bytes or more, got ", reader.left()));
  reader.read(bytes, WireFrame::kFixedBytes);
  if (bytes[0] < static_cast<uint8_t>(FrameKind::Tensor) ||
      bytes[0] > static_cast<uint8_t>(FrameKind::FinishSeen))
    return absl::InvalidArgumentError(absl::StrCat("expects a kind of frame, got ", bytes[0]));
  if (bytes[1] >= kTypes || bytes[2] > WireFrame::kMaxRank || bytes[3] != 0)
    return absl::InvalidArgumentError("expects a type and a rank, got other bytes");
  WireFrame frame;
  frame.kind = static_cast<FrameKind>(bytes[0]);
  frame.dtype = static_cast<DType>(bytes[1]);
  frame.rank = bytes[2];
  frame.edge = load<uint32_t>(bytes + 4);
  frame.number = load<uint32_t>(bytes + 8);
  frame.offset = load<uint64_t>(bytes + 12);
  size_t sizeBytes = frame.rank * sizeof(int64_t);
  if (reader.left() < sizeBytes)
    return absl::InvalidArgumentError(
        absl::StrCat("expects ", int{frame.rank}, " sizes, got ", reader.left(), " bytes"));
  reader.read(bytes, sizeBytes);
  for (size_t i = 0; i < frame.rank; ++i)
    frame.sizes[i] = load<int64_t>(bytes + i * sizeof(int64_t));
  return frame;
}

} // namespace pdg
