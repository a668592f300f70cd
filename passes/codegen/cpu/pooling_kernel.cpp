// Pooling and its gradients as calls of pooling kernels.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "passes/codegen/cpu/kernels/gemm.h"
#include "passes/codegen/cpu/kernels/pool.h"
#include "passes/codegen/cpu/window_kernels.h"

using namespace mlir;

namespace pdg {

static PoolSpec::Kind kindOf(PoolingRule::Kind kind) {
  switch (kind) {
  case PoolingRule::Max:
    return PoolSpec::Max;
  case PoolingRule::MaxAt:
    return PoolSpec::MaxAt;
  case PoolingRule::MaxGrad:
    return PoolSpec::MaxGrad;
  case PoolingRule::Sum:
    return PoolSpec::Sum;
  case PoolingRule::SumGrad:
    return PoolSpec::SumGrad;
  }
  llvm_unreachable("no other pooling");
}

Kernel buildPoolingKernel(PoolOpInterface op, KernelBuilder &k) {
  PoolingRule form = op.getPoolingRule();
  const WindowShape &window = form.window;
  bool isGradient = form.kind == PoolingRule::MaxGrad || form.kind == PoolingRule::SumGrad;
  Value picture = isGradient ? op->getResult(0) : op->getOperand(0);
  auto type = cast<RankedTensorType>(picture.getType());
  PoolSpec spec;
  spec.kind = kindOf(form.kind);
  spec.isF64 = type.getElementType().isF64();
  spec.height = type.getDimSize(2), spec.width = type.getDimSize(3);
  spec.windowH = window.size[0], spec.windowW = window.size[1];
  spec.strideH = window.stride[0], spec.strideW = window.stride[1];
  spec.padTop = window.before[0], spec.padBottom = window.after[0];
  spec.padLeft = window.before[1], spec.padRight = window.after[1];

  LLVM::LLVMFuncOp kernel = emitPool(k.module, spec, k.target);
  Value first = k.address(op->getOperand(0)), out = k.address(op->getResult(0));
  Value second = op->getNumOperands() > 1 ? k.address(op->getOperand(1))
                                          : Value(LLVM::ZeroOp::create(k.b, k.loc, k.ptr));
  Dims dims = k.shapes.dimsOf(picture);
  AffineExpr planes = dims[0] * dims[1];
  auto [lo, hi] = emitTaskRange(k.b, k.loc, k.size(planes), 1, k.task, k.tasks);
  LLVM::CallOp::create(k.b, k.loc, kernel, ValueRange{first, second, out, lo, hi});
  return k.finish(planes * (spec.height * spec.width), true);
}

} // namespace pdg
