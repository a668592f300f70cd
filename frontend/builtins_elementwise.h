// What built-in functions that work on each element are made of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/builtins.h"
#include "ir/math/functions.h"

namespace pdg {

/// A number that is known when compiling, as formulas take it.
using Float = Scalar<double>;

/// A function of floats; of a number that is known when compiling it is a number too.
template <class OpTy, Float (*fold)(Float)> Datum floatFunction(BuiltinCall &call) {
  if (auto *number = call.value(0).get<double>())
    return fold(Float{*number}).value;
  if (auto *number = call.value(0).get<int64_t>())
    return fold(Float{static_cast<double>(*number)}).value;
  mlir::Value x = call.floats(0);
  return x ? result(call.emit.make<OpTy>(call.span, x)) : Datum(Poison());
}

/// The operands from `first` on as tensors of one element type and shape; false after an error.
bool commonOperands(BuiltinCall &call, size_t first, llvm::SmallVectorImpl<TensorOperand> &out);

/// Turns a template over values into a function that the table can name.
#define PDG_FLOAT_FUNCTION(name, op, doc, example)                                                 \
  {#name, "x", floatFunction<op, [](Float x) { return name(x); }>, doc, example}

} // namespace pdg
