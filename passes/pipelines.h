// The orders in which passes run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/Pass/PassManager.h"

namespace pdg {

/// From the graph of a script to a graph without gradients, simplified: what the interpreter runs
/// and what code is generated from.
void buildGraphPipeline(mlir::OpPassManager &pm);

/// Makes the pipelines known to pdc-opt by name: `--pdg-graph-pipeline`.
void registerPdgPipelines();

} // namespace pdg
