// Which nodes of a program are the trainers' and which the servers'.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/distribute/place_graph.h"

namespace pdg {

class Variables;

/// Reports what a cluster cannot run: a variable without a server that keeps it, or one of which
/// the trainers would have different values.
mlir::LogicalResult checkPlaceable(PlaceGraph &graph, Variables &variables, ClusterAttr cluster);

/// Decides for each node whether it is on a server, so that the fewest bytes cross from side to
/// side. Variables and joined values are on servers; parts of batches, data and what the outside
/// sees are on trainers; so is what is costly to compute (not element-wise, no reduction) and does
/// not come from servers alone.
llvm::SmallVector<bool> chooseSides(PlaceGraph &graph, ClusterAttr cluster);

/// Puts ops where the script wants them (@on before a statement). Reports an op that differs among
/// trainers, or that the outside sees, and should be on a server.
mlir::LogicalResult obeyHints(PlaceGraph &graph, ClusterAttr cluster,
                              llvm::MutableArrayRef<RoleAttr> roles);

} // namespace pdg
