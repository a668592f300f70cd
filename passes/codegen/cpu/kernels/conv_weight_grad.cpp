// Emission of the weight gradient of a convolution: products of columns with the cotangent, example
// after example into one sum a leaf, and the tree of the leaves.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/kernels/conv.h"
#include "passes/codegen/cpu/kernels/conv_columns.h"
#include "passes/codegen/cpu/kernels/conv_kernel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pdg {

namespace {

/// The product that adds a block of output rows of one example. It computes the gradient, filters
/// by (c, u, v), or its transpose, whichever needs less time; both transpose one operand.
struct WeightGradPlan {
  ColumnPlan columns;
  bool transposed;
  GemmSpec product;
  int64_t sumElements; ///< Of one sum, a multiple of 16; there are five.
};

class WeightGradEmitter {
public:
  WeightGradEmitter(OpBuilder &builder, LLVM::LLVMFuncOp function, const ConvSpec &spec,
                    const WeightGradPlan &plan, const TargetInfo &target);
  void emit();

private:
  void emitLeaf(ColumnEmitter &columns, Value sum, Value begin, Value end);
  void emitStart(Value sum);
  void emitResult(Value sum);
  void emitTransposed(llvm::function_ref<void(Value inSum, Value inResult)> body);
  void eachRow(llvm::function_ref<void(Value offset, Value count)> body);

  Emitter e;
  ModuleOp module;
  const ConvSpec &spec;
  const WeightGradPlan &plan;
  const TargetInfo &target;
  Value x, g, dw, work, examples, leaves, f0, f1, q0, q1;
  Value sums, productWork;
};

} // namespace

static WeightGradPlan planWeightGrad(const ConvSpec &spec, const TargetInfo &target) {
  WeightGradPlan plan;
  plan.columns = planColumns(spec, target);
  int64_t vl = target.vectorBits / (spec.isF64 ? 64 : 32);
  // A term costs an instruction for each row and vector, and each column is transposed, which takes
  // about a third of a cycle an element.
  auto cost = [&](int64_t m, int64_t n) { return 3 * m * llvm::divideCeil(n, vl) + n; };
  plan.transposed = cost(spec.terms(), spec.filters) < cost(spec.filters, spec.terms());

  GemmSpec &product = plan.product;
  product.isF64 = spec.isF64;
  product.transB = true;
  product.accumulate = true;
  product.m = plan.transposed ? spec.terms() : spec.filters;
  product.n = plan.transposed ? spec.filters : spec.terms();
  product.k = plan.columns.blockPixels();
  product.lda = plan.transposed ? plan.columns.stride : spec.outPixels();
  product.ldb = plan.transposed ? spec.outPixels() : plan.columns.stride;
  plan.sumElements = llvm::alignTo(spec.filters * spec.terms(), 16);
  return plan;
}

WeightGradEmitter::WeightGradEmitter(OpBuilder &builder, LLVM::LLVMFuncOp function,
                                     const ConvSpec &spec, const WeightGradPlan &plan,
                                     const TargetInfo &target)
    : e(builder, function.getLoc(), spec.isF64, target),
      module(function->getParentOfType<ModuleOp>()), spec(spec), plan(plan), target(target) {
  Value *fields[] = {&x, &g, &dw, &work, &examples, &leaves, &f0, &f1, &q0, &q1};
  for (auto [field, argument] : llvm::zip_equal(fields, function.getArguments()))
    *field = argument;
  sums = e.at(work, plan.columns.pictureElements + plan.columns.columnElements);
  productWork = e.at(sums, 5 * plan.sumElements);
}

/// Visits the parts of a sum that belong to the kernel's range and lie together.
void WeightGradEmitter::eachRow(llvm::function_ref<void(Value offset, Value count)> body) {
  if (plan.transposed)
    return e.loop(q0, q1, 1,
                  [&](Value q) { body(e.add(e.mul(q, e.c(spec.filters)), f0), e.sub(f1, f0)); });
  e.loop(f0, f1, 1, [&](Value f) { body(e.add(e.mul(f, e.c(spec.terms())), q0), e.sub(q1, q0)); });
}

/// Leaves are joined like a binary counter: leaf l is the right child of as many joins as l ends in
/// one bits. Its sum is made in the place where the last join leaves it, which is free then.
void WeightGradEmitter::emit() {
  ColumnEmitter columns(e, spec, plan.columns, work);
  columns.start();
  Value length = e.div(examples, leaves);
  auto place = [&](Value level) { return e.at(sums, e.mul(level, e.c(plan.sumElements))); };
  auto trailingZeros = [&](Value value) -> Value {
    return LLVM::CountTrailingZerosOp::create(e.b, e.loc, e.i64, value, /*is_zero_poison=*/true);
  };
  e.loop(e.c(0), leaves, 1, [&](Value leaf) {
    Value level = trailingZeros(e.add(leaf, e.c(1)));
    Value sum = place(level), begin = e.mul(leaf, length);
    emitLeaf(columns, sum, begin, e.add(begin, length));
    e.loop(e.c(0), level, 1, [&](Value joined) {
      Value left = place(joined);
      eachRow([&](Value offset, Value count) {
        Value from = e.at(left, offset), to = e.at(sum, offset);
        auto join = [&](Value i, Value mask) {
          e.store(e.addF(e.load(e.at(from, i), mask), e.load(e.at(to, i), mask)), e.at(to, i),
                  mask);
        };
        Value full = e.mul(e.div(count, e.c(e.vl)), e.c(e.vl));
        e.loop(e.c(0), full, e.vl, [&](Value i) { join(i, {}); });
        e.when(e.less(full, count), [&] { join(full, e.maskBelow(e.sub(count, full))); });
      });
    });
  });
  emitResult(place(trailingZeros(leaves)));
}

