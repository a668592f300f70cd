// Host tensors: sizes are checked before anything is allocated.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/tensor.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

namespace pdg {

namespace {

// Half of the address space of a process. A request above it can never be met, and is refused here
// so that no allocator sees it.
constexpr int64_t kMaxBytes = int64_t{1} << 46;

} // namespace

absl::StatusOr<int64_t> countElements(std::span<const int64_t> shape) {
  int64_t count = 1;
  bool overflows = false, isEmpty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return absl::InvalidArgumentError(absl::StrCat("negative size ", size, " in a shape"));
    isEmpty |= size == 0;
    overflows |= __builtin_mul_overflow(count, size, &count);
  }
  // [2^62, 2^62, 0] has no elements, whatever its other sizes multiply to.
  if (isEmpty)
    return 0;
  if (overflows)
    return absl::ResourceExhaustedError("the number of elements exceeds 2^63");
  return count;
}

absl::StatusOr<int64_t> countBytes(DType dtype, std::span<const int64_t> shape) {
  absl::StatusOr<int64_t> count = countElements(shape);
  if (!count.ok())
    return count;
  int64_t elementSize = static_cast<int64_t>(sizeOf(dtype));
  if (*count > kMaxBytes / elementSize)
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot hold ", typeString(dtype, shape), " in memory"));
  return *count * elementSize;
}

std::string typeString(DType dtype, std::span<const int64_t> shape) {
  std::string text(nameOf(dtype));
  if (shape.empty())
    return text;
  const char *separator = "[";
  for (int64_t size : shape) {
    text += separator;
    text += size < 0 ? "?" : absl::StrCat(size);
    separator = ", ";
  }
  return text + "]";
}

absl::StatusOr<HostTensor> HostTensor::create(DType dtype, std::vector<int64_t> shape) {
  absl::StatusOr<int64_t> numBytes = countBytes(dtype, shape);
  if (!numBytes.ok())
    return numBytes.status();
  HostTensor tensor;
  // calloc and not an aligned allocation with memset: the zero pages of a large tensor come from
  // the system untouched, and are not written twice.
  tensor.memory_.reset(std::calloc(static_cast<size_t>(*numBytes) + kAlignment, 1));
  if (!tensor.memory_)
    return absl::ResourceExhaustedError(absl::StrCat("cannot allocate ", *numBytes, " bytes for ",
                                                     pdg::typeString(dtype, shape),
                                                     ": out of memory"));
  uintptr_t address = reinterpret_cast<uintptr_t>(tensor.memory_.get());
  size_t padding = (kAlignment - address % kAlignment) % kAlignment;
  tensor.bytes_ = static_cast<uint8_t *>(tensor.memory_.get()) + padding;
  tensor.dtype_ = dtype;
  tensor.shape_ = std::move(shape);
  tensor.numElements_ = *numBytes / static_cast<int64_t>(sizeOf(dtype));
  return tensor;
}

absl::StatusOr<HostTensor> HostTensor::fromBytes(DType dtype, std::vector<int64_t> shape,
                                                 const void *bytes, size_t numBytes) {
  absl::StatusOr<HostTensor> tensor = create(dtype, std::move(shape));
  if (!tensor.ok())
    return tensor;
  if (static_cast<size_t>(tensor->numBytes()) != numBytes)
    return absl::InvalidArgumentError(absl::StrCat("expected ", tensor->numBytes(), " bytes for ",
                                                   tensor->typeString(), ", found ", numBytes));
  if (numBytes != 0)
    std::memcpy(tensor->bytes(), bytes, numBytes);
  return tensor;
}

absl::StatusOr<HostTensor> HostTensor::clone() const {
  return fromBytes(dtype_, shape_, bytes_, static_cast<size_t>(numBytes()));
}

} // namespace pdg
