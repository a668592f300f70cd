// The modules of a cluster's roles and the edges between them: what pdg-check-cluster looks at, and
// what plans and drawings are made of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dialect.h"
#include "ir/interfaces.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

namespace pdg {

/// One role: its module inside the cluster's.
struct RoleModule {
  mlir::ModuleOp module;
  RoleAttr role;
};

/// The ops at both ends of an edge, in the order of the program.
struct EdgeEnds {
  llvm::SmallVector<EdgeOpInterface, 2> senders, receivers;

  /// The type of its messages, of an edge with an end.
  mlir::Type messageType() const {
    return EdgeOpInterface(receivers.empty() ? senders.front() : receivers.front())
        .getMessageType();
  }
};

/// How many messages of an edge may be on the way or in the receiver's hands before a sender waits.
inline constexpr int64_t kEdgeDepth = 2;

/// All roles of a cluster, and all edges by name.
class ClusterEnds {
public:
  /// Finds the roles in `cluster`, a module of modules, and their edges.
  explicit ClusterEnds(mlir::ModuleOp cluster);

  llvm::ArrayRef<RoleModule> roles() const { return roles_; }
  const llvm::MapVector<EdgeAttr, EdgeEnds> &edges() const { return edges_; }

  /// The module of `role`, or null.
  mlir::ModuleOp find(RoleAttr role) const;

  /// The role in whose module `op` is.
  static RoleAttr roleOf(mlir::Operation *op);

private:
  llvm::SmallVector<RoleModule> roles_;
  llvm::MapVector<EdgeAttr, EdgeEnds> edges_;
};

/// True if `edge` is the queue of one process: its ends are the same role.
inline bool isQueue(EdgeAttr edge) { return edge.getFrom() == edge.getTo(); }

/// Reports roles and edges that do not fit together: a module that is missing or there twice, ends
/// without partner, of another type or in another loop, names that occur twice.
mlir::LogicalResult checkEnds(mlir::ModuleOp cluster, const ClusterEnds &ends);

/// Reports a cycle of waits: roles that would wait for each other for ever.
mlir::LogicalResult checkWaits(const ClusterEnds &ends);

} // namespace pdg
