// Makes several variables of one, and of its update one for each slice.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/distribute/shard_plan.h"

namespace pdg {

/// Rewrites a program as `plan` says.
void applyShardPlan(const ShardPlan &plan, PlaceGraph &graph, Variables &variables);

} // namespace pdg
