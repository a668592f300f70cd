// Built-in functions that sum products, convolutions, pooling, and gradients.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/builtins.h"
#include "ir/expr.h"
#include "ir/ops/convolution.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

//===- Contractions --------------------------------------------------------===//

namespace {
/// An index rule taken apart: "ik,kj->ij".
struct Rule {
  std::string lhs, rhs, out;
  std::string text() const { return lhs + "," + rhs + "->" + out; }
};
} // namespace

/// Two operands of floats of one type; false after an error.
static bool readFactors(BuiltinCall &call, size_t first, Value &x, Value &y) {
  x = call.floats(first);
  y = x ? call.floats(first + 1) : Value();
  if (!y)
    return false;
  if (Emitter::dtypeOf(x) == Emitter::dtypeOf(y))
    return true;
  call.emit.error(DiagCode::PD0100, call.span, "the operands have different element types")
      .withSecondary(call.args[first].span, absl::StrCat("this is ", call.emit.typeText(x)))
      .withSecondary(call.args[first + 1].span, absl::StrCat("this is ", call.emit.typeText(y)));
  return false;
}

/// Builds the contraction if the sizes that share a letter fit.
static Datum contractBy(BuiltinCall &call, size_t first, const Rule &rule, Value x, Value y) {
  Dims left = call.emit.shapes.dimsOf(x), right = call.emit.shapes.dimsOf(y);
  for (size_t i = 0; i < rule.lhs.size(); ++i) {
    size_t j = rule.rhs.find(rule.lhs[i]);
    if (j == std::string::npos || left[i] == right[j] || !knownSize(left[i]) ||
        !knownSize(right[j]))
      continue;
    call.emit
        .error(DiagCode::PD0101, call.span,
               absl::StrCat("'", call.builtin.name, "' expects equal sizes for axis ", i,
                            " of the first and axis ", j, " of the second operand, found ",
                            *knownSize(left[i]), " and ", *knownSize(right[j])))
        .withSecondary(call.args[first].span, absl::StrCat("this is ", call.emit.typeText(x)))
        .withSecondary(call.args[first + 1].span, absl::StrCat("this is ", call.emit.typeText(y)));
    return Poison();
  }
  return contract(call.emit.b, call.emit.loc(call.span), rule.text(), x, y);
}

static Datum matmul(BuiltinCall &call) {
  Value x, y;
  if (!readFactors(call, 0, x, y))
    return Poison();
  int64_t left = Emitter::rankOf(x), right = Emitter::rankOf(y);
  bool isBatched = left > 2 || right > 2;
  bool fits = left >= 1 && right >= 1 && left <= 10 && (right <= 2 || right == left);
  if (!fits || (isBatched && left < 2)) {
    call.emit
        .error(DiagCode::PD0101, call.span,
               "'matmul' expects matrices or vectors, or two stacks of matrices")
        .withSecondary(call.args[0].span, absl::StrCat("this is ", call.emit.typeText(x)))
        .withSecondary(call.args[1].span, absl::StrCat("this is ", call.emit.typeText(y)));
    return Poison();
  }
  // Stacks share their leading axes; a matrix is used for every element of a stack.
  Rule rule;
  std::string batch;
  for (int64_t axis = 0; axis + 2 < left; ++axis)
    batch += static_cast<char>('a' + axis);
  std::string rows = left > 1 ? "i" : "", columns = right > 1 ? "j" : "";
  rule.lhs = batch + rows + "k";
  rule.rhs = (right > 2 ? batch : "") + "k" + columns;
  rule.out = batch + rows + columns;
  return contractBy(call, 0, rule, x, y);
}

