// Which role of a cluster runs which op of a placed program, and who needs which value: found
// before anything is rewritten. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dialect.h"
#include "ir/dims.h"
#include "ir/ops/control.h"
#include "passes/distribute/place_graph.h"
#include "passes/distribute/region_values.h"

#include "llvm/ADT/DenseMap.h"

namespace pdg {

/// A role as a number: 0 is all trainers, 1 + k is server k.
using RoleId = unsigned;
inline constexpr RoleId TrainerRole = 0;
/// The place of what each role computes that needs it.
inline constexpr RoleId Anywhere = ~0u;

RoleId roleId(RoleAttr role);
RoleAttr roleAttr(RoleId role, mlir::MLIRContext *context);

/// Roles in increasing order, none twice.
class RoleSet {
public:
  /// False if it was there already.
  bool insert(RoleId role);
  bool contains(RoleId role) const { return llvm::is_contained(roles_, role); }
  auto begin() const { return roles_.begin(); }
  auto end() const { return roles_.end(); }
  size_t size() const { return roles_.size(); }

private:
  llvm::SmallVector<RoleId, 2> roles_;
};

/// Whether `op` is a loop over batches: only trainers read data.
bool isDataLoop(mlir::Operation *op);

/// The value that says whether a loop goes on, or null.
mlir::Value goesOnOf(mlir::Block &block);

/// Walks from the ops with effects to what they need. What nobody needs has no role.
class RoleAnalysis {
public:
  /// Requires: `cluster` is the one of the program's module.
  explicit RoleAnalysis(ClusterAttr cluster) : cluster_(cluster) {}
  mlir::LogicalResult run(ProgramOp program);

  /// The role that has `value` first, or Anywhere.
  RoleId placeOf(mlir::Value value) const;
  /// The roles that run `op`; those that have a copy of it, if it is a loop or a condition.
  const RoleSet &rolesOf(mlir::Operation *op) const { return at(runs_, op); }
  /// The roles that need `value`, among them the one that sends it.
  const RoleSet &needing(mlir::Value value) const { return at(needs_, value); }
  /// The sizes of `value` that only the run knows, in order.
  llvm::SmallVector<mlir::Value> sizesOf(mlir::Value value);
  /// The largest value of a scalar i64, if one is known.
  std::optional<int64_t> boundOf(mlir::Value scalar);

private:
  template <typename Key> using Roles = llvm::DenseMap<Key, RoleSet>;
  template <typename Key> static const RoleSet &at(const Roles<Key> &roles, Key key) {
    static const RoleSet none;
    auto found = roles.find(key);
    return found == roles.end() ? none : found->second;
  }

  void findHubs(ProgramOp program);
  RoleId chooseHub(mlir::Operation *collective);
  RoleId placeOfSlot(mlir::Operation *control, unsigned index) const;
  void need(mlir::Value value, RoleId role);
  void process(mlir::Value value, RoleId role);
  void needSlot(mlir::Operation *control, unsigned index, RoleId role);
  void runOp(mlir::Operation *op, RoleId role);
  void takePart(mlir::Operation *inside, RoleId role);
  mlir::Value sizeOf(mlir::Value value, int64_t axis);
  mlir::LogicalResult check(ProgramOp program);
  mlir::LogicalResult checkSent(ProgramOp program);

  ClusterAttr cluster_;
  ShapeAnalysis shapes_;
  Roles<mlir::Operation *> runs_;
  Roles<mlir::Value> needs_;
  llvm::SmallVector<std::pair<mlir::Value, RoleId>> work_;
  llvm::DenseMap<mlir::Operation *, RoleId> hubs_; ///< Where collective ops are joined.
  llvm::SmallVector<int64_t> hubLoads_;            ///< Bytes that each server joins.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> sizes_;
};

} // namespace pdg
