// Convolutions and their gradients as calls of convolution kernels.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "passes/codegen/cpu/kernels/conv.h"
#include "passes/codegen/cpu/window_kernels.h"

using namespace mlir;

namespace pdg {

/// The static sizes of a convolution of pictures like `picture`.
static ConvSpec specOf(const ConvolutionRule &form, RankedTensorType picture, int64_t filters) {
  const WindowShape &window = form.window;
  ConvSpec spec{};
  spec.isF64 = picture.getElementType().isF64();
  spec.groups = form.groups;
  spec.channels = picture.getDimSize(1) / form.groups;
  spec.height = picture.getDimSize(2);
  spec.width = picture.getDimSize(3);
  spec.filters = filters / form.groups;
  spec.kernelH = window.size[0];
  spec.kernelW = window.size[1];
  spec.strideH = window.stride[0];
  spec.strideW = window.stride[1];
  spec.padTop = window.before[0];
  spec.padBottom = window.after[0];
  spec.padLeft = window.before[1];
  spec.padRight = window.after[1];
  spec.dilationH = window.dilation[0];
  spec.dilationW = window.dilation[1];
  return spec;
}

namespace {

/// One convolution op and the kernel that is built for it.
struct ConvolutionKernel {
  Operation *op;
  KernelBuilder &k;
  ConvSpec spec;

  RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
  AffineExpr examples() { return k.shapes.dimsOf(op->getOperand(0))[0]; }
  Value first() { return k.address(op->getOperand(0)); }
  Value second() { return k.address(op->getOperand(1)); }
  Value out() { return k.address(op->getResult(0)); }

  /// Which (example, group) the task computes.
  std::pair<Value, Value> parts() {
    return emitTaskRange(k.b, k.loc, k.size(examples() * spec.groups), 1, k.task, k.tasks);
  }

  Kernel finish() {
    AffineExpr perExample = getAffineConstantExpr(
        spec.groups * spec.outPixels() * spec.terms() * spec.filters, k.b.getContext());
    return k.finish(examples() * perExample, true);
  }

  Kernel forward(bool hasBias, bool relu) {
    spec.epilogue = hasBias ? (relu ? Epilogue::BiasRelu : Epilogue::Bias)
                            : (relu ? Epilogue::Relu : Epilogue::None);
    LLVM::LLVMFuncOp kernel = emitConvForward(k.module, spec, k.target);
    Value bias =
        hasBias ? k.address(op->getOperand(2)) : Value(LLVM::ZeroOp::create(k.b, k.loc, k.ptr));
    Value x = first(), w = second(), y = out();
    Value work = k.work(convForwardWorkBytes(spec, k.target));
    auto [lo, hi] = parts();
    LLVM::CallOp::create(k.b, k.loc, kernel, ValueRange{x, w, y, bias, work, lo, hi});
    return finish();
  }

  Kernel inputGrad() {
    LLVM::LLVMFuncOp kernel = emitConvInputGrad(k.module, spec, k.target);
    Value g = first(), w = second(), dx = out();
    Value work = k.work(convInputGradWorkBytes(spec, k.target));
    auto [lo, hi] = parts();
    LLVM::CallOp::create(k.b, k.loc, kernel, ValueRange{g, w, dx, work, lo, hi});
    return finish();
  }

  /// Tasks share the positions of the weights, or the groups if there are several. A sum with open
  /// leaves is a call for each leaf.
  Kernel weightGrad() {
    spec.accumulate = isa<UpdateOpInterface>(op);
    LLVM::LLVMFuncOp kernel = emitConvWeightGrad(k.module, spec, k.target);
    Value x = first(), g = second(), dw = out(), n = k.size(examples());
    Value work = k.work(convWeightGradWorkBytes(spec, k.target));
    Value none = k.c(0), filters = k.c(spec.filters), terms = k.c(spec.terms());
    Value leaves = k.leafCount(n), calls = k.c(1), perCall = n;
    if (spec.accumulate) {
      calls = k.leafCount(n, op->getResult(0));
      leaves = k.c(1);
      perCall = k.div(n, calls);
    }
    Type element = typeOf(op->getResult(0)).getElementType();
    auto part = [&](Value address, Value index, int64_t elements) {
      return k.pointerTo(address, element, k.mul(index, k.c(elements)));
    };
    int64_t weights = spec.groups * spec.filters * spec.terms();
    auto call = [&](Value group, Value f0, Value f1, Value q0, Value q1) {
      k.loop(none, calls, k.c(1), [&](Value leaf) {
        Value example = k.mul(leaf, perCall);
        Value from = part(x, example, spec.groups * spec.channels * spec.pixels());
        Value cotangent = part(g, example, spec.groups * spec.filters * spec.outPixels());
        LLVM::CallOp::create(
            k.b, k.loc, kernel,
            ValueRange{part(from, group, spec.channels * spec.pixels()),
                       part(cotangent, group, spec.filters * spec.outPixels()),
                       part(part(dw, leaf, weights), group, spec.filters * spec.terms()), work,
                       perCall, leaves, f0, f1, q0, q1});
      });
    };
    if (spec.groups == 1) {
      ConvWeightSplit split = convWeightGradSplit(spec, k.target);
      auto [lo, hi] =
          emitTaskRange(k.b, k.loc, split.filters ? filters : terms, split.step, k.task, k.tasks);
      Value f0 = split.filters ? lo : none, f1 = split.filters ? hi : filters;
      Value q0 = split.filters ? none : lo, q1 = split.filters ? terms : hi;
      k.when(k.less(lo, hi), [&] { call(none, f0, f1, q0, q1); });
      return finish();
    }
    auto [lo, hi] = emitTaskRange(k.b, k.loc, k.c(spec.groups), 1, k.task, k.tasks);
    k.loop(lo, hi, k.c(1), [&](Value group) { call(group, none, filters, none, terms); });
    return finish();
  }
};

} // namespace

Kernel buildConvolutionKernel(ConvolveOpInterface op, KernelBuilder &k) {
  ConvolutionRule form = op.getConvolutionRule();
  auto typeOf = [&](Value value) { return cast<RankedTensorType>(value.getType()); };
  Value result = op->getResult(0), first = op->getOperand(0), second = op->getOperand(1);
  switch (form.kind) {
  case ConvolutionRule::Forward: {
    // The channels follow from the weights: those of the picture may be known to the run only.
    RankedTensorType x = typeOf(first), w = typeOf(second);
    auto picture = RankedTensorType::get(
        {1, w.getDimSize(1) * form.groups, x.getDimSize(2), x.getDimSize(3)}, x.getElementType());
    return ConvolutionKernel{op, k, specOf(form, picture, w.getDimSize(0))}.forward(
        op->getNumOperands() > 2, form.relu);
  }
  case ConvolutionRule::InputGrad:
    return ConvolutionKernel{op, k, specOf(form, typeOf(result), typeOf(second).getDimSize(0))}
        .inputGrad();
  case ConvolutionRule::WeightGrad:
    return ConvolutionKernel{op, k, specOf(form, typeOf(first), typeOf(second).getDimSize(1))}
        .weightGrad();
  }
  llvm_unreachable("no other convolution");
}

} // namespace pdg
