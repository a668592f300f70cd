// Contractions as calls of matrix product kernels. The index rule is canonical by now: in each
// tensor the batch indices come first, then its two groups (pdg-canonicalize-contractions).
// SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "passes/codegen/cpu/contraction_form.h"
#include "passes/codegen/cpu/kernel.h"
#include "passes/codegen/cpu/kernels/gemm.h"

using namespace mlir;

namespace pdg {

/// A size that is known, or nothing.
static std::optional<int64_t> known(AffineExpr size) {
  auto constant = dyn_cast<AffineConstantExpr>(size);
  return constant ? std::optional(constant.getValue()) : std::nullopt;
}

/// What kind of matrix product a contraction of these sizes is.
static GemmSpec specOf(ContractionOpInterface op, const ContractionForm &form, AffineExpr m,
                       AffineExpr n, AffineExpr k) {
  GemmSpec spec;
  spec.isF64 = getElementTypeOrSelf(op->getResult(0).getType()).isF64();
  spec.transA = form.transA;
  spec.transB = form.transB;
  spec.m = known(m), spec.n = known(n), spec.k = known(k);
  // A sum that goes on with other chains is a product for each leaf, in the place of its leaves.
  spec.accumulate = isa<UpdateOpInterface>(*op);
  spec.leafK = op.getContractionRule().leaves && !spec.accumulate;
  return spec;
}

Kernel buildContractionKernel(ContractionOpInterface op, KernelBuilder &k) {
  ContractionForm form = contractionForm(op.getContractionRule());
  MLIRContext *context = op.getContext();
  Value lhs = op->getOperand(form.swaps ? 1 : 0), rhs = op->getOperand(form.swaps ? 0 : 1);
  Dims lhsDims = k.shapes.dimsOf(lhs), rhsDims = k.shapes.dimsOf(rhs);
  auto sizeOf = [&](ArrayRef<unsigned> axes, const Dims &dims) {
    return productOf(llvm::map_to_vector(axes, [&](unsigned axis) { return dims[axis]; }), context);
  };
  AffineExpr batch = sizeOf(form.lhsBatch, lhsDims), m = sizeOf(form.lhsFree, lhsDims);
  AffineExpr n = sizeOf(form.rhsFree, rhsDims), kk = sizeOf(form.lhsSummed, lhsDims);

  GemmSpec spec = specOf(op, form, m, n, kk);
  bool isCut = op.getContractionRule().leaves, isOpen = spec.accumulate;
  Value sizeM = k.size(m), sizeN = k.size(n), sizeK = k.size(kk), terms = sizeK, count = k.c(1);
  if (isCut && isOpen) {
    count = k.leafCount(k.size(lhsDims[form.lhsSummed.front()]), op->getResult(0));
    sizeK = k.div(sizeK, count);
    spec.k = getConstantIntValue(sizeK);
  }
  if (auto bound = k.shapes.boundOf(m); bound && !spec.m)
    spec.usualM = *bound;
  LLVM::LLVMFuncOp gemm = emitGemm(k.module, spec, k.target);

  Value work = k.work(gemmWorkBytes(spec, k.target));
  Value zero = k.c(0);
  Value leaves = spec.leafK ? k.leafCount(k.size(lhsDims[form.lhsSummed.front()])) : k.c(1);
  Value a = k.address(lhs), c = k.address(rhs), out = k.address(op->getResult(0));
  Value none = LLVM::ZeroOp::create(k.b, k.loc, k.ptr);
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  auto call = [&](Value a, Value b, Value out, Value m0, Value m1, Value n0, Value n1) {
    LLVM::CallOp::create(
        k.b, k.loc, gemm,
        ValueRange{a, b, out, none, work, m0, m1, n0, n1, sizeM, sizeN, sizeK, leaves});
  };
  AffineExpr cost = batch * m * n * kk;
  // One product of matrices: a leaf after the other, which lie behind each other.
  Value batches = k.size(batch);
  auto product = [&](Value i, Value m0, Value m1, Value n0, Value n1) {
    k.loop(zero, count, k.c(1), [&](Value leaf) {
      Value term = k.add(k.mul(i, terms), k.mul(leaf, sizeK));
      Value place = k.mul(k.add(k.mul(leaf, batches), i), k.mul(sizeM, sizeN));
      call(k.pointerTo(a, element, k.mul(term, sizeM)), k.pointerTo(c, element, k.mul(term, sizeN)),
           k.pointerTo(out, element, place), m0, m1, n0, n1);
    });
  };
  if (form.lhsBatch.empty()) {
    GemmSplit split = gemmSplit(spec, k.target);
    auto [lo, hi] =
        emitTaskRange(k.b, k.loc, split.columns ? sizeN : sizeM, split.step, k.task, k.tasks);
    k.when(k.less(lo, hi), [&] {
      if (split.columns)
        product(zero, zero, sizeM, lo, hi);
      else
        product(zero, lo, hi, zero, sizeN);
    });
    return k.finish(cost, true);
  }
  auto [lo, hi] = emitTaskRange(k.b, k.loc, batches, 1, k.task, k.tasks);
  k.loop(lo, hi, k.c(1), [&](Value i) { product(i, zero, sizeM, zero, sizeN); });
  return k.finish(cost, true);
}

} // namespace pdg
