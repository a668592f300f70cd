// Which variables are split over servers, proved from the ops that update them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/distribute/place_groups.h"
#include "passes/distribute/place_homes.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace pdg {

/// How the variables of one update are split.
struct ShardPlan {
  llvm::MapVector<unsigned, int64_t> variables; ///< By index; the axis of each that is split.
  llvm::MapVector<mlir::Value, int64_t> axes;   ///< Values that ops on slices give, and their axis.
  llvm::SetVector<mlir::Operation *> folds;     ///< Reductions of the split axis.
  llvm::SmallVector<int64_t> bounds; ///< Where slices begin along the axis, and its size.
  unsigned count() const { return bounds.size() - 1; }
};

/// Why something is not split: what needs all of it, and in which way.
struct ShardObstacle {
  mlir::Operation *op = nullptr;
  std::string text;
};

/// Proves that the updates of one group of variables can be made on slices: each op between what
/// comes in, the variables, and what is assigned has a sharding rule that passes slices through.
class ShardProver {
public:
  ShardProver(PlaceGraph &graph, Variables &variables, llvm::ArrayRef<bool> onServer,
              const Grouping &grouping, unsigned group)
      : graph_(graph), variables_(variables), onServer_(onServer), grouping_(grouping),
        group_(group) {}
  /// A plan for at most `count` slices of `leader` and its states along `axis`; none if
  /// `obstacle()` is in the way.
  std::optional<ShardPlan> prove(unsigned leader, int64_t axis, int64_t count);
  const ShardObstacle &obstacle() const { return obstacle_; }

private:
  bool fail(mlir::Operation *op, llvm::StringRef text);
  bool isOurs(int node) const;
  bool splitVariable(unsigned variable, int64_t axis, mlir::Operation *op);
  bool splitAssigned(unsigned variable, int64_t axis);
  bool split(mlir::Value value, int64_t axis);
  bool splitOp(mlir::Operation *op, int64_t axis);
  bool keepWhole(mlir::Value value);
  bool splitFold(mlir::Operation *op);
  bool setBounds(int64_t count);

  PlaceGraph &graph_;
  Variables &variables_;
  llvm::ArrayRef<bool> onServer_;
  const Grouping &grouping_;
  unsigned group_;
  int64_t size_ = 0; ///< Of the axis.
  ShardPlan plan_;
  llvm::SetVector<unsigned> pending_; ///< Variables whose assignments are still to be looked at.
  llvm::SmallVector<mlir::Operation *> wholeReads_;
  llvm::SetVector<mlir::Value> whole_;
  ShardObstacle obstacle_;
};

} // namespace pdg
