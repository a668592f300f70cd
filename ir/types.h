// The element types of pdg tensors as MLIR types, and questions about them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/base/dtype.h"

#include "mlir/IR/BuiltinTypes.h"

namespace pdg {

/// The element type that MLIR has for `dtype` (`bool` is i1, `u8` is ui8).
mlir::Type elementType(mlir::MLIRContext *context, DType dtype);

/// The pdg element type of `type`, a tensor or an element type; nullopt if pdg has no such type.
std::optional<DType> toDType(mlir::Type type);

/// The type that holds an element of `type` in a register: `ui8` becomes `i8`, bf16 and f16 the i16
/// of their bits, others stay.
mlir::Type registerType(mlir::Type type);

/// True for ranked tensors that ops compute with: of any element type but bf16, f16 and i8, which
/// are stored and converted only.
bool isPdgTensor(mlir::Type type);
bool isFloatTensor(mlir::Type type);  ///< f32, f64.
bool isIntTensor(mlir::Type type);    ///< i32, i64, u8; not bool.
bool isNumberTensor(mlir::Type type); ///< Floats and integers.
bool isBoolTensor(mlir::Type type);
bool isSizeTensor(mlir::Type type);      ///< tensor<i64>.
bool isConditionTensor(mlir::Type type); ///< tensor<i1>.

/// The scalar tensor type with the element type of `type`.
mlir::RankedTensorType scalarOf(mlir::Type type);

} // namespace pdg
