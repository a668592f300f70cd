// The frames that two processes send each other on their stream, as bytes. A message of the stream
// is any number of frames without a payload, then perhaps one with a payload: the rest of the
// message. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/base/dtype.h"

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pdg {

/// What a frame is about.
enum class FrameKind : uint8_t {
  /// The beginning of a tensor, or all of it: type, sizes, then elements.
  Tensor = 1,
  /// More elements of the tensor of `edge` that is not complete.
  Piece = 2,
  /// So many messages of `edge` were given back since the start: `number`.
  Credit = 3,
  /// The sender sends no more tensors.
  Finish = 4,
  /// The run has failed: `number` is the status code, the payload its message.
  Stop = 5,
  /// Finish, and so all before it, has arrived.
  FinishSeen = 6,
};

/// The fields of a frame, all 32 bits or less but sizes and offset. What a kind does not use is 0.
struct WireFrame {
  static constexpr size_t kMaxRank = 16;
  /// The bytes before the sizes.
  static constexpr size_t kFixedBytes = 20;

  FrameKind kind = FrameKind::Tensor;
  DType dtype = DType::F32;
  uint8_t rank = 0;
  uint32_t edge = 0;
  /// Tensor and Piece: which message of the edge, counted from 0.
  uint32_t number = 0;
  /// Piece: where its payload begins, in bytes.
  uint64_t offset = 0;
  std::array<int64_t, kMaxRank> sizes = {};

  /// Says whether the rest of the message belongs to the frame.
  bool hasPayload() const {
    return kind == FrameKind::Tensor || kind == FrameKind::Piece || kind == FrameKind::Stop;
  }

  /// The bytes of the frame without its payload.
  size_t encodedSize() const { return kFixedBytes + rank * sizeof(int64_t); }
};

/// Appends the bytes of `frame`, little-endian on every machine.
void appendFrame(const WireFrame &frame, std::string &bytes);

/// The bytes of a message that lie in several pieces of memory, read from the front.
class ByteReader {
public:
  explicit ByteReader(std::span<const std::string_view> pieces);

  /// How many bytes are left.
  uint64_t left() const { return left_; }

  /// Copies the next `size` bytes. Requires: so many are left.
  void read(void *place, uint64_t size);

private:
  std::span<const std::string_view> pieces_;
  size_t inPiece_ = 0;
  uint64_t left_ = 0;
};

/// Reads one frame, up to its payload. InvalidArgument if the bytes are none, whatever they are;
/// that edge, sizes and numbers make sense is for others to check.
absl::StatusOr<WireFrame> readFrame(ByteReader &reader);

} // namespace pdg
