// The names of the edges on which values cross from role to role.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/distribute/insert_send_recv_roles.h"

namespace pdg {

/// A name made of the place in the script, "model.pdg:12:14", or `otherwise`.
NameAttr placeName(mlir::Location loc, llvm::StringRef otherwise);

/// Makes edges, no two of one name, and remembers them in order.
class EdgeNames {
public:
  /// Requires: `roles` analyzed `program`, and both outlive this.
  EdgeNames(ProgramOp program, const RoleAnalysis &roles);

  /// The edge on which `value` goes from the role that has it to another.
  EdgeAttr edgeOf(mlir::Value value, RoleId to);
  /// The edge on which all trainers send what `collective` joins.
  EdgeAttr partsOf(mlir::Operation *collective, RoleId to);
  /// The edge that tells a server whether there is another round of `loop`.
  EdgeAttr roundsOf(mlir::Operation *loop, RoleId to);

  llvm::ArrayRef<mlir::Attribute> edges() const { return edges_; }

private:
  struct Subject {
    NameAttr name;
    EdgeKind kind;
  };
  Subject subjectOf(mlir::Value value, RoleId to);
  EdgeAttr make(Subject subject, RoleId from, RoleId to, bool first);

  const RoleAnalysis &roles_;
  llvm::DenseMap<mlir::Attribute, mlir::Type> parameters_;
  llvm::DenseMap<std::pair<mlir::Attribute, int64_t>, int64_t> counts_;
  llvm::SmallVector<mlir::Attribute> edges_;
};

} // namespace pdg
