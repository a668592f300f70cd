// Which values of a program are split into slices of a batch, found before anything is rewritten.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/interfaces.h"
#include "ir/ops/control.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace pdg {

/// In how many slices batches are cut, and how many processes share them. With one trainer the
/// result is an ordinary graph; with more, the program of each, in which it has its `copies`.
struct Slicing {
  int64_t slices = 1;
  int64_t trainers = 1;
  int64_t copies() const { return slices / trainers; }
};

/// How the batches of one loop over data are cut into slices.
struct Partition {
  ForEachOp loop;
  int64_t slices = 1;
  int64_t bound = 0;  ///< The largest number of examples in a batch.
  bool plain = false; ///< Slices are whole leaves, so that all sums keep their bits.
};

/// What is known of a value: whole (no partition), or split along `axis`, of which `rows` elements
/// belong to each example. Without rows it is leaves of a sum over examples, and each slice has as
/// many of its own.
struct Split {
  const Partition *partition = nullptr;
  int64_t axis = 0;
  int64_t rows = 1;
  explicit operator bool() const { return partition; }
  bool isLeaves() const { return partition && !rows; }
  bool operator==(const Split &) const = default;
};

/// How an op is computed on slices.
struct SlicedOp {
  FactorKind kind = FactorKind::Whole; ///< Whole: not on slices, its operands are gathered.
  int factor = -1;                     ///< The factor of the op's rule that is split.
  Split terms;                         ///< How the operands with this factor are split.
  Split result;                        ///< How the result is, if it is (Parallel).
  bool opensLeaves = false;            ///< Sum: on open leaves, as many as the slice may have.
};

/// Finds how each value is split.
class SplitStates {
public:
  explicit SplitStates(int64_t slices) : slices_(slices) {}
  void analyze(mlir::Block &block);

  Split of(mlir::Value value) const { return states_.lookup(value); }
  /// How `op`, which has no regions, is computed, from the states of its operands.
  SlicedOp planOf(mlir::Operation *op) const;
  /// The partition of the batches of `loop`, or null before it was analyzed.
  Partition *partitionOf(mlir::Operation *loop) const;

private:
  SlicedOp planLeaves(mlir::Operation *op, SlicedOp plan) const;
  bool isGivenLeaves(mlir::Operation *op) const;
  bool isGivenLeaves(mlir::ValueRange values, mlir::ValueRange like) const;
  bool keepWhole(mlir::Operation *op);
  void walk(mlir::Block &block, unsigned depth);
  void analyzeRegions(mlir::Operation *op, unsigned depth);
  bool agree(mlir::Operation *op, llvm::SmallVectorImpl<bool> &isFixed);
  void set(mlir::Value value, Split split);

  int64_t slices_;
  llvm::DenseSet<mlir::Value> wholeLeaves_; ///< Leaves that slices do not have.
  llvm::DenseMap<mlir::Value, Split> states_;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<Partition>> partitions_;
};

/// Whether all elements of `value` are +0.
bool isZero(mlir::Value value);

/// The operand that has `op`'s leaves before, by number, or -1.
int leavesOperand(mlir::Operation *op);

/// The axis of a tensor with these factors that has `factor`, or -1.
int64_t axisWithFactor(llvm::ArrayRef<int> factors, int factor);

} // namespace pdg
