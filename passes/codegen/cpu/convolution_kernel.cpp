// Convolutions and their gradients as calls of convolution kernels.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "passes/codegen/cpu/kernel.h"
#include "passes/codegen/cpu/kernels/conv.h"

using namespace mlir;

namespace pdg {

/// The static sizes of a convolution of pictures `x` by `w`. Fails when a size but the number of
/// examples is known only to the run.
static FailureOr<ConvSpec> specOf(ConvolutionOpInterface op, Value x, Value w) {
  auto picture = cast<RankedTensorType>(x.getType());
  auto weights = cast<RankedTensorType>(w.getType());
  if (!weights.hasStaticShape() || llvm::any_of(picture.getShape().drop_front(), [](int64_t size) {
        return ShapedType::isDynamic(size);
      }))
    return op->emitOpError("expects channels, heights and widths that are known when compiling");
  Window window = op.getConvolutionForm().window;
  ConvSpec spec{};
  spec.isF64 = picture.getElementType().isF64();
  spec.channels = picture.getDimSize(1);
  spec.height = picture.getDimSize(2);
  spec.width = picture.getDimSize(3);
  spec.filters = weights.getDimSize(0);
  spec.kernelH = weights.getDimSize(2);
  spec.kernelW = weights.getDimSize(3);
  spec.strideH = window.stride[0];
  spec.strideW = window.stride[1];
  spec.padH = window.padding[0];
  spec.padW = window.padding[1];
  return spec;
}

FailureOr<Kernel> buildConvolutionKernel(ConvolutionOpInterface op, KernelBuilder &k) {
  ConvolutionForm::Kind kind = op.getConvolutionForm().kind;
  // Operands: Forward x, w; InputGrad g, w, x; WeightGrad x, g, w.
  Value picture = op->getOperand(kind == ConvolutionForm::InputGrad ? 2 : 0);
  Value weights = op->getOperand(kind == ConvolutionForm::WeightGrad ? 2 : 1);
  FailureOr<ConvSpec> spec = specOf(op, picture, weights);
  if (failed(spec))
    return failure();
  AffineExpr examples = k.shapes.dimsOf(picture)[0];
  Value first = k.address(op->getOperand(0)), second = k.address(op->getOperand(1));
  Value out = k.address(op->getResult(0)), n = k.size(examples);
  Value none = LLVM::ZeroOp::create(k.b, k.loc, k.ptr);
  AffineExpr cost = examples * (spec->outPixels() * spec->terms() * spec->filters);
  if (kind == ConvolutionForm::WeightGrad) {
    LLVM::LLVMFuncOp kernel = emitConvWeightGrad(k.module, *spec, k.target);
    Value work = k.work(convWeightGradWorkBytes(*spec, k.target));
    auto [lo, hi] = emitTaskRange(k.b, k.loc, k.c(spec->terms()),
                                  convWeightGradStep(*spec, k.target), k.task, k.tasks);
    LLVM::CallOp::create(k.b, k.loc, kernel,
                         ValueRange{first, second, out, work, n, k.leafCount(n), lo, hi});
    return k.finish(cost, true);
  }
  auto [lo, hi] = emitTaskRange(k.b, k.loc, n, 1, k.task, k.tasks);
  if (kind == ConvolutionForm::Forward) {
    LLVM::LLVMFuncOp kernel = emitConvForward(k.module, *spec, k.target);
    Value work = k.work(convForwardWorkBytes(*spec, k.target));
    LLVM::CallOp::create(k.b, k.loc, kernel, ValueRange{first, second, out, none, work, lo, hi});
  } else {
    LLVM::LLVMFuncOp kernel = emitConvInputGrad(k.module, *spec, k.target);
    Value work = k.work(convInputGradWorkBytes(*spec, k.target));
    LLVM::CallOp::create(k.b, k.loc, kernel, ValueRange{first, second, out, work, lo, hi});
  }
  return k.finish(cost, true);
}

} // namespace pdg
