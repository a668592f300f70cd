// Where every value lives: at a fixed place of one arena, in a variable, or where the runtime says.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dims.h"
#include "ir/interfaces.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace pdg {

/// The place of a value's elements.
struct Place {
  enum Kind {
    Arena,    ///< `offset` bytes into the arena.
    Variable, ///< In the variable `name`.
    Bound,    ///< Given by the runtime while the program runs (fields of a batch, inputs).
    Constant  ///< In the module.
  } kind = Arena;
  int64_t offset = 0;
  mlir::Attribute name;
};

/// The plan of one module after pdg-fuse.
///
/// Values of the arena share memory when their lifetimes are apart: a value lives from the op that
/// makes it to its last user, or, if that is inside a loop around which it was made, to the loop's
/// end. Results of loops are in the place of what is carried, that is in the place of what it began
/// as, and an op that changes some elements of a value (`UpdateOpInterface`) is in the place of the
/// value, if nobody needs the old elements any more. A read of a variable is the variable itself if
/// it is not assigned while the value lives, and a fused group writes into the variable that its
/// result is assigned to when nobody needs the old elements any more. Offsets by first fit in order
/// of size (as in "Efficient Memory Management for Deep Neural Net Inference", Y. Pisarchyk and J.
/// Lee, 2020).
class MemoryPlan {
public:
  MemoryPlan(mlir::ModuleOp module, ShapeAnalysis &shapes) : module_(module), shapes_(shapes) {}

  /// Makes the plan. Fails with an error at an op whose result has no known bound.
  mlir::LogicalResult build();

  /// The value whose elements `value` shows: itself, or what views lead to.
  mlir::Value rootOf(mlir::Value value) const;
  /// The place of `value`'s root.
  Place placeOf(mlir::Value value) const;
  /// True if the value of this pdg.assign is computed in the variable.
  bool isInPlace(mlir::Operation *assign) const { return inPlace_.contains(assign); }
  int64_t arenaBytes() const { return bytes_; }

private:
  struct Interval {
    mlir::Value value;
    int64_t begin, end, bytes, offset;
  };

  void findSizes();
  mlir::LogicalResult checkRegions();
  void number(mlir::Operation *op);
  void planReads();
  void planAssigns();
  void planUpdates();
  bool canAlias(mlir::Operation *read);
  bool canComputeInPlace(mlir::Operation *assign, mlir::Operation *maker);
  bool canTakeOver(mlir::OpOperand &use) const;
  static std::optional<std::pair<mlir::BlockArgument, mlir::OpResult>>
  carriedBy(mlir::OpOperand &use);
  llvm::SmallVector<mlir::Value> shownBy(mlir::OpOperand &use) const;
  int64_t lastUse(mlir::Value value, mlir::Block *block) const;
  void forEachUse(mlir::Value value, llvm::function_ref<void(mlir::OpOperand &)> visit) const;
  mlir::LogicalResult addInterval(mlir::Value value, int64_t begin, int64_t end);
  mlir::LogicalResult addResults(mlir::Operation *op);
  mlir::LogicalResult addArguments(mlir::Operation *op);
  void pack();

  mlir::ModuleOp module_;
  ShapeAnalysis &shapes_;
  llvm::DenseMap<mlir::Operation *, int64_t> begin_, end_;
  int64_t next_ = 0;
  llvm::DenseMap<mlir::Value, mlir::Value> shared_; ///< The value in whose place one is.
  llvm::DenseMap<mlir::Value, Place> places_;
  llvm::DenseSet<mlir::Operation *> inPlace_;
  llvm::DenseSet<mlir::Value> sizes_; ///< Scalars that are sizes of other values.
  std::vector<Interval> intervals_;
  int64_t bytes_ = 0;
};

} // namespace pdg
