// Emission of the input gradient of a convolution: a matrix product of the filters with the
// cotangent gives the contribution of each window position, then each row of the result sums those
// that reach it, in registers.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/kernels/conv.h"
#include "passes/codegen/cpu/kernels/conv_kernel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pdg {

namespace {

/// Contributions of a block of channels: a row for each (c, u, v), a column for each output pixel.
struct ContributionPlan {
  int64_t blockChannels; ///< Divides the number of channels.
  int64_t stride;        ///< Distance between rows.
  int64_t elements;      ///< Work space of a block, a multiple of 16.
};

class InputGradEmitter {
public:
  InputGradEmitter(OpBuilder &builder, LLVM::LLVMFuncOp function, LLVM::LLVMFuncOp gemm,
                   const ConvSpec &spec, const TargetInfo &target);
  void emit();

private:
  void emitRow(Value contributions, Value h, Value to);
  void addWindowRow(Values &sums, int64_t firstVector, Value from);
  Value loadContribution(Value from, int64_t first);

  Emitter e;
  LLVM::LLVMFuncOp gemm;
  const ConvSpec &spec;
  ContributionPlan plan;
  Value g, w, dx, work, n0, n1;
};

} // namespace

static ContributionPlan planContributions(const ConvSpec &spec, const TargetInfo &target) {
  ContributionPlan plan;
  plan.stride = llvm::alignTo(spec.outPixels(), 16) + 16;
  int64_t channelBytes = spec.window() * plan.stride * (spec.isF64 ? 8 : 4);
  plan.blockChannels = 1;
  for (int64_t count = 1; count <= spec.channels; ++count)
    if (spec.channels % count == 0 && count * channelBytes <= target.l2Bytes / 2)
      plan.blockChannels = count;
  plan.elements = llvm::alignTo(plan.blockChannels * spec.window() * plan.stride, 16);
  return plan;
}

static GemmSpec contributionProduct(const ConvSpec &spec, const ContributionPlan &plan) {
  GemmSpec product;
  product.isF64 = spec.isF64;
  product.transA = true;
  product.m = plan.blockChannels * spec.window();
  product.n = spec.outPixels();
  product.k = spec.filters;
  product.lda = spec.terms();
  product.ldc = plan.stride;
  return product;
}

InputGradEmitter::InputGradEmitter(OpBuilder &builder, LLVM::LLVMFuncOp function,
                                   LLVM::LLVMFuncOp gemm, const ConvSpec &spec,
                                   const TargetInfo &target)
    : e(builder, function.getLoc(), spec.isF64, target), gemm(gemm), spec(spec),
      plan(planContributions(spec, target)) {
  Value *fields[] = {&g, &w, &dx, &work, &n0, &n1};
  for (auto [field, argument] : llvm::zip_equal(fields, function.getArguments()))
    *field = argument;
}

void InputGradEmitter::emit() {
  Value rows = e.c(plan.blockChannels * spec.window()), pixels = e.c(spec.outPixels());
  Value filters = e.c(spec.filters), productWork = e.at(work, plan.elements);
  int64_t plane = spec.height * spec.width;
  e.loop(n0, n1, 1, [&](Value n) {
    Value cotangent = e.at(g, e.mul(n, e.c(spec.filters * spec.outPixels())));
    e.loop(e.c(0), e.c(spec.channels), plan.blockChannels, [&](Value channel) {
      Value weights = e.at(w, e.mul(channel, e.c(spec.window())));
      emitGemmCall(e, gemm,
                   {weights,
                    cotangent,
                    work,
                    {},
                    productWork,
                    e.c(0),
                    rows,
                    e.c(0),
                    pixels,
                    rows,
                    pixels,
                    filters});
      Value to = e.at(dx, e.mul(e.add(e.mul(n, e.c(spec.channels)), channel), e.c(plane)));
      e.loop(e.c(0), e.c(plan.blockChannels), 1, [&](Value c) {
        Value contributions = e.at(work, e.mul(c, e.c(spec.window() * plan.stride)));
        e.loop(e.c(0), e.c(spec.height), 1, [&](Value h) {
          emitRow(contributions, h,
                  e.at(to, e.add(e.mul(c, e.c(plane)), e.mul(h, e.c(spec.width)))));
        });
      });
    });
  });
}

