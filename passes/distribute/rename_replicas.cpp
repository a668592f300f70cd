// Names what the devices of a trainer have copies of.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/communication.h"
#include "passes/passes.h"

namespace pdg {
#define GEN_PASS_DEF_RENAMEREPLICAS
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

/// The device of an op; without a mark, the first.
int64_t deviceOf(Operation *op) {
  auto device = op->getAttrOfType<IntegerAttr>("pdg.device");
  return device ? device.getInt() : 0;
}

struct RenameReplicasPass : impl::RenameReplicasBase<RenameReplicasPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto edges = module->getAttrOfType<ArrayAttr>("pdg.edges");
    if (!edges)
      return;
    // A copy has the number of the device that is not the first.
    DenseMap<Attribute, int64_t> replicas;
    module.walk([&](EdgeOpInterface op) {
      auto edge = dyn_cast<EdgeAttr>(op.getEdgeName());
      if (edge && edge.getFrom() == edge.getTo() && deviceOf(op) > 0)
        replicas[edge] = deviceOf(op);
    });
    DenseMap<Attribute, Attribute> renamed;
    DenseMap<std::pair<Attribute, int64_t>, int64_t> counts;
    SmallVector<Attribute> all;
    for (Attribute attribute : edges) {
      auto edge = cast<EdgeAttr>(attribute);
      if (auto replica = replicas.find(edge); replica != replicas.end())
        attribute = rename(edge, replica->second, counts);
      renamed[edge] = attribute;
      all.push_back(attribute);
    }
    module.walk([&](EdgeOpInterface op) {
      if (auto edge = cast_or_null<EdgeAttr>(renamed.lookup(op.getEdgeName())))
        op->setAttr("edge", edge);
    });
    module->setAttr("pdg.edges", ArrayAttr::get(&getContext(), all));
  }

  /// Edges of one name and kind are numbered.
  EdgeAttr rename(EdgeAttr edge, int64_t replica,
                  DenseMap<std::pair<Attribute, int64_t>, int64_t> &counts) {
    NameAttr name = edge.getSubject();
    name = NameAttr::get(&getContext(), name.getPath(), name.getState(), name.getSlice(), replica);
    int64_t number = counts[{name, static_cast<int64_t>(edge.getKind())}]++;
    return EdgeAttr::get(&getContext(), name, edge.getKind(), number, edge.getFrom(), edge.getTo(),
                         edge.getFirst());
  }
};

} // namespace
} // namespace pdg
