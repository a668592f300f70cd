// What a cluster would hold and send, found from the programs of its roles, before anything runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/distribute/check_cluster_memory.h"
#include "tools/cluster.h"

#include <string>
#include <vector>

namespace pdg {

/// A variable, or the state of an optimizer, and where it is.
struct PlannedVariable {
  std::string name, type, home, place;
  int64_t bytes = 0;
  std::string why; ///< Why it is there.
};

/// How often an edge is used.
enum class EdgeRate {
  Step,   ///< Once in each step: in the innermost loop over data that sends gradients.
  Inner,  ///< In each round of a loop inside a step.
  Outside ///< Elsewhere: before and behind the steps, or in other loops.
};

/// One edge between roles.
struct PlannedEdge {
  std::string what, subject, from, to, place;
  EdgeRate rate = EdgeRate::Outside;
  int64_t bytes = 0;          ///< Of one message, at most.
  bool isBound = false;       ///< Messages may be smaller than `bytes`.
  bool isUnbounded = false;   ///< Nothing says how large they may be: `bytes` is the least.
  int64_t messages = 1;       ///< How many processes send or receive one each.
  bool isConditional = false; ///< Only if a condition holds: `bytes` a step at most.
  int64_t group = -1;         ///< Edges with the same number may share messages; -1: none.
};

/// All processes of one role.
struct PlannedRole {
  std::string name;
  int64_t processes = 1;
  RoleMemory memory;
  int64_t limit = 0;              ///< Bytes that each of them may use; 0: no limit.
  int64_t sent = 0, received = 0; ///< Bytes of each of them, each step.
  int64_t messages = 0;           ///< Messages that each of them sends, each step.
};

/// Which promise about the bits of the results holds for a data source.
struct PlannedSource {
  std::string name, place;
  int64_t batch = 0, leaves = 0;
  bool isPlain = false; ///< The bits of the plain run; else those of `--replicas`.
};

/// What the passes decided for one program and one cluster.
struct Plan {
  Cluster cluster;
  int64_t replicas = 1;
  std::string step; ///< Where the loop of the steps is; empty: there is none.
  std::vector<PlannedVariable> variables;
  std::vector<PlannedEdge> edges; ///< In the order in which trainers send and receive them.
  std::vector<PlannedRole> roles;
  std::vector<PlannedSource> sources;
};

/// How long a step takes on a network, and where the time goes.
struct Simulation {
  double step = 0;                   ///< Seconds.
  double computing = 0, waiting = 0; ///< Of the slowest trainer's step.
  /// What the trainer waits for, the longest first: the edge and the seconds.
  std::vector<std::pair<std::string, double>> waits;
  std::string busiest;     ///< The process whose link is the fullest ...
  double busiestShare = 0; ///< ... and the share of the step in which it is full.
};

/// Makes the plan of `module`, the modules of all roles.
Plan makePlan(mlir::ModuleOp module, const Cluster &cluster);

/// Replays some steps on the network that the cluster has. The slowest trainer computes `slowest`
/// times as long as the others. Takes as long for many trainers as for two.
Simulation simulate(mlir::ModuleOp module, const Cluster &cluster, double slowest);

/// The loop of the steps in the trainers' program: the first over data that sends gradients, else
/// the first over data that sends anything; null if there is none.
mlir::Operation *findStepLoop(const ClusterEnds &ends);

/// The plan for people, and as JSON.
std::string planText(const Plan &plan);
std::string planJson(const Plan &plan, const Simulation *simulation);
std::string simulationText(const Simulation &simulation, const Cluster &cluster);

/// Why the variables with this name are where they are; empty if there is none.
std::string explainVariable(const Plan &plan, const std::string &name);

/// What the second plan does otherwise.
std::string planDifference(const Plan &before, const Plan &after);

} // namespace pdg
