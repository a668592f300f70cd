// The ops of contraction.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/contraction.h"
#include "ir/interpret/evaluate_contraction.h"
#include "ir/interpret/evaluate_leaves.h"
#include "ir/ops/leaves.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/contraction.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/contraction.cpp.inc"
      >();
});

using namespace mlir;

namespace pdg {

/// The two operands and the result of a rule "ik,kj->ij".
static std::array<StringRef, 3> splitRule(StringRef rule) {
  auto [inputs, out] = rule.split("->");
  auto [lhs, rhs] = inputs.split(',');
  return {lhs, rhs, out};
}

/// A rule that `what` breaks.
static LogicalResult badRule(ShapeRule &rule, StringRef text, StringRef what) {
  rule.error() << "expects " << what << " in the index rule \"" << text << "\"";
  return failure();
}

/// Checks what an index rule must be, apart from sizes.
static LogicalResult checkRule(StringRef text, ArrayRef<Dims> dims, ShapeRule &rule) {
  auto [lhs, rhs, out] = splitRule(text);
  for (StringRef letters : {lhs, rhs, out})
    for (size_t i = 0; i < letters.size(); ++i)
      if (letters.drop_front(i + 1).contains(letters[i]))
        return badRule(rule, text, "distinct letters for each tensor"); // C1
  for (char letter : out)
    if (!lhs.contains(letter) && !rhs.contains(letter))
      return badRule(rule, text, "letters of the result in an operand"); // C1
  for (char letter : (lhs + rhs).str())
    if (lhs.contains(letter) + rhs.contains(letter) + out.contains(letter) < 2)
      return badRule(rule, text, "every letter in two of the three tensors"); // C2
  if (lhs.size() != dims[0].size() || rhs.size() != dims[1].size())
    return badRule(rule, text, "as many letters as axes"); // C3
  return success();
}

FailureOr<Dims> contractionDims(StringRef text, ArrayRef<Dims> dims, ShapeRule &rule) {
  if (failed(checkRule(text, dims, rule)))
    return failure();
  auto [lhs, rhs, out] = splitRule(text);
  Dims result;
  for (char letter : out)
    result.push_back(lhs.contains(letter) ? dims[0][lhs.find(letter)] : dims[1][rhs.find(letter)]);
  for (auto [axis, letter] : llvm::enumerate(lhs)) {
    if (!rhs.contains(letter))
      continue;
    auto size = rule.unify(dims[0][axis], dims[1][rhs.find(letter)], StringRef(&letter, 1));
    if (failed(size))
      return failure();
    if (out.contains(letter))
      result[out.find(letter)] = *size;
  }
  return result;
}

ContractionRule parseContraction(StringRef text, bool leaves) {
  auto [lhs, rhs, out] = splitRule(text);
  ContractionRule rule;
  std::string letters;
  auto indexOf = [&](char letter) {
    if (letters.find(letter) == std::string::npos)
      letters += letter;
    return static_cast<int>(letters.find(letter));
  };
  for (char letter : lhs)
    rule.lhs.push_back(indexOf(letter));
  for (char letter : rhs)
    rule.rhs.push_back(indexOf(letter));
  for (char letter : out)
    rule.out.push_back(indexOf(letter));
  rule.leaves = leaves;
  return rule;
}

bool canCutContraction(StringRef text) {
  auto [lhs, rhs, out] = splitRule(text);
  StringRef result = out;
  auto isSummed = [&](char letter) { return !result.contains(letter); };
  StringRef before = lhs.take_until(isSummed), other = rhs.take_until(isSummed);
  auto areIn = [](StringRef letters, StringRef tensor) {
    return llvm::all_of(letters, [&](char letter) { return tensor.contains(letter); });
  };
  return before.size() < lhs.size() && other.size() < rhs.size() &&
         lhs[before.size()] == rhs[other.size()] && areIn(before, rhs) && areIn(other, lhs);
}

FailureOr<Dims> ContractOp::dimsOf(Adaptor op, ArrayRef<Dims> dims, ShapeRule &rule) {
  return contractionDims(op.getRule(), dims, rule);
}

Type ContractOp::elementOf(Adaptor op) { return getElementTypeOrSelf(op.getLhs().getType()); }

ContractionRule ContractOp::getContractionRule() {
  return parseContraction(getRule(), getLeaves());
}

LogicalResult ContractOp::verify() {
  if (getLeaves() && !canCutContraction(getRule()))
    return emitOpError("expects a summed index on axis 0 of both operands to cut into leaves");
  return success();
}

ShardingRule ContractOp::getShardingRule() { return contractionSharding(getContractionRule()); }

int64_t ContractOp::getLeafBound() {
  if (!getLeaves())
    return 1;
  ContractionRule rule = getContractionRule();
  size_t axis = llvm::find(rule.lhs, rule.summed().front()) - rule.lhs.begin();
  return leafBound(llvm::cast<RankedTensorType>(getLhs().getType()).getDimSize(axis));
}

Value ContractOp::addToLeaves(OpBuilder &b, Value leaves) {
  return ContractLeavesOp::create(b, getLoc(), getRule(), getLhs(), getRhs(), getLeaves(), leaves);
}

LogicalResult ContractOp::evaluate(Evaluation &eval) {
  return evaluateContraction(getContractionRule(), eval);
}

LogicalResult ContractOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (!g)
    return success();
  auto [lhs, rhs, out] = splitRule(getRule());
  // By C2 a letter of an operand is in the other operand or in the result, so each gradient is
  // again a contraction. Operand order keeps the first axis of the summed index first.
  if (reverse.isActive(getLhs()))
    reverse.add(getLhs(), contract(b, getLoc(), (out + "," + rhs + "->" + lhs).str(), g, getRhs()));
  if (reverse.isActive(getRhs()))
    reverse.add(getRhs(), contract(b, getLoc(), (lhs + "," + out + "->" + rhs).str(), getLhs(), g));
  return success();
}

} // namespace pdg
