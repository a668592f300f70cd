// The orders in which passes run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/Pass/PassManager.h"

namespace pdg {

/// From the graph of a script to a graph without gradients, simplified: what the interpreter runs
/// and what code is generated from.
void buildGraphPipeline(mlir::OpPassManager &pm);

/// From that graph to one whose batches are cut into `replicas` slices, with the same meaning. With
/// several trainers it is the program of each of them, which has its share of the slices.
void buildSplitPipeline(mlir::OpPassManager &pm, int64_t replicas, int64_t trainers = 1);

/// From either graph to fused groups, what native code is made of.
void buildNativePipeline(mlir::OpPassManager &pm);

/// Makes the pipelines known to pdc-opt by name: `--pdg-graph-pipeline`, `--pdg-native-pipeline`.
void registerPdgPipelines();

} // namespace pdg
