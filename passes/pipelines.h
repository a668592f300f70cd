// The orders in which passes run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/Pass/PassManager.h"

namespace pdg {

/// From the graph of a script to a graph without gradients, simplified: what the interpreter runs
/// and what code is generated from.
void buildGraphPipeline(mlir::OpPassManager &pm);

/// From that graph to one whose batches are cut into `replicas` slices, with the same meaning.
void buildSplitPipeline(mlir::OpPassManager &pm, int64_t replicas);

/// From either graph to fused groups, what native code is made of.
void buildNativePipeline(mlir::OpPassManager &pm);

/// Makes the pipelines known to pdc-opt by name: `--pdg-graph-pipeline`, `--pdg-native-pipeline`.
void registerPdgPipelines();

} // namespace pdg
