// Built-in functions that sum products, and gradients.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/builtins.h"
#include "ir/expr.h"
#include "ir/ops/layout.h"

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

namespace {
/// A tensor whose axes have letters.
struct Lettered {
  Value value;
  std::string letters;
};

/// A product of tensors by an index rule, one operand after the other.
class IndexSum {
public:
  explicit IndexSum(BuiltinCall &call) : call_(call) {}

  Datum run() {
    auto *text = call_.value(0).get<std::string>();
    if (!text) {
      call_.error(0, "a rule like \"ik,kj->ij\"");
      return Poison();
    }
    if (!readRule(*text) || !readOperands())
      return Poison();
    Lettered sum = operands_[0];
    for (size_t i = 1; i < operands_.size(); ++i)
      if (!join(sum, i))
        return Poison();
    return finish(sum);
  }

private:
  bool wrong(const std::string &message) {
    call_.emit.error(DiagCode::PD0105, call_.args[0].span, message)
        .withNote("a letter names an axis; letters that are not in the result are summed");
    return false;
  }

  static std::string joined(ArrayRef<std::string> parts) {
    std::string all;
    for (const std::string &part : parts)
      all += part;
    return all;
  }

  bool readRule(const std::string &text) {
    std::string plain;
    llvm::copy_if(text, std::back_inserter(plain), [](char c) { return c != ' '; });
    auto [inputs, out] = StringRef(plain).split("->");
    SmallVector<StringRef> parts;
    inputs.split(parts, ',');
    for (StringRef part : parts)
      rule_.push_back(part.str());
    out_ = out.str();
    for (char c : joined(rule_) + out_)
      if (!llvm::isAlpha(c))
        return wrong("expected a rule of letters like \"ik,kj->ij\"");
    if (!StringRef(plain).contains("->"))
      return wrong("expected a rule with its result behind an arrow, like \"ik,kj->ij\"");
    for (char c : out_) {
      if (llvm::count(out_, c) > 1)
        return wrong(absl::StrCat("the letter '", std::string(1, c), "' is twice in the result"));
      if (!StringRef(joined(rule_)).contains(c))
        return wrong(absl::StrCat("the letter '", std::string(1, c), "' is in no operand"));
    }
    return true;
  }

  bool readOperands() {
    size_t given = 0;
    while (given + 1 < call_.args.size() && call_.has(given + 1))
      ++given;
    if (given != rule_.size())
      return wrong(absl::StrCat("the rule is for ", rule_.size(), " operands, found ", given));
    for (size_t i = 0; i < given; ++i) {
      Value x = call_.floats(i + 1);
      if (!x)
        return false;
      if (static_cast<int64_t>(rule_[i].size()) != Emitter::rankOf(x))
        return wrong(absl::StrCat("expected as many letters as axes: '", rule_[i], "' stands for ",
                                  call_.emit.typeText(x)));
      operands_.push_back({x, rule_[i]});
      if (!takeDiagonals(operands_.back()))
        return false;
    }
    return true;
  }

  /// Makes axes with the same letter into one.
  bool takeDiagonals(Lettered &x) {
    for (size_t first = 0; first < x.letters.size(); ++first) {
      size_t second = x.letters.find(x.letters[first], first + 1);
      if (second == std::string::npos)
        continue;
      int64_t rank = x.letters.size();
      ArrayRef<int64_t> sizes = Emitter::typeOf(x.value).getShape();
      int64_t size = sizes[first];
      if (ShapedType::isDynamic(size) || size != sizes[second])
        return wrong(absl::StrCat("expected equal sizes that are known when compiling for the "
                                  "letter '",
                                  std::string(1, x.letters[first]), "' of ",
                                  call_.emit.typeText(x.value)));
      SmallVector<int64_t> order;
      std::string letters;
      for (int64_t axis = 0; axis < rank; ++axis)
        if (axis != int64_t(first) && axis != int64_t(second)) {
          order.push_back(axis);
          letters += x.letters[axis];
        }
      order.append({int64_t(first), int64_t(second)});
      Value last = call_.emit.make<TransposeOp>(call_.span, x.value, order);
      x = {last ? diagonalOf(call_, last) : last, letters + x.letters[first]};
      if (!x.value)
        return false;
      first = -1; // begins again
    }
    return true;
  }

  /// The letters that the result or an operand from `next` on has.
  std::string neededFrom(size_t next) const {
    std::string letters = out_;
    for (size_t i = next; i < operands_.size(); ++i)
      letters += operands_[i].letters;
    return letters;
  }

