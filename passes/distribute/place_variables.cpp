// Says of each variable which server keeps it, and of each op which role runs it: the update where
// the variable is, the rest on the trainers, cut where the fewest bytes cross.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/place_homes.h"
#include "passes/distribute/place_sides.h"
#include "passes/passes.h"

namespace pdg {
#define GEN_PASS_DEF_PLACEVARIABLES
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

/// Writes the places of all ops, and those of what each loop carries and each condition gives.
void writePlaces(PlaceGraph &graph, ArrayRef<RoleAttr> roles, MLIRContext *context) {
  auto trainer = RoleAttr::get(context, RoleKind::Trainer);
  auto anywhere = RoleAttr::get(context, RoleKind::Anywhere);
  llvm::MapVector<Operation *, SmallVector<Attribute>> slots;
  for (auto [node, role] : llvm::zip(graph.nodes(), roles)) {
    RoleAttr place = node.isAnywhere ? anywhere : role ? role : trainer;
    if (node.isSlot())
      slots[node.op].push_back(place);
    else
      node.op->setAttr("pdg.place", joinsTrainers(node.op) ? trainer : place);
  }
  for (auto &[op, places] : slots)
    op->setAttr("pdg.places", ArrayAttr::get(context, places));
}

struct PlaceVariablesPass : impl::PlaceVariablesBase<PlaceVariablesPass> {
  void runOnOperation() override {
    ClusterAttr cluster = ClusterAttr::of(getOperation());
    if (!cluster)
      return;
    Variables variables;
    auto programs = getOperation().getOps<ProgramOp>();
    if (programs.empty())
      return;
    PlaceGraph graph(*programs.begin());
    if (failed(variables.collect(getOperation(), cluster)) ||
        failed(checkPlaceable(graph, variables, cluster)))
      return signalPassFailure();
    SmallVector<bool> onServer = chooseSides(graph, cluster);
    SmallVector<RoleAttr> roles = chooseHomes(graph, variables, onServer, cluster);
    if (failed(obeyHints(graph, cluster, roles)))
      return signalPassFailure();
    writePlaces(graph, roles, &getContext());
    for (HomedVariable &variable : variables.all()) {
      variable.op->setAttr("pdg.home", variable.home);
      variable.op->setAttr("pdg.why", StringAttr::get(&getContext(), variable.why));
    }
  }
};

} // namespace
} // namespace pdg
