// Replaces sizes of intermediate values by the sizes of what they come from, so that asking for a
// size never keeps a value alive.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dims.h"
#include "ir/expr.h"
#include "ir/ops/shape.h"
#include "passes/passes.h"

namespace pdg {
#define GEN_PASS_DEF_SIMPLIFYSIZES
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

struct SimplifySizesPass : impl::SimplifySizesBase<SimplifySizesPass> {
  void runOnOperation() override {
    ShapeAnalysis shapes;
    SmallVector<std::pair<DimOp, AffineExpr>> sizes;
    getOperation()->walk(
        [&](DimOp op) { sizes.push_back({op, shapes.dimsOf(op.getX())[op.getAxis()]}); });
    for (auto [op, size] : sizes) {
      OpBuilder b(op);
      if (auto constant = dyn_cast<AffineConstantExpr>(size)) {
        op.replaceAllUsesWith(sizeConstant(b, op.getLoc(), constant.getValue()));
        continue;
      }
      auto symbol = dyn_cast<AffineSymbolExpr>(size);
      if (!symbol)
        continue;
      const SizeSymbol &source = shapes.symbols()[symbol.getPosition()];
      if (source.isScalar)
        op.replaceAllUsesWith(source.value);
      else
        op.getXMutable().assign(source.value), op.setAxis(0);
    }
    for (auto [op, size] : sizes)
      if (op.use_empty())
        op.erase();
  }
};

} // namespace
} // namespace pdg
