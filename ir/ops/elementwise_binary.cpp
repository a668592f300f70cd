// The ops of elementwise_binary.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/elementwise_binary.h"
#include "ir/rules.h"

namespace pdg {

/// x % y as a size: it is below y, which bounds it. Nothing if y may be negative, since sizes have
/// no signs.
static mlir::AffineExpr positiveRemainder(mlir::AffineExpr x, mlir::AffineExpr y) {
  auto divisor = llvm::dyn_cast_or_null<mlir::AffineConstantExpr>(y);
  return x && divisor && divisor.getValue() > 0 ? x % y : mlir::AffineExpr();
}

} // namespace pdg

#define GET_OP_CLASSES
#include "ir/ops/elementwise_binary.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/elementwise_binary.cpp.inc"
      >();
});

namespace pdg {

/// True for a constant without zeros, perhaps repeated.
static bool isKnownNotZero(mlir::Value value) {
  while (auto uniform = value.getDefiningOp<ElementOpInterface>()) {
    if (!uniform.isUniform())
      return false;
    value = uniform->getOperand(0);
  }
  mlir::Attribute attribute;
  if (!matchPattern(value, mlir::m_Constant(&attribute)))
    return false;
  auto elements = llvm::dyn_cast<mlir::DenseIntElementsAttr>(attribute);
  return elements && llvm::none_of(elements.getValues<llvm::APInt>(),
                                   [](const llvm::APInt &element) { return element.isZero(); });
}

/// Integers cannot be divided by zero; floats give infinities and NaN.
static std::optional<RunCheck> divisorCheck(mlir::Operation *op) {
  if (isFloatTensor(op->getOperand(1).getType()) || isKnownNotZero(op->getOperand(1)))
    return std::nullopt;
  return RunCheck{RunCheck::NotZero, 1, 1, 0};
}

std::optional<RunCheck> FloorDivOp::getRunCheck() { return divisorCheck(*this); }
std::optional<RunCheck> ModOp::getRunCheck() { return divisorCheck(*this); }

} // namespace pdg
