// Whether the roles of a program fit into the memory that a cluster gives them.
// SPDX-License-Identifier: Apache-2.0
#include "ir/program_tables.h"
#include "passes/distribute/check_cluster_memory.h"
#include "tools/cluster.h"

namespace pdg {

static std::string text(int64_t bytes) { return bytesText(static_cast<double>(bytes)); }

/// The variable of `role` with the most bytes, for a note; empty if there is none.
static std::string largestVariable(RoleModule role) {
  std::string largest;
  int64_t most = -1;
  for (mlir::Operation &op : *role.module.getBody()) {
    auto name = op.getAttrOfType<NameAttr>("name");
    auto type = op.getAttrOfType<mlir::TypeAttr>("type");
    if (!name || !type || leastBytesOf(type.getValue()) <= most)
      continue;
    most = leastBytesOf(type.getValue());
    largest = "its largest variable is '" + name.str() + "', " + text(most) + ", at " +
              locationText(op.getLoc());
  }
  return largest;
}

/// Without servers each trainer's process keeps a part of the variables: what the largest needs.
static RoleMemory partOfTrainers(const ClusterEnds &ends, const Cluster &cluster) {
  RoleMemory largest;
  if (cluster.mode.hasServers() || cluster.trainers.memory == 0)
    return largest;
  for (RoleModule role : ends.roles())
    if (RoleMemory memory = memoryOf(role);
        role.role.isServer() && memory.total() > largest.total())
      largest = memory;
  return largest;
}

bool checkClusterMemory(mlir::ModuleOp module, const Cluster &cluster,
                        DiagnosticEngine &diagnostics) {
  bool fits = true;
  ClusterEnds ends(module);
  RoleMemory largestPart = partOfTrainers(ends, cluster);
  for (RoleModule role : ends.roles()) {
    const ClusterRole &kind = role.role.isTrainer() ? cluster.trainers : cluster.servers;
    RoleMemory memory = kind.memory ? memoryOf(role) : RoleMemory();
    if (role.role.isTrainer())
      memory += largestPart;
    if (memory.total() <= kind.memory)
      continue;
    fits = false;
    Diagnostic &message = diagnostics.report(DiagCode::PD0204, kind.memoryPlace,
                                             role.role.str() + " needs " + text(memory.total()) +
                                                 ", and the cluster gives it " + text(kind.memory));
    message.withNote(text(memory.variables) + " of variables, " + text(memory.values) +
                     " of values, " + text(memory.messages) + " of messages");
    if (std::string largest = largestVariable(role); !largest.empty())
      message.withNote(largest);
  }
  return fits;
}

} // namespace pdg