/// Fills a sum with what its chains begin with.
void WeightGradEmitter::emitStart(Value sum) {
  if (spec.accumulate && plan.transposed)
    return emitTransposed([&](Value inSum, Value inResult) {
      e.storeScalar(e.loadScalar(e.at(dw, inResult)), e.at(sum, inSum));
    });
  eachRow([&](Value offset, Value count) {
    if (spec.accumulate)
      emitCopy(e, e.at(dw, offset), e.at(sum, offset), count);
    else
      emitClear(e, e.at(sum, offset), count);
  });
}

/// Adds the examples of a leaf, each block of their output rows going on with the chains.
void WeightGradEmitter::emitLeaf(ColumnEmitter &columns, Value sum, Value begin, Value end) {
  emitStart(sum);
  Value filters = e.c(spec.filters), terms = e.c(spec.terms());
  e.loop(begin, end, 1, [&](Value n) {
    columns.setPicture(e.at(x, e.mul(n, e.c(spec.groups * spec.channels * spec.pixels()))));
    Value cotangent = e.at(g, e.mul(n, e.c(spec.groups * spec.filters * spec.outPixels())));
    columns.eachBlock([&](const ColumnEmitter::Block &block) {
      GemmSpec product = plan.product;
      product.k = block.pixels;
      LLVM::LLVMFuncOp gemm = emitGemm(module, product, target);
      Value pixels = e.c(block.pixels), from = columns.fill(block, q0, q1);
      Value part = e.at(cotangent, columns.firstPixel(block));
      if (plan.transposed)
        emitGemmCall(e, gemm,
                     {from, part, sum, {}, productWork, q0, q1, f0, f1, terms, filters, pixels});
      else
        emitGemmCall(e, gemm,
                     {part, from, sum, {}, productWork, f0, f1, q0, q1, filters, terms, pixels});
    });
  });
}

void WeightGradEmitter::emitResult(Value sum) {
  if (!plan.transposed)
    return eachRow([&](Value offset, Value count) {
      emitCopy(e, e.at(sum, offset), e.at(dw, offset), count);
    });
  emitTransposed([&](Value inSum, Value inResult) {
    e.storeScalar(e.loadScalar(e.at(sum, inSum)), e.at(dw, inResult));
  });
}

/// Visits the places of each element in a transposed sum and in the gradient.
void WeightGradEmitter::emitTransposed(llvm::function_ref<void(Value, Value)> body) {
  e.loop(f0, f1, 1, [&](Value f) {
    e.loop(q0, q1, 1, [&](Value q) {
      body(e.add(e.mul(q, e.c(spec.filters)), f), e.add(e.mul(f, e.c(spec.terms())), q));
    });
  });
}

int64_t convWeightGradWorkBytes(const ConvSpec &spec, const TargetInfo &target) {
  WeightGradPlan plan = planWeightGrad(spec, target);
  return (plan.columns.pictureElements + plan.columns.columnElements + 5 * plan.sumElements) *
             (spec.isF64 ? 8 : 4) +
         gemmWorkBytes(plan.product, target);
}

ConvWeightSplit convWeightGradSplit(const ConvSpec &spec, const TargetInfo &target) {
  WeightGradPlan plan = planWeightGrad(spec, target);
  int64_t rowStep = gemmRowStep(plan.product, target);
  int64_t columnStep = gemmColumnStep(plan.product, target);
  int64_t termStep = plan.transposed ? rowStep : columnStep;
  int64_t filterStep = plan.transposed ? columnStep : rowStep;
  // Along the terms, each thread copies its own columns only; along the filters, all of them.
  int64_t termUnits = llvm::divideCeil(spec.terms(), termStep);
  int64_t filterUnits = llvm::divideCeil(spec.filters, filterStep);
  if (termUnits >= 4 || termUnits >= filterUnits)
    return {false, termStep};
  return {true, filterStep};
}

LLVM::LLVMFuncOp emitConvWeightGrad(ModuleOp module, const ConvSpec &spec,
                                    const TargetInfo &target) {
  std::string name = convSymbolName("weight_grad", spec, target);
  if (auto existing = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return existing;
  WeightGradPlan plan = planWeightGrad(spec, target);
  OpBuilder builder(module.getContext());
  Type pointer = LLVM::LLVMPointerType::get(module.getContext()), i64 = builder.getI64Type();
  SmallVector<Type> arguments(4, pointer);
  arguments.append(6, i64);
  LLVM::LLVMFuncOp function = startFunction(module, name, arguments, builder);
  WeightGradEmitter(builder, function, spec, plan, target).emit();
  return function;
}

} // namespace pdg
