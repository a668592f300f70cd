// Splits large variables over servers, where their updates allow it.
// SPDX-License-Identifier: Apache-2.0
#include "ir/program_tables.h"
#include "passes/distribute/place_sides.h"
#include "passes/distribute/shard_rewrite.h"
#include "passes/passes.h"

namespace pdg {
#define GEN_PASS_DEF_SHARDVARIABLES
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

/// The variables of one update.
struct UpdateGroup {
  SmallVector<unsigned> variables;
  int64_t bytes = 0;
  unsigned leader = 0; ///< The one with a hint, or the largest one.
  int64_t leaderBytes = 0;
  std::optional<int64_t> hintedAxis; ///< Where the script wants it split.
  bool isPinned = false;             ///< The script wants it on one node.
};

int64_t bytesOf(VariableOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  return type.getNumElements() * static_cast<int64_t>(sizeOf(*toDType(type)));
}

SmallVector<UpdateGroup> groupsOf(Variables &variables, const Grouping &grouping) {
  SmallVector<UpdateGroup> groups(grouping.count());
  for (unsigned v = 0; v < variables.all().size(); ++v) {
    HomedVariable &variable = variables.all()[v];
    UpdateGroup &group = groups[grouping.ofVariable(v)];
    int64_t bytes = bytesOf(variable.op);
    auto hint = variable.op->getAttrOfType<IntegerAttr>("pdg.shard");
    if (group.variables.empty() || (hint && !group.hintedAxis) ||
        (bytes > group.leaderBytes && !group.hintedAxis)) {
      group.leader = v;
      group.leaderBytes = bytes;
    }
    if (hint && !group.hintedAxis)
      group.hintedAxis = hint.getInt();
    group.isPinned |= static_cast<bool>(variable.hint);
    group.variables.push_back(v);
    group.bytes += bytes;
  }
  return groups;
}

struct ShardVariablesPass : impl::ShardVariablesBase<ShardVariablesPass> {
  using ShardVariablesBase::ShardVariablesBase;

  void runOnOperation() override {
    ClusterAttr cluster = ClusterAttr::of(getOperation());
    auto programs = getOperation().getOps<ProgramOp>();
    if (!cluster || cluster.getServers() < 2 || cluster.getMode() == ClusterMode::Local ||
        programs.empty())
      return;
    Variables variables;
    if (failed(variables.collect(getOperation(), cluster)))
      return signalPassFailure();
    PlaceGraph graph(*programs.begin());
    SmallVector<bool> onServer = chooseSides(graph, cluster);
    Grouping grouping(graph, variables, onServer);
    SmallVector<UpdateGroup> groups = groupsOf(variables, grouping);
    int64_t total = 0;
    for (const UpdateGroup &group : groups)
      total += group.bytes;
    int64_t share = total / cluster.getServers();
    SmallVector<ShardPlan> plans;
    for (auto [i, group] : llvm::enumerate(groups)) {
      if (group.variables.empty() ||
          (!group.hintedAxis &&
           (group.isPinned || group.bytes <= share || group.leaderBytes < minBytes)))
        continue;
      if (failed(plan(
              group, [&] { return ShardProver(graph, variables, onServer, grouping, i); },
              variables, cluster, share, plans)))
        return signalPassFailure();
    }
    for (const ShardPlan &plan : plans) {
      applyShardPlan(plan, graph, variables);
      numSplit += plan.variables.size();
    }
  }

  LogicalResult plan(const UpdateGroup &group, llvm::function_ref<ShardProver()> newProver,
                     Variables &variables, ClusterAttr cluster, int64_t share,
                     SmallVectorImpl<ShardPlan> &plans);
  LogicalResult refuse(const UpdateGroup &group, Variables &variables,
                       const ShardObstacle &obstacle);
};

/// Finds a plan for a group, or says why there is none.
LogicalResult ShardVariablesPass::plan(const UpdateGroup &group,
                                       llvm::function_ref<ShardProver()> newProver,
                                       Variables &variables, ClusterAttr cluster, int64_t share,
                                       SmallVectorImpl<ShardPlan> &plans) {
  if (group.hintedAxis && group.isPinned)
    return refuse(group, variables, {nullptr, "the script also wants it on one node"});
  auto type = cast<RankedTensorType>(variables.all()[group.leader].op.getType());
  SmallVector<int64_t> axes;
  if (group.hintedAxis)
    axes = {*group.hintedAxis};
  else
    axes = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  int64_t count = group.hintedAxis ? cluster.getServers()
                                   : std::min<int64_t>(cluster.getServers(),
                                                       llvm::divideCeil(group.bytes, share));
  std::optional<ShardObstacle> first;
  for (int64_t axis : axes) {
    ShardProver prover = newProver();
    if (std::optional<ShardPlan> plan = prover.prove(group.leader, axis, count)) {
      plans.push_back(std::move(*plan));
      return success();
    }
    if (!first)
      first = prover.obstacle();
  }
  return first ? refuse(group, variables, *first) : success();
}

/// An error if the script wants it; else the reason for people.
LogicalResult ShardVariablesPass::refuse(const UpdateGroup &group, Variables &variables,
                                         const ShardObstacle &obstacle) {
  VariableOp op = variables.all()[group.leader].op;
  std::string what =
      obstacle.op ? "'" + obstacle.op->getName().stripDialect().str() + "' " : std::string();
  if (group.hintedAxis) {
    InFlightDiagnostic error =
        op.emitError("PD0206: expected a variable that can be split along axis ")
        << *group.hintedAxis << " (@shard); '" << op.getName().str() << "' cannot: " << what
        << obstacle.text;
    if (obstacle.op && obstacle.op != op)
      error.attachNote(obstacle.op->getLoc()) << "in its update";
    return error;
  }
  std::string where = obstacle.op ? locationText(obstacle.op->getLoc()) : "";
  if (!where.empty())
    where = " (" + where + ")";
  op->setAttr("pdg.why-whole",
              StringAttr::get(&getContext(), "in its update " + what + obstacle.text + where));
  return success();
}

} // namespace
} // namespace pdg
