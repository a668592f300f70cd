// Proves that the roles of a cluster fit together, before anything is started.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/check_cluster_ends.h"
#include "passes/distribute/check_cluster_memory.h"
#include "passes/passes.h"

namespace pdg {
#define GEN_PASS_DEF_CHECKCLUSTER
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

struct CheckClusterPass : impl::CheckClusterBase<CheckClusterPass> {
  using CheckClusterBase::CheckClusterBase;

  void runOnOperation() override {
    ModuleOp cluster = getOperation();
    ClusterEnds ends(cluster);
    if (failed(checkEnds(cluster, ends)) || failed(checkWaits(ends)) ||
        (memory && failed(checkMemory(ends, ClusterAttr::of(cluster)))))
      signalPassFailure();
  }
};

} // namespace
} // namespace pdg