  /// Sums the axes of `x` whose letters are not in `needed`.
  void drop(Lettered &x, StringRef needed) {
    SmallVector<int64_t> axes;
    std::string left;
    for (auto [axis, letter] : llvm::enumerate(x.letters))
      if (needed.contains(letter))
        left += letter;
      else
        axes.push_back(axis);
    x = {sumOver(call_.emit.b, call_.emit.loc(call_.span), x.value, axes, false), left};
  }

  /// sum := the contraction of it with operand `i`.
  bool join(Lettered &sum, size_t i) {
    Lettered &next = operands_[i];
    std::string needed = neededFrom(i + 1);
    drop(sum, needed + next.letters);
    drop(next, needed + sum.letters);
    std::string letters;
    for (char c : sum.letters + next.letters)
      if (StringRef(needed).contains(c) && !StringRef(letters).contains(c))
        letters += c;
    if (i + 1 == operands_.size())
      letters = out_;
    if (Emitter::dtypeOf(sum.value) != Emitter::dtypeOf(next.value)) {
      call_.emit.error(DiagCode::PD0100, call_.span, "the operands have different element types")
          .withSecondary(call_.args[1].span,
                         absl::StrCat("this is ", call_.emit.typeText(sum.value)))
          .withSecondary(call_.args[i + 1].span,
                         absl::StrCat("this is ", call_.emit.typeText(next.value)));
      return false;
    }
    Datum product =
        contractBy(call_, i, {sum.letters, next.letters, letters}, sum.value, next.value);
    auto *value = product.get<Value>();
    sum = {value ? *value : Value(), letters};
    return value != nullptr;
  }

  /// `sum` without axes that the result has not, in the order of the result.
  Datum finish(Lettered sum) {
    drop(sum, out_);
    if (sum.letters == out_)
      return sum.value;
    SmallVector<int64_t> order;
    for (char c : out_)
      order.push_back(sum.letters.find(c));
    return result(call_.emit.make<TransposeOp>(call_.span, sum.value, order));
  }

  BuiltinCall &call_;
  std::vector<std::string> rule_;
  std::string out_;
  std::vector<Lettered> operands_;
};
} // namespace

static Datum einsum(BuiltinCall &call) { return IndexSum(call).run(); }

static Datum outer(BuiltinCall &call) {
  Value x, y;
  if (!readFactors(call, 0, x, y))
    return Poison();
  for (size_t i : {0, 1})
    if (Value side = i ? y : x; Emitter::rankOf(side) != 1) {
      call.error(i, "a vector");
      return Poison();
    }
  return contractBy(call, 0, {"i", "j", "ij"}, x, y);
}

static Datum dot(BuiltinCall &call) {
  Value x, y;
  if (!readFactors(call, 0, x, y))
    return Poison();
  for (size_t i : {0, 1})
    if (Value side = i ? y : x; Emitter::rankOf(side) != 1) {
      call.error(i, "a vector").withHint("products of matrices are matmul(x, y)");
      return Poison();
    }
  return contractBy(call, 0, {"k", "k", ""}, x, y);
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
      {"einsum", "rule, x, y?, z?, w?", einsum,
       "A sum of products by an index rule: letters name axes, those that are not in the result "
       "are "
       "summed; a letter twice in one operand takes its diagonal. Operands are joined from the "
       "left.",
       "let x = tensor([1.0, 2.0])\nprint(einsum(\"i,i->\", x, x)) # 5.0\n"
       "print(einsum(\"ii->i\", tensor([[1.0, 2.0], [3.0, 4.0]]))) # f32[2] [1.0, 4.0]"},
      {"outer", "x, y", outer, "The products of all elements of two vectors, [M], [N] -> [M, N].",
       "print(outer(tensor([1.0, 2.0]), tensor([3.0])))\n# f32[2, 1]\n# [[3.0],\n#  [6.0]]"},
      {"dot", "x, y", dot, "The sum of the products of two vectors' elements, [N], [N] -> [].",
       "print(dot(tensor([1.0, 2.0]), tensor([3.0, 4.0]))) # 11.0"},
      {"grad", "loss, of", gradientOf,
       "The gradient of a scalar loss for a tensor or a variable, or for each of a list.",
       "let x = tensor([1.0, 2.0])\nprint(grad(sum(x * x), x)) # f32[2] [2.0, 4.0]"},
  };
  return table;
}

} // namespace pdg
