// What built-in functions that fold axes share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/builtins.h"

namespace pdg {

/// The operand and arguments that all reductions have: x, axis?, keep?.
struct Reduction {
  mlir::Value x;
  llvm::SmallVector<int64_t> axes;
  bool keep = false;
};

/// Reads them; nothing after an error.
std::optional<Reduction> readReduction(BuiltinCall &call);

/// `value`, whose axes `axes` of `original` are gone, with these as axes of size 1.
mlir::Value keepAxes(BuiltinCall &call, mlir::Value value, mlir::Value original,
                     llvm::ArrayRef<int64_t> axes);

/// The sum over the axes.
mlir::Value sumOfAxes(BuiltinCall &call, const Reduction &reduction);

/// The sum over the axes divided by the number of elements; of floats.
mlir::Value meanOfAxes(BuiltinCall &call, const Reduction &reduction);

} // namespace pdg
