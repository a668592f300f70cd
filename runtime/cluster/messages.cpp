// Tensors and errors as messages of control.proto.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cluster/messages.h"

#include <algorithm>
#include <cstdio>
#include <random>

namespace pdg {

namespace {

/// The bytes of a piece: far below what a message may be.
constexpr int64_t kPieceBytes = int64_t{4} << 20;

absl::Status refuse(const std::string &name, const char *why) {
  return absl::InvalidArgumentError("tensor '" + name + "': " + why);
}

} // namespace

std::string makeJobName() {
  std::random_device random;
  std::string name;
  char digits[16];
  for (int i = 0; i < 4; ++i) {
    std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(random()));
    name += digits;
  }
  return name;
}

bool sendInPieces(const TensorRef &tensor, absl::FunctionRef<bool(cluster::Tensor piece)> send) {
  int64_t bytes = tensor.tensor->numBytes(), offset = 0;
  do {
    int64_t length = std::min(kPieceBytes, bytes - offset);
    cluster::Tensor piece;
    piece.set_name(tensor.name);
    piece.set_dtype(std::string(nameOf(tensor.tensor->dtype())));
    for (int64_t size : tensor.tensor->shape())
      piece.add_sizes(size);
    piece.set_offset(offset);
    piece.set_data(tensor.tensor->bytes() + offset, static_cast<size_t>(length));
    if (!send(std::move(piece)))
      return false;
    offset += length;
  } while (offset < bytes);
  return true;
}

absl::Status TensorAssembly::add(const cluster::Tensor &piece) {
  auto [found, isNew] = parts_.try_emplace(piece.name());
  Part &part = found->second;
  if (isNew) {
    std::optional<DType> dtype = parseDType(piece.dtype());
    if (!dtype)
      return refuse(piece.name(), "of an unknown type");
    auto tensor = HostTensor::create(*dtype, {piece.sizes().begin(), piece.sizes().end()});
    if (!tensor.ok())
      return tensor.status();
    part.tensor = *std::move(tensor);
    order_.push_back(piece.name());
  }
  auto length = static_cast<int64_t>(piece.data().size());
  if (piece.offset() != part.received || length > part.tensor.numBytes() - part.received)
    return refuse(piece.name(), "a piece that does not follow the one before");
  if (length != 0)
    std::memcpy(part.tensor.bytes() + part.received, piece.data().data(), piece.data().size());
  part.received += length;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<NamedTensor>> TensorAssembly::take() {
  std::vector<NamedTensor> tensors;
  for (const std::string &name : order_) {
    Part &part = parts_[name];
    if (part.received != part.tensor.numBytes())
      return refuse(name, "its end is missing");
    tensors.push_back({name, std::move(part.tensor)});
  }
  order_.clear();
  parts_.clear();
  return tensors;
}

cluster::Ended toMessage(const RunError &error) {
  cluster::Ended message;
  message.set_code(error.code);
  message.set_location(error.location);
  message.set_message(error.message);
  message.set_excerpt(error.excerpt);
  message.set_exit_code(error.exitCode);
  message.set_is_consequence(error.isConsequence);
  message.set_batches(error.batches);
  message.set_site(error.site);
  return message;
}

RunError fromMessage(const cluster::Ended &message) {
  RunError error;
  error.code = message.code();
  error.location = message.location();
  error.message = message.message();
  error.excerpt = message.excerpt();
  error.exitCode = message.exit_code();
  error.isConsequence = message.is_consequence();
  error.batches = message.batches();
  error.site = message.site();
  return error;
}

} // namespace pdg
