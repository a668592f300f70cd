// Contractions by their definition: loops over the free indices, then over the summed ones.
// SPDX-License-Identifier: Apache-2.0
#include "ir/interpret/evaluate_contraction.h"
#include "ir/interpret/evaluate_elementwise.h"
#include "ir/interpret/evaluate_leaves.h"

#include <cmath>

using namespace mlir;

namespace pdg {
namespace {

/// Sizes and strides of every index of a contraction of two given tensors.
struct Indices {
  std::vector<int64_t> size, lhsStride, rhsStride;

  void add(ArrayRef<int> axes, const std::vector<int64_t> &shape, std::vector<int64_t> &strides) {
    int64_t stride = 1;
    for (size_t axis = axes.size(); axis-- > 0;) {
      size_t index = axes[axis];
      if (index >= size.size()) {
        size.resize(index + 1, 0);
        lhsStride.resize(index + 1, 0);
        rhsStride.resize(index + 1, 0);
      }
      size[index] = shape[axis];
      strides[index] = stride;
      stride *= shape[axis];
    }
  }
};

/// Walks the elements of a box of sizes, in row-major order, keeping two offsets.
struct Walk {
  SmallVector<int64_t> sizes, lhs, rhs, at;
  int64_t lhsOffset = 0, rhsOffset = 0;

  Walk(const Indices &indices, ArrayRef<int> order) {
    for (int index : order) {
      sizes.push_back(indices.size[index]);
      lhs.push_back(indices.lhsStride[index]);
      rhs.push_back(indices.rhsStride[index]);
    }
    at.assign(sizes.size(), 0);
  }
  int64_t count() const {
    int64_t n = 1;
    for (int64_t size : sizes)
      n *= size;
    return n;
  }
  void step() {
    for (size_t k = sizes.size(); k-- > 0;) {
      lhsOffset += lhs[k];
      rhsOffset += rhs[k];
      if (++at[k] < sizes[k])
        return;
      lhsOffset -= lhs[k] * sizes[k];
      rhsOffset -= rhs[k] * sizes[k];
      at[k] = 0;
    }
  }
};

/// Goes on with `sum` over the next `count` products.
template <class T> T chain(Walk &walk, int64_t count, const T *lhs, const T *rhs, T sum) {
  for (int64_t k = 0; k < count; ++k, walk.step())
    sum = std::fma(lhs[walk.lhsOffset], rhs[walk.rhsOffset], sum);
  return sum;
}

template <class T>
T sumOfProducts(const Indices &indices, const ContractionRule &rule, const T *lhs, const T *rhs) {
  SmallVector<int> summed = rule.summed();
  Walk walk(indices, summed);
  int64_t total = walk.count();
  int64_t leaves = rule.leaves ? leafCount(indices.size[summed.front()]) : 1;
  SmallVector<T> sums;
  for (int64_t leaf = 0; leaf < leaves; ++leaf)
    sums.push_back(chain(walk, total / leaves, lhs, rhs, T(0)));
  return joinTree(sums);
}

/// The sizes of the indices of `rule`; false if the operands do not agree.
bool findSizes(const ContractionRule &rule, const HostTensor &lhs, const HostTensor &rhs,
               Indices &indices) {
  indices.add(rule.lhs, lhs.shape(), indices.lhsStride);
  std::vector<int64_t> sizes = indices.size;
  indices.add(rule.rhs, rhs.shape(), indices.rhsStride);
  return llvm::all_of(rule.lhs, [&](int index) { return sizes[index] == indices.size[index]; });
}

} // namespace

LogicalResult evaluateContraction(const ContractionRule &rule, Evaluation &eval) {
  const HostTensor &lhs = eval.operand(0), &rhs = eval.operand(1);
  Indices indices;
  if (!findSizes(rule, lhs, rhs, indices))
    return eval.mismatch(lhs, rhs);
  std::vector<int64_t> shape;
  for (int index : rule.out)
    shape.push_back(indices.size[index]);
  HostTensor &out = eval.result(0, shape);
  bool done = dispatch(Floats{}, lhs.dtype(), [&]<class T>() {
    Walk walk(indices, rule.out);
    for (int64_t i = 0; i < out.numElements(); ++i, walk.step())
      out.data<T>()[i] = sumOfProducts(indices, rule, lhs.data<T>() + walk.lhsOffset,
                                       rhs.data<T>() + walk.rhsOffset);
  });
  return success(done);
}

LogicalResult evaluateContractLeaves(const ContractionRule &rule, Evaluation &eval) {
  const HostTensor &lhs = eval.operand(0), &rhs = eval.operand(1), &leaves = eval.operand(2);
  Indices indices;
  if (!findSizes(rule, lhs, rhs, indices))
    return eval.mismatch(lhs, rhs);
  HostTensor &out = eval.result(0, leaves.shape());
  std::memcpy(out.bytes(), leaves.bytes(), leaves.numBytes());
  SmallVector<int> summed = rule.summed();
  int64_t count = rule.leaves ? openLeafCount(indices.size[summed.front()], out.shape()[0]) : 1;
  int64_t size = out.numElements() / out.shape()[0];
  return success(dispatch(Floats{}, lhs.dtype(), [&]<class T>() {
    Walk walk(indices, rule.out);
    for (int64_t i = 0; i < size; ++i, walk.step()) {
      Walk terms(indices, summed);
      int64_t length = terms.count() / count;
      for (int64_t leaf = 0; leaf < count; ++leaf) {
        T &sum = out.data<T>()[leaf * size + i];
        sum = chain(terms, length, lhs.data<T>() + walk.lhsOffset, rhs.data<T>() + walk.rhsOffset,
                    sum);
      }
    }
  }));
}

} // namespace pdg
