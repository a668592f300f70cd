// What the iterations of a loop contribute to a gradient is summed with common leaves.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace pdg {

/// Replaces every `pdg.contribute` of `module`: by sums that go on with the leaves that a loop
/// carries, joined once after the outermost loop, or else by an addition. No gradient is to be
/// taken afterwards.
void shareLeaves(mlir::ModuleOp module);

} // namespace pdg
