// Tensors in host memory: the form in which values enter and leave a program (feeds, fetches,
// variables, checkpoints) and in which the interpreter computes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/base/dtype.h"

#include <absl/status/statusor.h>

#include <cassert>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pdg {

/// Returns the product of `shape`, or an error if a size is negative or the product overflows.
absl::StatusOr<int64_t> countElements(std::span<const int64_t> shape);

/// Returns the bytes of a tensor, or an error if a size is negative or the bytes exceed what a
/// process can address.
absl::StatusOr<int64_t> countBytes(DType dtype, std::span<const int64_t> shape);

/// Returns the type as the language writes it: "f32[2, 3]"; a scalar is "f32". Sizes below zero
/// print as "?".
std::string typeString(DType dtype, std::span<const int64_t> shape);

/// A dense row-major tensor that owns its bytes, aligned to 64. Movable; copied only by clone().
/// A moved-from or default-constructed tensor may only be assigned to or destroyed.
class HostTensor {
public:
  static constexpr size_t kAlignment = 64;

  HostTensor() = default;

  /// Makes a tensor of zeros. Fails if the sizes are impossible or memory is short.
  static absl::StatusOr<HostTensor> create(DType dtype, std::vector<int64_t> shape);

  /// Makes a tensor with the given elements, in row-major order. Fails like create, and if the
  /// number of values is not the number of elements.
  template <typename T>
  static absl::StatusOr<HostTensor> fromValues(std::vector<int64_t> shape,
                                               std::span<const T> values) {
    return fromBytes(dtypeOf<T>, std::move(shape), values.data(), values.size_bytes());
  }

  /// The same with values written in braces.
  template <typename T>
  static absl::StatusOr<HostTensor> fromValues(std::vector<int64_t> shape,
                                               std::initializer_list<T> values) {
    return fromValues<T>(std::move(shape), std::span<const T>(values.begin(), values.size()));
  }

  /// Makes a tensor with a copy of `numBytes` bytes, which must be its exact size.
  static absl::StatusOr<HostTensor> fromBytes(DType dtype, std::vector<int64_t> shape,
                                              const void *bytes, size_t numBytes);

  /// Returns a tensor of the same type with a copy of the elements.
  absl::StatusOr<HostTensor> clone() const;

  DType dtype() const { return dtype_; }
  const std::vector<int64_t> &shape() const { return shape_; }
  int64_t rank() const { return static_cast<int64_t>(shape_.size()); }
  int64_t numElements() const { return numElements_; }
  int64_t numBytes() const { return numElements_ * static_cast<int64_t>(sizeOf(dtype_)); }

  /// The address of element 0. Aligned to 64 and not null even if there are no elements.
  uint8_t *bytes() { return bytes_; }
  const uint8_t *bytes() const { return bytes_; }

  /// The elements. Requires: T is the C++ type of dtype().
  template <typename T> T *data() {
    assert(dtypeOf<T> == dtype_ && "elements read as another type");
    return reinterpret_cast<T *>(bytes_);
  }
  template <typename T> const T *data() const {
    assert(dtypeOf<T> == dtype_ && "elements read as another type");
    return reinterpret_cast<const T *>(bytes_);
  }
  template <typename T> std::span<T> values() {
    return {data<T>(), static_cast<size_t>(numElements_)};
  }
  template <typename T> std::span<const T> values() const {
    return {data<T>(), static_cast<size_t>(numElements_)};
  }

  /// The type as the language writes it: "f32[2, 3]".
  std::string typeString() const { return pdg::typeString(dtype_, shape_); }

private:
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };

  DType dtype_ = DType::F32;
  std::vector<int64_t> shape_;
  int64_t numElements_ = 0;
  std::unique_ptr<void, Free> memory_;
  uint8_t *bytes_ = nullptr;
};

} // namespace pdg
