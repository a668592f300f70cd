// The number of leaves, and what adds to leaves and joins them.
// SPDX-License-Identifier: Apache-2.0
#include "ir/interpret/evaluate_leaves.h"
#include "ir/interpret/evaluate_contraction.h"
#include "ir/interpret/evaluate_elementwise.h"

using namespace mlir;

namespace pdg {

int64_t openLeafCount(int64_t n, int64_t most) { return std::min(leafCount(n), most); }

int64_t leafBound(int64_t n) { return ShapedType::isDynamic(n) ? kMaxLeaves : leafCount(n); }

int64_t integerAt(const HostTensor &ids, int64_t i) {
  int64_t result = 0;
  dispatch(Ints{}, ids.dtype(), [&]<class T>() { result = ids.data<T>()[i]; });
  return result;
}

LogicalResult evaluateScatterLeaves(Evaluation &eval) {
  const HostTensor &ids = eval.operand(0), &rows = eval.operand(1), &leaves = eval.operand(2);
  HostTensor &out = eval.result(0, leaves.shape());
  std::memcpy(out.bytes(), leaves.bytes(), leaves.numBytes());
  int64_t table = out.shape()[1], positions = ids.numElements();
  int64_t width = positions ? rows.numElements() / positions : 0;
  int64_t count = ids.rank() ? openLeafCount(ids.shape()[0], out.shape()[0]) : 1;
  // The gather that this is the gradient of has checked the indices; in IR written by hand there
  // may be none.
  for (int64_t i = 0; i < positions; ++i)
    if (integerAt(ids, i) < 0 || integerAt(ids, i) >= table)
      return failure();
  return success(dispatch(Floats{}, rows.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < positions; ++i) {
      int64_t leaf = i / (positions / count);
      T *sums = out.data<T>() + (leaf * table + integerAt(ids, i)) * width;
      for (int64_t j = 0; j < width; ++j)
        sums[j] += rows.data<T>()[i * width + j];
    }
  }));
}

LogicalResult evaluateJoinLeaves(Evaluation &eval) {
  const HostTensor &x = eval.operand(0);
  int64_t leaves = x.shape()[0], size = x.numElements() / leaves;
  HostTensor &out = eval.result(0, std::vector<int64_t>(x.shape().begin() + 1, x.shape().end()));
  return success(dispatch(Floats{}, x.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < size; ++i) {
      SmallVector<T> sums;
      for (int64_t leaf = 0; leaf < leaves; ++leaf)
        sums.push_back(x.data<T>()[leaf * size + i]);
      out.data<T>()[i] = joinTree(sums) + T(0);
    }
  }));
}

} // namespace pdg
