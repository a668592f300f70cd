// What one update works on: nodes and variables that stay together on one server.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/distribute/place_graph.h"

#include "llvm/ADT/IntEqClasses.h"

namespace pdg {

class Variables;

/// A value that flows from one node on servers to another, or from trainers to both.
struct Flow {
  unsigned from, to;
  int64_t bytes;
};

/// Nodes and variables in groups, found by def-use. Tensors that flow from op to op tie these
/// together; a single number does only if one group alone uses it, so that a common norm or step
/// does not tie all variables.
class Grouping {
public:
  Grouping(PlaceGraph &graph, Variables &variables, llvm::ArrayRef<bool> onServer);
  unsigned ofNode(unsigned node) const { return group_[classes_[node]]; }
  unsigned ofVariable(unsigned variable) const { return group_[classes_[nodes_ + variable]]; }
  /// Groups are less than this; some have nothing.
  unsigned count() const { return group_.size(); }
  llvm::ArrayRef<Flow> flows() const { return flows_; }

private:
  bool isLarge(const PlaceNode &node) const;
  void tieTensors(llvm::ArrayRef<bool> onServer);
  void tieOthers();

  PlaceGraph &graph_;
  Variables &variables_;
  unsigned nodes_;
  llvm::IntEqClasses classes_;           ///< Of nodes, then of variables.
  llvm::SmallVector<unsigned, 0> group_; ///< Of each class.
  llvm::SmallVector<Flow, 0> flows_;
};

/// Of an op that joins what slices of a variable give: its operands tie nothing together.
inline constexpr llvm::StringLiteral kJoinsSlices = "pdg.joins_slices";

} // namespace pdg
