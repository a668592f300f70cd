// Copies between whole variables and their slices, row by row.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/slices.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>

namespace pdg {

absl::Status WholeVariables::add(ExecutionContext &process) {
  std::vector<HostTensor> &tensors = process.variables();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const VariableInfo &info = process.program().variables[i];
    if (info.whole.empty()) {
      refs_.push_back({info.name, &tensors[i]});
      continue;
    }
    std::vector<Slice> &slices = slices_[info.whole];
    // Where the first slice is listed, the whole variable is; its memory comes later.
    if (slices.empty())
      refs_.push_back({info.whole, nullptr});
    else if (slices[0].slice->dtype() != tensors[i].dtype() ||
             slices[0].slice->rank() != tensors[i].rank())
      return absl::InvalidArgumentError(
          absl::StrCat("slices of '", info.whole, "' differ in type: ", tensors[i].typeString()));
    Slice slice{&tensors[i], nullptr, std::vector<int64_t>(tensors[i].shape().size())};
    for (size_t axis = 0; axis < info.bounds.size() / 2; ++axis)
      slice.begin[axis] = info.bounds[2 * axis];
    slices.push_back(std::move(slice));
  }
  return absl::OkStatus();
}

absl::Status WholeVariables::makeWholes() {
  for (TensorRef &ref : refs_) {
    if (ref.tensor)
      continue;
    std::vector<Slice> &slices = slices_[ref.name];
    std::vector<int64_t> shape(slices[0].begin.size());
    int64_t elements = 0;
    for (const Slice &slice : slices) {
      for (size_t axis = 0; axis < shape.size(); ++axis)
        shape[axis] = std::max(shape[axis], slice.begin[axis] + slice.slice->shape()[axis]);
      elements += slice.slice->numElements();
    }
    absl::StatusOr<HostTensor> whole = HostTensor::create(slices[0].slice->dtype(), shape);
    if (!whole.ok())
      return whole.status();
    if (whole->numElements() != elements)
      return absl::InvalidArgumentError(absl::StrCat("slices of '", ref.name,
                                                     "' are missing: all of them have ", elements,
                                                     " elements of ", whole->typeString()));
    ref.tensor = &wholes_.emplace_back(*std::move(whole));
    for (Slice &slice : slices)
      slice.whole = ref.tensor;
  }
  return absl::OkStatus();
}

absl::StatusOr<WholeVariables>
WholeVariables::create(std::span<ExecutionContext *const> processes) {
  WholeVariables result;
  absl::Status status;
  for (ExecutionContext *process : processes)
    if (status.ok())
      status = result.add(*process);
  if (status.ok())
    status = result.makeWholes();
  if (!status.ok())
    return status;
  result.gather();
  return result;
}

// Copies the rows of the last axis, or between them and the slice.
void WholeVariables::copy(bool isGathered) {
  for (auto &[name, slices] : slices_)
    for (Slice &each : slices) {
      const std::vector<int64_t> &shape = each.slice->shape(), &wide = each.whole->shape();
      if (each.slice->numElements() == 0)
        continue;
      size_t element = sizeOf(each.slice->dtype()), last = shape.size() - 1;
      int64_t rows = each.slice->numElements() / shape[last];
      for (int64_t row = 0; row < rows; ++row) {
        int64_t rest = row, at = 0, stride = wide[last];
        for (size_t axis = last; axis-- > 0; rest /= shape[axis], stride *= wide[axis])
          at += (rest % shape[axis] + each.begin[axis]) * stride;
        uint8_t *inWhole =
            each.whole->bytes() + static_cast<size_t>(at + each.begin[last]) * element;
        uint8_t *inSlice = each.slice->bytes() + static_cast<size_t>(row * shape[last]) * element;
        std::memcpy(isGathered ? inWhole : inSlice, isGathered ? inSlice : inWhole,
                    static_cast<size_t>(shape[last]) * element);
      }
    }
}

void WholeVariables::gather() { copy(true); }

void WholeVariables::scatter() { copy(false); }

} // namespace pdg
