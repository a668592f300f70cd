// Checks of windows and pictures; see window.h.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/window.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pdg {

/// Far above any real window; products of two such numbers do not overflow.
constexpr int64_t kLargest = int64_t(1) << 24;

WindowShape windowOf(ArrayRef<int64_t> size, ArrayRef<int64_t> stride, ArrayRef<int64_t> padding,
                     ArrayRef<int64_t> dilation) {
  return {{size[0], size[1]},
          {stride[0], stride[1]},
          {padding[0], padding[2]},
          {padding[1], padding[3]},
          {dilation[0], dilation[1]}};
}

FailureOr<WindowShape> readWindow(ArrayRef<int64_t> size, ArrayRef<int64_t> stride,
                                  ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation,
                                  ShapeRule &rule) {
  if (size.size() != 2 || stride.size() != 2 || padding.size() != 4 || dilation.size() != 2) {
    rule.error() << "expects two numbers for window, stride and dilation and four for padding";
    return failure();
  }
  auto report = [&](StringRef what, int64_t least, int64_t number) {
    rule.error() << "expects a " << what << " of at least " << least << " and at most " << kLargest
                 << ", got " << number;
    return failure();
  };
  struct Part {
    StringRef name;
    ArrayRef<int64_t> numbers;
    int64_t least;
  };
  for (const Part &part : {Part{"window", size, 1}, Part{"stride", stride, 1},
                           Part{"padding", padding, 0}, Part{"dilation", dilation, 1}})
    for (int64_t number : part.numbers)
      if (number < part.least || number > kLargest)
        return report(part.name, part.least, number);
  return windowOf(size, stride, padding, dilation);
}

LogicalResult checkPictures(ArrayRef<Dims> operands, ShapeRule &rule) {
  for (const Dims &operand : operands) {
    if (operand.size() == 4)
      continue;
    rule.error() << "expects four axes [examples, channels, height, width], got " // C1
                 << operand.size();
    return failure();
  }
  return success();
}

FailureOr<std::array<int64_t, 2>> knownPicture(const Dims &dims, StringRef what, ShapeRule &rule) {
  auto height = dyn_cast<AffineConstantExpr>(dims[2]),
       width = dyn_cast<AffineConstantExpr>(dims[3]);
  if (height && width && height.getValue() > 0 && width.getValue() > 0)
    return std::array<int64_t, 2>{height.getValue(), width.getValue()};
  if (height && width) {
    rule.error() << "expects " << what << " that are not empty";
    return failure();
  }
  rule.error() << "expects " << what << " whose height and width are known when compiling"; // C2
  return failure();
}

FailureOr<std::array<int64_t, 2>> windowsOver(ArrayRef<int64_t> picture, const WindowShape &window,
                                              ShapeRule &rule) {
  std::array<int64_t, 2> result;
  for (int axis : {0, 1}) {
    int64_t length = picture[axis];
    int64_t padded = length + window.before[axis] + window.after[axis];
    if (padded < window.reach(axis)) {
      rule.error() << "expects a " << (axis ? "width" : "height") << " of at least "
                   << window.reach(axis) << ", which the window covers, got " << length
                   << (padded > length ? " and " + std::to_string(padded - length) + " of padding"
                                       : std::string());
      return failure();
    }
    result[axis] = window.count(axis, length);
  }
  return result;
}

LogicalResult checkWindows(const Dims &dims, std::array<int64_t, 2> expected, ShapeRule &rule) {
  for (int axis : {0, 1})
    if (failed(rule.unify(dims[2 + axis], rule.constant(expected[axis]),
                          axis ? "width of the output" : "height of the output")))
      return failure();
  return success();
}

ShardingRule byExample(Operation *op, ArrayRef<unsigned> withExamples) {
  ShardingRule rule;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    SmallVector<int> factors(cast<RankedTensorType>(operand.getType()).getRank(), -1);
    if (llvm::is_contained(withExamples, i))
      factors[0] = 0;
    rule.operands.push_back(factors);
  }
  rule.results = {{0, -1, -1, -1}};
  rule.kinds = {FactorKind::Parallel};
  return rule;
}

} // namespace pdg
