// Variables that are cut into slices, as files see them: whole.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/worker/execution_context.h"

#include <list>

namespace pdg {

/// The variables of several processes by the names that they have in one process. A variable of
/// which the processes have slices is put together in memory of its own.
class WholeVariables {
public:
  /// Of `processes`, which must live as long. ResourceExhausted if memory is short; InvalidArgument
  /// if slices do not fit each other.
  static absl::StatusOr<WholeVariables> create(std::span<ExecutionContext *const> processes);

  /// The variables: those that are not cut themselves, the others as gather() found them.
  const std::vector<TensorRef> &refs() const { return refs_; }

  /// Puts slices together.
  void gather();
  /// Cuts what is in the whole variables into slices again.
  void scatter();

private:
  struct Slice {
    HostTensor *slice, *whole;
    std::vector<int64_t> begin; ///< Of each axis.
  };

  absl::Status add(ExecutionContext &process);
  absl::Status makeWholes();
  void copy(bool isGathered);

  std::vector<TensorRef> refs_;
  std::map<std::string, std::vector<Slice>> slices_; ///< By the name of the whole variable.
  std::list<HostTensor> wholes_;
};

} // namespace pdg
