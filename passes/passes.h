// All passes: declared in passes.td, one .cpp each in the folders below.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dialect.h"

#include "ir/dialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace pdg {

#define GEN_PASS_DECL
#include "passes/passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/passes.h.inc"

} // namespace pdg
