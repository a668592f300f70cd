// All pipelines, readable from top to bottom.
// SPDX-License-Identifier: Apache-2.0
#include "passes/pipelines.h"
#include "passes/passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace pdg {

void buildGraphPipeline(OpPassManager &pm) {
  // Sizes that become known make gradients simpler. Equal ops are joined only afterwards: their
  // cotangents are added in program order of the uses that the script has.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createDifferentiate());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void registerPdgPipelines() {
  PassPipelineRegistration<>("pdg-graph-pipeline",
                             "Differentiates and simplifies the graph of a script",
                             buildGraphPipeline);
}

} // namespace pdg
