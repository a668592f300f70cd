// Homes for the variables of a program: what one update works on stays together, and such groups
// are spread over the servers. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/distribute/place_graph.h"

namespace pdg {

/// A variable and what is decided about it.
struct HomedVariable {
  VariableOp op;
  RoleAttr hint; ///< Where the script wants it, or null.
  RoleAttr home;
  std::string why;
};

/// The variables of a module by name.
class Variables {
public:
  /// Reads the hints. Fails if one names no node of the cluster, which it reports.
  mlir::LogicalResult collect(mlir::ModuleOp module, ClusterAttr cluster);
  llvm::MutableArrayRef<HomedVariable> all() { return variables_; }
  /// The index of the variable that `op` reads or assigns, or -1.
  int touchedBy(mlir::Operation *op) const;

private:
  llvm::SmallVector<HomedVariable, 0> variables_;
  llvm::DenseMap<mlir::Attribute, int> indices_;
};

/// The role that the script calls `name`: "trainer", "server0", "ps0". Reports a name of no node of
/// `cluster` at `op`.
mlir::FailureOr<RoleAttr> parseRole(mlir::Operation *op, llvm::StringRef name, ClusterAttr cluster);

/// Gives each variable a home, and each node that is not the trainers' (`onServer`) a role; null
/// where it has to do with no variable, so that it had better be the trainers' after all.
///
/// Requires: the cluster has servers, or no node is on one.
llvm::SmallVector<RoleAttr> chooseHomes(PlaceGraph &graph, Variables &variables,
                                        llvm::ArrayRef<bool> onServer, ClusterAttr cluster);

} // namespace pdg
