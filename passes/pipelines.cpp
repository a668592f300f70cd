// All pipelines, readable from top to bottom.
// SPDX-License-Identifier: Apache-2.0
#include "passes/pipelines.h"
#include "passes/passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace pdg {

void buildGraphPipeline(OpPassManager &pm) {
  // Sizes that become known make gradients simpler. Equal ops, constants among them, are joined
  // only afterwards: `grad` tells equal values apart, and cotangents are added in program order of
  // the uses that the script has.
  pm.addPass(createCanonicalizerPass(GreedyRewriteConfig().enableConstantCSE(false)));
  pm.addPass(createDifferentiate());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void buildSplitPipeline(OpPassManager &pm, int64_t replicas, int64_t trainers) {
  pm.addPass(createSimplifySizes());
  pm.addPass(createSendRows());
  pm.addPass(createSplitBatch({replicas, trainers}));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// From the program of each trainer to those of all roles.
static void buildCutPipeline(OpPassManager &pm, bool refreshes) {
  pm.addPass(createPrune());
  pm.addPass(createShardVariables());
  pm.addPass(createPlaceVariables());
  pm.addPass(createInsertSendRecv());
  pm.addPass(createReplicateDevices());
  pm.addPass(createRenameReplicas());
  pm.addPass(createSplitRoles());
  pm.addPass(createScheduleTransfers());
  pm.addPass(createCoalesceTransfers());
  // Last, so that nothing that waits moves between a read and its use.
  if (refreshes)
    pm.addPass(createRefreshReads());
  // The driver checks memory: it knows the line of the cluster file that limits it.
  pm.addPass(createCheckCluster({/*memory=*/false}));
}

void buildDistributedPipeline(OpPassManager &pm, int64_t trainers, int64_t replicas) {
  pm.addPass(createSimplifySizes());
  pm.addPass(createSendRows());
  pm.addPass(createForwardVariables());
  pm.addPass(createHoistReads());
  pm.addPass(createSplitBatch({replicas, trainers}));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createPropagateShardings());
  buildCutPipeline(pm, /*refreshes=*/false);
}

void buildAsynchronousPipeline(OpPassManager &pm, int64_t trainers) {
  pm.addPass(createSimplifySizes());
  pm.addPass(createSendRows());
  pm.addPass(createForwardVariables());
  pm.addPass(createHoistReads());
  pm.addPass(createShareBatches({trainers}));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  buildCutPipeline(pm, /*refreshes=*/true);
}

void buildNativePipeline(OpPassManager &pm) {
  pm.addPass(createForwardVariables());
  pm.addPass(createCanonicalizeContractions());
  pm.addPass(createFoldIntoConvolutions());
  pm.addPass(createSimplifySizes());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createSinkAssigns());
  pm.addPass(createFuse());
}

void registerPdgPipelines() {
  PassPipelineRegistration<>("pdg-graph-pipeline",
                             "Differentiates and simplifies the graph of a script",
                             buildGraphPipeline);
  PassPipelineRegistration<>("pdg-native-pipeline",
                             "Brings a differentiated graph into fused groups",
                             buildNativePipeline);
}

} // namespace pdg
