// Emission of convolutions: for each example and block of output rows, the windows are copied to
// columns, and a matrix product with the filters follows.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/kernels/conv.h"

#include "passes/codegen/cpu/kernels/conv_columns.h"
#include "passes/codegen/cpu/kernels/conv_kernel.h"

using namespace mlir;

namespace pdg {

std::string convSymbolName(const char *kind, const ConvSpec &spec, const TargetInfo &target) {
  std::string name = std::string("pdg_conv_") + kind + (spec.isF64 ? "_f64" : "_f32");
  for (int64_t size : {spec.channels, spec.height, spec.width, spec.filters, spec.kernelH,
                       spec.kernelW, spec.strideH, spec.strideW, spec.padTop, spec.padBottom,
                       spec.padLeft, spec.padRight, spec.dilationH, spec.dilationW, spec.groups})
    name += "_" + std::to_string(size);
  return name + std::array{"", "_bias", "_relu", "_bias_relu"}[int(spec.epilogue)] +
         (spec.accumulate ? "_onto_" : "_") + target.name;
}

std::pair<Value, Value> exampleAndGroup(Emitter &e, const ConvSpec &spec, Value part) {
  if (spec.groups == 1)
    return {part, e.c(0)};
  return {e.div(part, e.c(spec.groups)), e.rem(part, e.c(spec.groups))};
}

void emitGemmCall(Emitter &e, LLVM::LLVMFuncOp gemm, const GemmCall &call) {
  Value null = LLVM::ZeroOp::create(e.b, e.loc, e.ptr);
  Values arguments = {call.a,    call.b,  call.c,  call.bias ? call.bias : null,
                      call.work, call.m0, call.m1, call.n0,
                      call.n1,   call.m,  call.n,  call.k,
                      e.c(1)};
  LLVM::CallOp::create(e.b, e.loc, gemm, arguments);
}

static GemmSpec forwardProduct(const ConvSpec &spec, const ColumnPlan &plan, int64_t pixels) {
  GemmSpec product;
  product.isF64 = spec.isF64;
  product.m = spec.filters;
  product.n = pixels;
  product.k = spec.terms();
  product.ldb = plan.stride;
  product.ldc = spec.outPixels();
  product.epilogue = spec.epilogue;
  product.biasPerRow = true;
  return product;
}

int64_t convForwardWorkBytes(const ConvSpec &spec, const TargetInfo &target) {
  ColumnPlan plan = planColumns(spec, target);
  return (plan.pictureElements + plan.columnElements) * (spec.isF64 ? 8 : 4) +
         gemmWorkBytes(forwardProduct(spec, plan, plan.blockPixels()), target);
}

LLVM::LLVMFuncOp emitConvForward(ModuleOp module, const ConvSpec &spec, const TargetInfo &target) {
  std::string name = convSymbolName("forward", spec, target);
  if (auto existing = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return existing;
  ColumnPlan plan = planColumns(spec, target);
  OpBuilder builder(module.getContext());
  Type pointer = LLVM::LLVMPointerType::get(module.getContext()), i64 = builder.getI64Type();
  LLVM::LLVMFuncOp function =
      startFunction(module, name, {pointer, pointer, pointer, pointer, pointer, i64, i64}, builder);
  auto arguments = function.getArguments();
  Value x = arguments[0], w = arguments[1], y = arguments[2], bias = arguments[3];
  Value work = arguments[4], p0 = arguments[5], p1 = arguments[6];

  Emitter e(builder, function.getLoc(), spec.isF64, target);
  Value productWork = e.at(work, plan.pictureElements + plan.columnElements);
  Value filters = e.c(spec.filters), terms = e.c(spec.terms());
  ColumnEmitter columns(e, spec, plan, work);
  columns.start();
  e.loop(p0, p1, 1, [&](Value part) {
    Value group = exampleAndGroup(e, spec, part).second;
    Value weights = e.at(w, e.mul(group, e.c(spec.filters * spec.terms())));
    Value biases = e.at(bias, e.mul(group, e.c(spec.filters)));
    columns.setPicture(e.at(x, e.mul(part, e.c(spec.channels * spec.pixels()))));
    Value result = e.at(y, e.mul(part, e.c(spec.filters * spec.outPixels())));
    columns.eachBlock([&](const ColumnEmitter::Block &block) {
      LLVM::LLVMFuncOp gemm = emitGemm(module, forwardProduct(spec, plan, block.pixels), target);
      Value from = columns.fill(block, e.c(0), terms), pixels = e.c(block.pixels);
      emitGemmCall(e, gemm,
                   {weights, from, e.at(result, columns.firstPixel(block)), biases, productWork,
                    e.c(0), filters, e.c(0), pixels, filters, pixels, terms});
    });
  });
  return function;
}

} // namespace pdg
