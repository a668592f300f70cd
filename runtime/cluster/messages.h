// Tensors and errors as messages of control.proto.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/checkpoint/named_tensor.h"
#include "runtime/cluster/control.pb.h"
#include "runtime/transport/exchange.h"
#include "runtime/worker/execution_context.h"

#include <absl/functional/function_ref.h>

#include <map>

namespace pdg {

/// Of control.proto. To be counted up with every change.
inline constexpr uint32_t kControlVersion = 1;

/// Returns 128 random bits as hexadecimal digits: nobody guesses which job it is.
std::string makeJobName();

/// Calls `send` with each piece of `tensor` until it returns false.
bool sendInPieces(const TensorRef &tensor, absl::FunctionRef<bool(cluster::Tensor piece)> send);

/// Puts tensors together from pieces.
class TensorAssembly {
public:
  /// Adds a piece. InvalidArgument if it does not follow what came before, or is larger than the
  /// tensor that it belongs to.
  absl::Status add(const cluster::Tensor &piece);
  /// All tensors. InvalidArgument if one is not complete.
  absl::StatusOr<std::vector<NamedTensor>> take();

private:
  struct Part {
    HostTensor tensor;
    int64_t received = 0;
  };
  std::vector<std::string> order_;
  std::map<std::string, Part> parts_;
};

cluster::Ended toMessage(const RunError &error);
RunError fromMessage(const cluster::Ended &message);

} // namespace pdg
