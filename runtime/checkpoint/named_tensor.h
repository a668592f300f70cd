// Tensors with the names under which files hold them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/base/tensor.h"

#include <string>

namespace pdg {

/// A tensor read from a file.
struct NamedTensor {
  std::string name;
  HostTensor tensor;
};

/// A tensor to be written, or to be overwritten by what a file holds. Does not own it.
struct TensorRef {
  std::string name;
  HostTensor *tensor = nullptr;
};

} // namespace pdg
