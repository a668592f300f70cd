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

/// Reads those of a reduction of numbers, or of bools; nothing after an error, which gives `hint`
/// if x is of another type.
std::optional<Reduction> readNumbers(BuiltinCall &call, const std::string &hint = "");
std::optional<Reduction> readBools(BuiltinCall &call, const std::string &hint);

/// Those of a reduction of floats; integers become f32.
std::optional<Reduction> readFloats(BuiltinCall &call);

/// `value`, whose axes `axes` of `original` are gone, with these as axes of size 1.
mlir::Value keepAxes(BuiltinCall &call, mlir::Value value, mlir::Value original,
                     llvm::ArrayRef<int64_t> axes);

/// `value`, which the reduction gave without its axes, with them if they stay; null becomes poison.
Datum kept(BuiltinCall &call, mlir::Value value, const Reduction &reduction);

/// The sum over the axes.
mlir::Value sumOfAxes(BuiltinCall &call, const Reduction &reduction);

/// The sum over the axes divided by the number of elements; of floats.
mlir::Value meanOfAxes(BuiltinCall &call, const Reduction &reduction);

} // namespace pdg
