// Maps pdg element types to MLIR's and back.
// SPDX-License-Identifier: Apache-2.0
#include "ir/types.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace pdg {

Type elementType(MLIRContext *context, DType dtype) {
  switch (dtype) {
  case DType::F32:
    return Float32Type::get(context);
  case DType::F64:
    return Float64Type::get(context);
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::F16:
    return Float16Type::get(context);
  case DType::I8:
    return IntegerType::get(context, 8);
  case DType::I32:
    return IntegerType::get(context, 32);
  case DType::I64:
    return IntegerType::get(context, 64);
  case DType::U8:
    return IntegerType::get(context, 8, IntegerType::Unsigned);
  case DType::Bool:
    return IntegerType::get(context, 1);
  }
  llvm_unreachable("a DType has nine values");
}

std::optional<DType> toDType(Type type) {
  type = getElementTypeOrSelf(type);
  for (DType dtype : {DType::F32, DType::F64, DType::I32, DType::I64, DType::U8, DType::Bool,
                      DType::BF16, DType::F16, DType::I8})
    if (elementType(type.getContext(), dtype) == type)
      return dtype;
  return std::nullopt;
}

Type registerType(Type type) {
  if (type.isBF16() || type.isF16())
    return IntegerType::get(type.getContext(), 16); // their bits: nothing computes with them
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isSignless())
    return type;
  return IntegerType::get(type.getContext(), integer.getWidth());
}

/// True for types that are stored and converted, but not computed with.
static bool isStorageType(DType dtype) {
  return dtype == DType::BF16 || dtype == DType::F16 || dtype == DType::I8;
}

bool isPdgTensor(Type type) {
  auto dtype = isa<RankedTensorType>(type) ? toDType(type) : std::nullopt;
  return dtype && !isStorageType(*dtype);
}

bool isFloatTensor(Type type) {
  return isPdgTensor(type) && isa<FloatType>(getElementTypeOrSelf(type));
}

bool isBoolTensor(Type type) {
  return isPdgTensor(type) && getElementTypeOrSelf(type).isSignlessInteger(1);
}

bool isIntTensor(Type type) {
  return isPdgTensor(type) && isa<IntegerType>(getElementTypeOrSelf(type)) && !isBoolTensor(type);
}

bool isNumberTensor(Type type) { return isFloatTensor(type) || isIntTensor(type); }

static bool isScalarOf(Type type, unsigned width) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 && tensor.getElementType().isSignlessInteger(width);
}

bool isSizeTensor(Type type) { return isScalarOf(type, 64); }
bool isConditionTensor(Type type) { return isScalarOf(type, 1); }

RankedTensorType scalarOf(Type type) {
  return RankedTensorType::get({}, getElementTypeOrSelf(type));
}

} // namespace pdg