static Datum einsum(BuiltinCall &call) {
  auto *text = call.value(0).get<std::string>();
  if (!text) {
    call.error(0, "a rule like \"ik,kj->ij\"");
    return Poison();
  }
  Value x, y;
  if (!readFactors(call, 1, x, y))
    return Poison();
  auto wrong = [&](const std::string &message) {
    call.emit.error(DiagCode::PD0105, call.args[0].span, message)
        .withNote("a letter names an axis; letters that are not in the result are summed");
    return Poison();
  };
  StringRef inputs, out, left, right;
  std::string plain;
  llvm::copy_if(*text, std::back_inserter(plain), [](char c) { return c != ' '; });
  std::tie(inputs, out) = StringRef(plain).split("->");
  std::tie(left, right) = inputs.split(',');
  Rule rule{left.str(), right.str(), out.str()};
  if (plain != rule.text())
    return wrong("expected a rule of two operands like \"ik,kj->ij\"");
  for (StringRef letters : {left, right, out})
    for (char c : letters)
      if (!llvm::isAlpha(c) || letters.count(c) != 1)
        return wrong("expected letters that are all different in each operand and the result");
  for (char c : rule.lhs + rule.rhs + rule.out)
    if (left.contains(c) + right.contains(c) + out.contains(c) < 2)
      return wrong(absl::StrCat("the letter '", std::string(1, c),
                                "' occurs only once; sum that axis first"));
  if (static_cast<int64_t>(rule.lhs.size()) != Emitter::rankOf(x) ||
      static_cast<int64_t>(rule.rhs.size()) != Emitter::rankOf(y))
    return wrong(absl::StrCat("expected as many letters as axes: the operands are ",
                              call.emit.typeText(x), " and ", call.emit.typeText(y)));
  return contractBy(call, 1, rule, x, y);
}

//===- Pictures ------------------------------------------------------------===//

static Datum conv2d(BuiltinCall &call) {
  Value x, w;
  if (!readFactors(call, 0, x, w))
    return Poison();
  auto stride = call.pair(2, {1, 1}), padding = call.pair(3, {0, 0});
  if (!stride || !padding)
    return Poison();
  return result(call.emit.make<Conv2dOp>(call.span, x, w, *stride, *padding));
}

static Datum maxPool2d(BuiltinCall &call) {
  Value x = call.floats(0);
  auto window = call.pair(1, {2, 2});
  if (!x || !window)
    return Poison();
  auto stride = call.pair(2, *window), padding = call.pair(3, {0, 0});
  if (!stride || !padding)
    return Poison();
  return result(call.emit.make<MaxPool2dOp>(call.span, x, *window, *stride, *padding));
}

//===- Gradients -----------------------------------------------------------===//

static Datum gradientOf(BuiltinCall &call) {
  return call.elaborator.gradient(call.args[0], call.args[1], call.span);
}

ArrayRef<Builtin> productBuiltins() {
  static const Builtin table[] = {
      {"matmul", "x, y", matmul,
       "The product of matrices, [M, K] and [K, N] -> [M, N]; of vectors, [K], and of stacks "
       "[.., M, K] with one matrix or a stack of equal leading sizes.",
       "print(matmul(tensor([[1.0, 2.0]]), tensor([3.0, 4.0]))) # f32[1] [11.0]"},
      {"einsum", "rule, x, y", einsum,
       "A sum of products by an index rule: letters name axes, those that are not in the result "
       "are "
       "summed.",
       "let x = tensor([1.0, 2.0])\nprint(einsum(\"i,i->\", x, x)) # 5.0"},
      {"conv2d", "x, w, stride?, padding?", conv2d,
       "Cross-correlation of pictures x: [N, C, H, W] with kernels w: [K, C, R, S] -> "
       "[N, K, (H + 2 padding - R) // stride + 1, ..].",
       "let x = ones([1, 1, 3, 3])\nlet w = ones([1, 1, 2, 2])\n"
       "print(shape(conv2d(x, w))) # [1, 1, 2, 2]"},
      {"max_pool2d", "x, window?, stride?, padding?", maxPool2d,
       "The largest element of each window of pictures [N, C, H, W]; the stride is the window "
       "unless given.",
       "print(shape(max_pool2d(ones([1, 1, 4, 4])))) # [1, 1, 2, 2]"},
      {"grad", "loss, of", gradientOf,
       "The gradient of a scalar loss for a tensor or a variable, or for each of a list.",
       "let x = tensor([1.0, 2.0])\nprint(grad(sum(x * x), x)) # f32[2] [2.0, 4.0]"},
  };
  return table;
}

} // namespace pdg
