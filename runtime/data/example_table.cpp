// Memory of the example table.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/example_table.h"

#include "runtime/base/tensor.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

namespace pdg {

absl::Status GrowingBytes::reserve(int64_t capacity) {
  if (capacity <= capacity_)
    return absl::OkStatus();
  void *grown = std::realloc(bytes_.get(), static_cast<size_t>(capacity));
  if (!grown)
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot allocate ", capacity, " bytes for examples: out of memory"));
  static_cast<void>(bytes_.release()); // realloc has freed or kept it.
  bytes_.reset(static_cast<uint8_t *>(grown));
  capacity_ = capacity;
  return absl::OkStatus();
}

absl::Status GrowingBytes::reserveMore(int64_t used, int64_t size) {
  if (size <= capacity_ - used)
    return absl::OkStatus();
  return reserve(std::max(used + size, 2 * capacity_));
}

absl::StatusOr<FieldColumn> makeColumn(const FieldInfo &info) {
  absl::StatusOr<int64_t> exampleBytes = countBytes(info.dtype, info.shape);
  if (!exampleBytes.ok())
    return exampleBytes.status();
  FieldColumn column;
  column.info = info;
  column.exampleBytes = *exampleBytes;
  return column;
}

std::string typeString(std::span<const FieldInfo> fields) {
  std::string text;
  for (const FieldInfo &field : fields)
    absl::StrAppend(&text, text.empty() ? "" : ", ", typeString(field.dtype, field.shape));
  return absl::StrCat("(", text, ")");
}

} // namespace pdg
