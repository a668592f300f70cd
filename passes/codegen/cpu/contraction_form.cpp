// Sorts the indices of a rule into batches, free and summed ones, and compares orders.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/contraction_form.h"

using namespace mlir;

namespace pdg {
namespace {

using Indices = SmallVector<int>;

/// The indices of `order` that are in all of `in` and none of `notIn`.
Indices pick(ArrayRef<int> order, ArrayRef<int> in, ArrayRef<int> notIn) {
  Indices result;
  for (int index : order)
    if (llvm::is_contained(in, index) && !llvm::is_contained(notIn, index))
      result.push_back(index);
  return result;
}

Indices concat(std::initializer_list<ArrayRef<int>> parts) {
  Indices result;
  for (ArrayRef<int> part : parts)
    llvm::append_range(result, part);
  return result;
}

SmallVector<unsigned> axesOf(ArrayRef<int> indices, ArrayRef<int> tensor) {
  SmallVector<unsigned> axes;
  for (int index : indices)
    axes.push_back(llvm::find(tensor, index) - tensor.begin());
  return axes;
}

/// The permutation that puts the axes of `tensor` into `order`.
SmallVector<int64_t> permutationTo(ArrayRef<int> order, ArrayRef<int> tensor) {
  SmallVector<int64_t> permutation;
  for (int index : order)
    permutation.push_back(llvm::find(tensor, index) - tensor.begin());
  return permutation;
}

} // namespace

ContractionForm contractionForm(const ContractionRule &rule) {
  ContractionForm form;
  Indices batch = pick(pick(rule.out, rule.lhs, {}), rule.rhs, {});
  Indices m = pick(rule.out, rule.lhs, batch), n = pick(rule.out, rule.rhs, batch);
  Indices k = rule.summed();
  ArrayRef<int> lhs = rule.lhs, rhs = rule.rhs;
  // The result decides which operand gives the rows: [batch, m, n] or [batch, n, m].
  form.swaps = !m.empty() && !n.empty() && rule.out == concat({batch, n, m});
  if (form.swaps) {
    std::swap(lhs, rhs);
    std::swap(m, n);
  }
  form.transA = lhs != ArrayRef<int>(concat({batch, m, k}));
  form.transB = rhs != ArrayRef<int>(concat({batch, k, n}));
  bool lhsFits = !form.transA || lhs == ArrayRef<int>(concat({batch, k, m}));
  bool rhsFits = !form.transB || rhs == ArrayRef<int>(concat({batch, n, k}));
  bool outFits = rule.out == concat({batch, m, n});
  form.isCanonical = lhsFits && rhsFits && outFits;
  form.lhsBatch = axesOf(batch, lhs);
  form.lhsFree = axesOf(m, lhs);
  form.lhsSummed = axesOf(k, lhs);
  form.rhsFree = axesOf(n, rhs);
  // A sum with leaves keeps its index in front of rows and columns.
  form.lhsOrder = permutationTo(rule.leaves ? concat({batch, k, m}) : concat({batch, m, k}), lhs);
  form.rhsOrder = permutationTo(concat({batch, k, n}), rhs);
  form.outOrder = permutationTo(rule.out, concat({batch, m, n}));
  return form;
}

} // namespace pdg
