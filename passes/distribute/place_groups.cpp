// Tensors first, then what only one group uses.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/place_groups.h"
#include "passes/distribute/place_homes.h"

using namespace mlir;

namespace pdg {

Grouping::Grouping(PlaceGraph &graph, Variables &variables, ArrayRef<bool> onServer)
    : graph_(graph), variables_(variables), nodes_(graph.nodes().size()),
      classes_(nodes_ + variables.all().size()) {
  tieTensors(onServer);
  tieOthers();
}

/// Whether more than one element goes in or comes out.
bool Grouping::isLarge(const PlaceNode &node) const {
  auto isTensor = [&](Value value) { return !graph_.isAnywhere(value) && !isOneElement(value); };
  return llvm::any_of(node.results(), isTensor) || llvm::any_of(node.operands, isTensor);
}

void Grouping::tieTensors(ArrayRef<bool> onServer) {
  auto nodes = graph_.nodes();
  DenseMap<Value, unsigned> firstUsers;
  for (auto [i, node] : llvm::enumerate(nodes)) {
    if (!onServer[i])
      continue;
    if (int variable = node.isSlot() ? -1 : variables_.touchedBy(node.op); variable >= 0)
      classes_.join(i, nodes_ + variable);
    for (Value operand : node.operands) {
      int from = graph_.producerOf(operand);
      if (graph_.isAnywhere(operand))
        continue;
      if (from < 0 || !onServer[from]) {
        // Two that need a tensor of the trainers are better on one server, which it is sent to.
        auto [first, isNew] = firstUsers.try_emplace(operand, i);
        if (!isNew && !isOneElement(operand))
          flows_.push_back({first->second, static_cast<unsigned>(i), graph_.bytesOf(operand)});
        continue;
      }
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

/// Gives classes without variables to the one class with variables that they have to do with:
/// tensors that are made of the same gradient, and then numbers, as the steps of one Adam.
void Grouping::tieOthers() {
  auto nodes = graph_.nodes();
  unsigned count = classes_.getNumClasses();
  group_ = llvm::to_vector<0>(llvm::seq<unsigned>(0, count));
  SmallVector<bool, 0> hasTensor(count), hasVariable(count);
  for (auto [i, node] : llvm::enumerate(nodes))
    hasTensor[classes_[i]] = hasTensor[classes_[i]] || isLarge(node);
  for (unsigned v = 0; v < variables_.all().size(); ++v)
    hasVariable[classes_[nodes_ + v]] = true;
  constexpr unsigned Several = ~0u;
  auto give = [&](llvm::function_ref<bool(unsigned from, unsigned to)> mayBelong) {
    DenseMap<unsigned, unsigned> owners;
    auto meet = [&](unsigned from, unsigned to) {
      if (from == to || !mayBelong(from, to))
        return;
      auto [owner, isNew] = owners.try_emplace(from, group_[to]);
      if (owner->second != group_[to])
        owner->second = Several;
    };
    for (const Flow &flow : flows_) {
      meet(classes_[flow.from], classes_[flow.to]);
      meet(classes_[flow.to], classes_[flow.from]);
    }
    for (auto [from, owner] : owners)
      if (owner != Several)
        group_[from] = owner;
  };
  give([&](unsigned from, unsigned to) {
    return hasTensor[from] && !hasVariable[from] && hasTensor[to] && hasVariable[to];
  });
  give([&](unsigned from, unsigned to) {
    return !hasTensor[from] && hasTensor[to] && hasVariable[group_[to]];
  });
}

} // namespace pdg
