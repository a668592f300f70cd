// The pdg dialect and its attributes. Op classes are in ir/ops/<group>.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/interfaces.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "ir/dialect.h.inc"
#include "ir/enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/attrs.h.inc"

namespace pdg {

/// Registers a group of ops with the dialect when the program starts: each ir/ops/<group>.cpp has
/// one.
struct OpGroup {
  explicit OpGroup(void (*add)(PdgDialect &dialect));
};

/// The memory that reads and assignments of variables touch.
struct VariableResource : mlir::SideEffects::Resource::Base<VariableResource> {
  llvm::StringRef getName() final { return "pdg.variable"; }
};

/// What prints, fetches and asserts write to: their order stays.
struct OutsideResource : mlir::SideEffects::Resource::Base<OutsideResource> {
  llvm::StringRef getName() final { return "pdg.outside"; }
};

/// What messages between roles go through: their order stays.
struct ExchangeResource : mlir::SideEffects::Resource::Base<ExchangeResource> {
  llvm::StringRef getName() final { return "pdg.exchange"; }
};

} // namespace pdg
