// Tensors first, then the numbers that only one group uses.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/place_groups.h"
#include "passes/distribute/place_homes.h"

using namespace mlir;

namespace pdg {

Grouping::Grouping(PlaceGraph &graph, Variables &variables, ArrayRef<bool> onServer)
    : graph_(graph), variables_(variables), nodes_(graph.nodes().size()),
      classes_(nodes_ + variables.all().size()) {
  tieTensors(onServer);
  tieNumbers();
}

/// Whether more than one element goes in or comes out.
bool Grouping::isLarge(const PlaceNode &node) const {
  auto isTensor = [&](Value value) { return !graph_.isAnywhere(value) && !isOneElement(value); };
  return llvm::any_of(node.results(), isTensor) || llvm::any_of(node.operands, isTensor);
}

void Grouping::tieTensors(ArrayRef<bool> onServer) {
  auto nodes = graph_.nodes();
  for (auto [i, node] : llvm::enumerate(nodes)) {
    if (!onServer[i])
      continue;
    if (int variable = node.isSlot() ? -1 : variables_.touchedBy(node.op); variable >= 0)
      classes_.join(i, nodes_ + variable);
    for (Value operand : node.operands) {
      int from = graph_.producerOf(operand);
      if (from < 0 || !onServer[from] || nodes[from].isAnywhere)
        continue;
      flows_.push_back(
          {static_cast<unsigned>(from), static_cast<unsigned>(i), graph_.bytesOf(operand)});
      if (!node.isSlot() && node.op->hasAttr(kJoinsSlices))
        continue;
      if (!isOneElement(operand) || (!isLarge(node) && !isLarge(nodes[from])))
        classes_.join(from, i);
    }
  }
  classes_.compress();
}

/// Numbers that only one group of variables uses belong to it: the number of steps of one Adam.
void Grouping::tieNumbers() {
  auto nodes = graph_.nodes();
  group_ = llvm::to_vector<0>(llvm::seq<unsigned>(0, classes_.getNumClasses()));
  SmallVector<bool, 0> hasTensor(group_.size()), hasVariable(group_.size());
  for (auto [i, node] : llvm::enumerate(nodes))
    hasTensor[classes_[i]] = hasTensor[classes_[i]] || isLarge(node);
  for (unsigned v = 0; v < variables_.all().size(); ++v)
    hasVariable[classes_[nodes_ + v]] = true;
  constexpr int None = -1, Several = -2;
  SmallVector<int, 0> owner(group_.size(), None);
  auto meet = [&](unsigned numbers, unsigned tensors) {
    if (hasTensor[numbers] || !hasTensor[tensors] || !hasVariable[tensors])
      return;
    int &now = owner[numbers];
    now = now == None || now == static_cast<int>(tensors) ? static_cast<int>(tensors) : Several;
  };
  for (const Flow &flow : flows_) {
    meet(classes_[flow.from], classes_[flow.to]);
    meet(classes_[flow.to], classes_[flow.from]);
  }
  for (auto [group, owned] : llvm::zip(group_, owner))
    if (owned >= 0)
      group = owned;
}

} // namespace pdg