/// Sums row h of the picture. The window rows u that reach it are those with h + padH - u = i *
/// strideH for an output row i.
void InputGradEmitter::emitRow(Value contributions, Value h, Value to) {
  Value reach = e.add(h, e.c(spec.padH));
  Value firstU = e.max(e.rem(reach, e.c(spec.strideH)),
                       e.sub(reach, e.c((spec.outHeight() - 1) * spec.strideH)));
  Value endU = e.min(e.c(spec.kernelH), e.add(reach, e.c(1)));
  int64_t vectors = llvm::divideCeil(spec.width, e.vl), chunk = 8;
  for (int64_t first = 0; first < vectors; first += chunk) {
    int64_t count = std::min(chunk, vectors - first);
    Values sums(count, e.zero());
    sums = e.loop(firstU, endU, spec.strideH, sums, [&](Value u, ValueRange carried) {
      Value i = e.div(e.sub(reach, u), e.c(spec.strideH));
      Value from = e.at(contributions, e.add(e.mul(u, e.c(spec.kernelW * plan.stride)),
                                             e.mul(i, e.c(spec.outWidth()))));
      Values result(carried);
      addWindowRow(result, first, from);
      return result;
    });
    for (int64_t index = 0; index < count; ++index) {
      int64_t x = (first + index) * e.vl;
      e.store(sums[index], e.at(to, x), e.maskBelow(e.c(spec.width - x)));
    }
  }
}

void InputGradEmitter::addWindowRow(Values &sums, int64_t firstVector, Value from) {
  for (int64_t v = 0; v < spec.kernelW; ++v)
    for (auto [index, sum] : llvm::enumerate(sums)) {
      int64_t x = (firstVector + int64_t(index)) * e.vl;
      if (Value term = loadContribution(e.at(from, v * plan.stride), x + spec.padW - v))
        sum = e.addF(sum, term);
    }
}

/// Loads lane l from output column (first + l) / strideW of the row at `from`; lanes without such a
/// column are +0, which changes no sum that began with +0. Null if no lane has one.
Value InputGradEmitter::loadContribution(Value from, int64_t first) {
  SmallVector<int64_t> offsets(e.vl, 0);
  SmallVector<bool> present(e.vl, false);
  for (int lane = 0; lane < e.vl; ++lane) {
    int64_t column = first + lane;
    present[lane] =
        column >= 0 && column % spec.strideW == 0 && column / spec.strideW < spec.outWidth();
    if (present[lane])
      offsets[lane] = column / spec.strideW;
  }
  if (llvm::none_of(present, [](bool lane) { return lane; }))
    return {};
  if (spec.strideW == 1)
    return e.load(e.at(from, first), e.constantMask(present));
  return e.gather(from, offsets, e.constantMask(present));
}

int64_t convInputGradWorkBytes(const ConvSpec &spec, const TargetInfo &target) {
  ContributionPlan plan = planContributions(spec, target);
  return plan.elements * (spec.isF64 ? 8 : 4) +
         gemmWorkBytes(contributionProduct(spec, plan), target);
}

LLVM::LLVMFuncOp emitConvInputGrad(ModuleOp module, const ConvSpec &spec,
                                   const TargetInfo &target) {
  std::string name = convSymbolName("input_grad", spec, target);
  if (auto existing = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return existing;
  LLVM::LLVMFuncOp gemm =
      emitGemm(module, contributionProduct(spec, planContributions(spec, target)), target);
  OpBuilder builder(module.getContext());
  Type pointer = LLVM::LLVMPointerType::get(module.getContext()), i64 = builder.getI64Type();
  LLVM::LLVMFuncOp function =
      startFunction(module, name, {pointer, pointer, pointer, pointer, i64, i64}, builder);
  InputGradEmitter(builder, function, gemm, spec, target).emit();
  return function;
}

} // namespace pdg
