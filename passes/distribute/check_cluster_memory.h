// How much memory a role of a cluster needs at most.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/distribute/check_cluster_ends.h"

namespace pdg {

/// Bytes that one process of a role needs.
struct RoleMemory {
  int64_t variables = 0; ///< Variables and the state of their optimizers.
  int64_t values = 0;    ///< Values of the program: the most that are alive at once.
  int64_t messages = 0;  ///< Messages on the way, in queues and in hand.
  /// A value whose size nothing bounds, or null: `values` and `messages` then leave it out.
  mlir::Operation *unbounded = nullptr;

  /// All together; the largest number if it is more.
  int64_t total() const;
  /// Adds what another role in the same process needs.
  RoleMemory &operator+=(const RoleMemory &other);
};

/// The most bytes of a tensor of `type` if every unknown size is 1.
int64_t leastBytesOf(mlir::Type type);

/// Finds what one process of the role needs. Values count as if each op had a result of its own:
/// generated code, which fuses ops, needs less.
RoleMemory memoryOf(RoleModule role);

/// The bytes that a process of `role` may use, as the cluster says; 0: as many as there are.
int64_t memoryLimitOf(RoleAttr role, ClusterAttr cluster);

/// Reports roles that need more than that.
mlir::LogicalResult checkMemory(const ClusterEnds &ends, ClusterAttr cluster);

} // namespace pdg
