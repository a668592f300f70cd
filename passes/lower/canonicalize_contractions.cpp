// Brings contractions into forms that matrix product kernels read: transposes are made explicit.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "ir/ops/contraction.h"
#include "ir/ops/layout.h"
#include "ir/ops/leaves.h"
#include "passes/codegen/cpu/contraction_form.h"
#include "passes/passes.h"

namespace pdg {
#define GEN_PASS_DEF_CANONICALIZECONTRACTIONS
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

/// `value` with its axes in `order`; no op if they are.
Value reorder(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> order) {
  if (llvm::equal(order, llvm::seq<int64_t>(0, order.size())))
    return value;
  return TransposeOp::create(b, loc, value, order);
}

/// The letters of `indices` after the axes were put in `order`.
std::string lettersOf(ArrayRef<int> indices, ArrayRef<int64_t> order) {
  std::string letters;
  for (int64_t axis : order)
    letters += static_cast<char>('a' + indices[axis]);
  return letters;
}

/// The order of the axes behind one that stays first.
SmallVector<int64_t> behindFirst(ArrayRef<int64_t> order) {
  SmallVector<int64_t> result{0};
  for (int64_t axis : order)
    result.push_back(axis + 1);
  return result;
}

void canonicalize(ContractionOpInterface op) {
  ContractionRule rule = op.getContractionRule();
  ContractionForm form = contractionForm(rule);
  if (form.isCanonical)
    return;
  OpBuilder b(op);
  Location loc = op->getLoc();
  Value lhs = op->getOperand(form.swaps ? 1 : 0), rhs = op->getOperand(form.swaps ? 0 : 1);
  ArrayRef<int> lhsIndices = form.swaps ? rule.rhs : rule.lhs;
  ArrayRef<int> rhsIndices = form.swaps ? rule.lhs : rule.rhs;
  std::string left = lettersOf(lhsIndices, form.lhsOrder);
  std::string right = lettersOf(rhsIndices, form.rhsOrder);
  // The result comes as [batch, m, n]; outOrder says where its axes go.
  SmallVector<int64_t> inverse(form.outOrder.size());
  for (auto [axis, from] : llvm::enumerate(form.outOrder))
    inverse[from] = axis;
  std::string out = lettersOf(rule.out, inverse);
  std::string text = left + "," + right + "->" + out;
  lhs = reorder(b, loc, lhs, form.lhsOrder);
  rhs = reorder(b, loc, rhs, form.rhsOrder);
  SmallVector<int64_t> order(form.outOrder);
  Value product;
  if (auto onto = dyn_cast<ContractLeavesOp>(*op)) {
    // The axis of leaves stays in front.
    order = behindFirst(order);
    Value leaves = reorder(b, loc, onto.getLeaves(), behindFirst(inverse));
    product = ContractLeavesOp::create(b, loc, text, lhs, rhs, rule.leaves, leaves);
  } else {
    product = ContractOp::create(b, loc, text, lhs, rhs, rule.leaves);
  }
  op->getResult(0).replaceAllUsesWith(reorder(b, loc, product, order));
  op->erase();
}

struct CanonicalizeContractionsPass
    : impl::CanonicalizeContractionsBase<CanonicalizeContractionsPass> {
  void runOnOperation() override {
    SmallVector<ContractionOpInterface> ops;
    getOperation()->walk([&](ContractionOpInterface op) { ops.push_back(op); });
    for (ContractionOpInterface op : ops)
      canonicalize(op);
  }
};

} // namespace
} // namespace pdg
