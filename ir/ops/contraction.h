// The op classes of ir/ops/contraction.td.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dialect.h"

namespace pdg {

/// The sizes of the result of a contraction by `text`, from those of its operands.
mlir::FailureOr<Dims> contractionDims(llvm::StringRef text, llvm::ArrayRef<Dims> dims,
                                      ShapeRule &rule);

/// The indices of the rule `text`, which is one; `leaves` says that the first summed one is cut.
ContractionRule parseContraction(llvm::StringRef text, bool leaves);

/// True if the first summed index of `text` is axis 0 of both operands, or only batches are before
/// it.
bool canCutContraction(llvm::StringRef text);

} // namespace pdg

#define GET_OP_CLASSES
#include "ir/ops/contraction.h.inc"
