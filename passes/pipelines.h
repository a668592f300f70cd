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

/// From the first graph to the programs of all roles of a cluster, modules inside of the module,
/// which says by its attribute `pdg.cluster` what the cluster is. A batch is cut into `replicas`
/// slices; 0: one for each trainer.
void buildDistributedPipeline(mlir::OpPassManager &pm, int64_t trainers, int64_t replicas = 0);

/// The same for modes in which trainers do not keep step: programs of a cluster with one trainer,
/// of which there are `trainers`, each of which takes its turn at whole batches.
void buildAsynchronousPipeline(mlir::OpPassManager &pm, int64_t trainers);

/// From either graph to fused groups, what native code is made of.
void buildNativePipeline(mlir::OpPassManager &pm);

/// Makes the pipelines known to pdc-opt by name: `--pdg-graph-pipeline`, `--pdg-native-pipeline`.
void registerPdgPipelines();

} // namespace pdg
