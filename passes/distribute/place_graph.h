// A program as a graph of values that are placed: its ops, and what loops and conditions carry.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dialect.h"
#include "ir/dims.h"
#include "ir/ops/control.h"

#include "llvm/ADT/DenseMap.h"

namespace pdg {

/// Whether `op` is a loop or a condition: it has no place, what it carries and gives has.
bool isLoopOrCondition(mlir::Operation *op);

/// One op of a program, or one value that a loop carries or a condition gives.
struct PlaceNode {
  mlir::Operation *op = nullptr;
  int slot = -1;                            ///< Of a loop or condition: which result; else -1.
  llvm::SmallVector<mlir::Value> operands;  ///< As `PlaceGraph::canonical` has them.
  llvm::SmallVector<mlir::Value> condition; ///< Slot: what decides how often, or which region.
  bool isElementWise = false;               ///< As cheap as moving the operands, or cheaper.
  bool isVarying = false;  ///< The results differ among trainers: they are parts of a batch.
  bool isAnywhere = false; ///< The results depend on nothing but counters and constants.
  bool isJoined = false;   ///< The results come from values that are on servers already.

  bool isSlot() const { return slot >= 0; }
  mlir::ValueRange results() const;
};

/// The nodes of a program in its order, and what is known of their results.
class PlaceGraph {
public:
  explicit PlaceGraph(ProgramOp program);

  llvm::MutableArrayRef<PlaceNode> nodes() { return nodes_; }
  /// The index of the node that gives `value`, or -1: an argument of a loop that it does not carry.
  int producerOf(mlir::Value value) const;
  /// The result of the loop that carries `value`, if it is an argument that is carried.
  static mlir::Value canonical(mlir::Value value);
  bool isAnywhere(mlir::Value value) const;
  bool isVarying(mlir::Value value) const;
  /// The largest number of bytes of `value`; a size that is not bounded counts as 1024.
  int64_t bytesOf(mlir::Value value);
  /// An estimate of how often `op` runs: a loop has 16 rounds.
  static int64_t frequencyOf(mlir::Operation *op);

private:
  void addBlock(mlir::Block &block);
  void addOp(mlir::Operation *op);
  void addSlots(mlir::Operation *op);
  bool isJoinedRoot(const PlaceNode &node) const;
  bool spreadVarying();
  bool spreadPlaced();
  bool spreadJoined();

  llvm::SmallVector<PlaceNode, 0> nodes_;
  llvm::DenseMap<mlir::Value, int> producers_;
  llvm::DenseSet<mlir::Attribute> params_; ///< Names of variables that are parameters.
  ShapeAnalysis shapes_;
};

/// Whether `op` joins values of several trainers: its result is on a server first.
bool joinsTrainers(mlir::Operation *op);

/// Whether `value` has one element.
bool isOneElement(mlir::Value value);

} // namespace pdg
