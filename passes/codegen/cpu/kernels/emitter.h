// Short names for the operations that kernels are made of: i64 arithmetic that folds, pointers,
// 1-D vectors with masks, loops. Keeps generators readable as loop nests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/codegen/jit/target_info.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

#include <functional>
#include <optional>

namespace pdg {

using mlir::Value;
using mlir::ValueRange;
using Values = llvm::SmallVector<Value>;

/// Emits operations on one element type for one target, at the current insertion point.
class Emitter {
public:
  Emitter(mlir::OpBuilder &builder, mlir::Location loc, bool isF64, const TargetInfo &target);

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type elem;      ///< f32 or f64.
  int bytes;            ///< Size of an element.
  int vl;               ///< Elements of a vector.
  mlir::VectorType vec; ///< vector<vl x elem>.
  mlir::Type i64, ptr;

  // Integers. Constants fold, and x + 0 and x * 1 vanish, so static sizes leave no arithmetic.
  Value c(int64_t value);
  static std::optional<int64_t> constant(Value value);
  Value add(Value x, Value y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value div(Value x, Value y); ///< Of non-negative numbers, rounded down.
  Value rem(Value x, Value y); ///< Of non-negative numbers.
  Value min(Value x, Value y);
  Value max(Value x, Value y);
  Value less(Value x, Value y);
  Value equal(Value x, Value y);
  Value both(Value x, Value y);
  Value select(Value condition, Value x, Value y);

  // Memory. Offsets count elements.
  Value at(Value pointer, Value offset);
  Value at(Value pointer, int64_t offset) { return at(pointer, c(offset)); }
  Value loadScalar(Value pointer);
  void storeScalar(Value value, Value pointer);
  /// Loads a vector; with a mask, absent lanes are +0 and are not read.
  Value load(Value pointer, Value mask = {});
  void store(Value value, Value pointer, Value mask = {});
  /// Loads lane l from `pointer + l * stride`.
  Value gather(Value pointer, Value stride, Value mask = {});
  /// Loads lane l from `pointer + offsets[l]`.
  Value gather(Value pointer, llvm::ArrayRef<int64_t> offsets, Value mask);
  /// Loads lane l from `pointer + offsets[l]`, where `offsets` is a vector of i64.
  Value gatherAt(Value pointer, Value offsets, Value mask);

  // Vectors.
  Value zero(); ///< A vector of +0.
  Value broadcast(Value scalar);
  Value fma(Value x, Value y, Value z);
  Value addF(Value x, Value y);
  Value relu(Value x);
  Value shuffle(Value x, Value y, llvm::ArrayRef<int64_t> lanes);
  /// Lanes below `count`; null, which means all lanes, if `count` is a constant >= vl.
  Value maskBelow(Value count);
  /// A mask that is known; null if all lanes are present.
  Value constantMask(llvm::ArrayRef<bool> lanes);

  /// Loops over i = lo, lo + step, ... < hi; a loop that is known to run never or once leaves no
  /// loop. Returns the final values of `init`.
  Values loop(Value lo, Value hi, int64_t step, ValueRange init,
              llvm::function_ref<Values(Value, ValueRange)> body);
  void loop(Value lo, Value hi, int64_t step, llvm::function_ref<void(Value)> body);
  /// Emits `body` under `condition`, which may be known.
  void when(Value condition, llvm::function_ref<void()> body);
  /// Emits a choice between two lists of values of the same types.
  Values choose(Value condition, llvm::function_ref<Values()> then,
                llvm::function_ref<Values()> otherwise);
};

/// Starts `void name(types...)` at the end of `module`, with `builder` at the start of its body and
/// a return at its end.
mlir::LLVM::LLVMFuncOp startFunction(mlir::ModuleOp module, llvm::StringRef name,
                                     llvm::ArrayRef<mlir::Type> arguments,
                                     mlir::OpBuilder &builder);

} // namespace pdg
