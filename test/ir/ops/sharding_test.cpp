// The sharding rule of every op: its structure, and that the op on slices, joined, is the op on the
// whole. Sums are joined as a tree and keep their bits when the slices are whole leaves.
// SPDX-License-Identifier: Apache-2.0
#include "test/ir/ops/op_cases.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace pdg {
namespace {

using Shape = std::vector<int64_t>;

/// Elements of `tensor` with positions [begin, end) along `axis`.
HostTensor sliceOf(const HostTensor &tensor, int64_t axis, int64_t begin, int64_t end) {
  Shape shape = tensor.shape();
  int64_t outer = 1, row = sizeOf(tensor.dtype()), whole = shape[axis];
  for (int64_t k = 0; k < axis; ++k)
    outer *= shape[k];
  for (size_t k = axis + 1; k < shape.size(); ++k)
    row *= shape[k];
  shape[axis] = end - begin;
  HostTensor result = HostTensor::create(tensor.dtype(), shape).value();
  for (int64_t i = 0; i < outer; ++i)
    std::memcpy(result.bytes() + i * (end - begin) * row,
                tensor.bytes() + (i * whole + begin) * row, (end - begin) * row);
  return result;
}

/// The axis of a tensor that has `factor`, or -1.
int64_t axisOf(ArrayRef<int> factors, int factor) {
  auto found = llvm::find(factors, factor);
  return found == factors.end() ? -1 : found - factors.begin();
}

/// The value of the op of `opCase` on `operands`.
HostTensor evaluate(TestContext &test, OpCase opCase, ArrayRef<const HostTensor *> operands) {
  Tensors inputs;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    opCase.operands[i].shape = operand->shape();
    inputs["x" + std::to_string(i)] = std::make_shared<HostTensor>(operand->clone().value());
  }
  ProgramBuilder program(test);
  Operation *op = program.add(opCase, "x");
  if (!op) {
    ADD_FAILURE() << "no such slice: " << opCase.str() << test.reports;
    return {};
  }
  program.fetch("y", op->getResult(0));
  Outcome outcome = interpretModule(test, program.finish(), inputs);
  EXPECT_EQ(outcome.problem + outcome.error.message, "") << opCase.str();
  return std::move(outcome.values.at("y"));
}

/// `opCase` with the size of a result's axis in its shape argument, if it has one.
OpCase withSize(OpCase opCase, int64_t axis, int64_t size, const HostTensor &whole) {
  size_t at = opCase.attributes.find("shape = array<i64");
  if (at == std::string::npos || axis < 0)
    return opCase;
  std::string list = "shape = array<i64";
  for (int64_t k = 0; k < whole.rank(); ++k)
    list += (k ? ", " : ": ") + std::to_string(k == axis ? size : whole.shape()[k]);
  size_t end = opCase.attributes.find('>', at);
  opCase.attributes.replace(at, end - at, list);
  return opCase;
}

/// One op with its operands, whole.
struct Whole {
  const OpCase &opCase;
  ShardingRule rule;
  std::vector<HostTensor> operands;
  HostTensor result;
};

/// The op on each of `count` slices along `factor`.
std::vector<HostTensor> onSlices(TestContext &test, const Whole &whole, int factor, int64_t size,
                                 int64_t count) {
  std::vector<HostTensor> parts;
  int64_t resultAxis = axisOf(whole.rule.results[0], factor);
  for (int64_t r = 0; r < count; ++r) {
    int64_t begin = r * size / count, end = (r + 1) * size / count;
    std::vector<HostTensor> slices;
    for (auto [factors, operand] : llvm::zip(whole.rule.operands, whole.operands)) {
      int64_t axis = axisOf(factors, factor);
      if (axis < 0) {
        slices.push_back(operand.clone().value());
        continue;
      }
      int64_t all = operand.shape()[axis];
      slices.push_back(sliceOf(operand, axis, r * all / count, (r + 1) * all / count));
    }
    auto refs = llvm::map_to_vector(slices, [](const HostTensor &s) { return &s; });
    parts.push_back(
        evaluate(test, withSize(whole.opCase, resultAxis, end - begin, whole.result), refs));
  }
  return parts;
}

void checkStructure(Operation *op, const ShardingRule &rule) {
  ASSERT_EQ(rule.operands.size(), op->getNumOperands());
  ASSERT_EQ(rule.results.size(), op->getNumResults());
  DenseMap<int, int64_t> sizes;
  auto check = [&](ArrayRef<int> factors, Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    ASSERT_EQ(int64_t(factors.size()), type.getRank());
    for (auto [axis, factor] : llvm::enumerate(factors)) {
      ASSERT_GE(factor, -1);
      ASSERT_LT(factor, int(rule.kinds.size()));
      if (factor < 0 || rule.kinds[factor] == FactorKind::Whole)
        continue;
      // The terms of a sum, and its leaves.
      if (rule.kinds[factor] == FactorKind::Leaves)
        continue;
      auto [known, isNew] = sizes.try_emplace(factor, type.getDimSize(axis));
      EXPECT_EQ(known->second, type.getDimSize(axis)) << "sizes of factor " << factor;
    }
  };
  for (auto [factors, operand] : llvm::zip(rule.operands, op->getOperands()))
    check(factors, operand);
  check(rule.results[0], op->getResult(0));
  // A sum is not in the result; what is parallel is.
  for (auto [factor, kind] : llvm::enumerate(rule.kinds)) {
    bool isInResult = axisOf(rule.results[0], factor) >= 0;
    if (kind == FactorKind::Parallel || kind == FactorKind::Leaves) {
      EXPECT_TRUE(isInResult) << "factor " << factor;
    } else if (kind != FactorKind::Whole) {
      EXPECT_FALSE(isInResult) << "factor " << factor;
    }
  }
}

/// Slices of the result, each from slices of the operands.
void checkParallel(TestContext &test, const Whole &whole, int factor, int64_t size) {
  int64_t axis = axisOf(whole.rule.results[0], factor);
  // More slices than elements: some are empty.
  for (int64_t count : {int64_t(2), int64_t(3), std::min<int64_t>(size, 20) + 1}) {
    std::vector<HostTensor> parts = onSlices(test, whole, factor, size, count);
    for (auto [r, part] : llvm::enumerate(parts)) {
      int64_t begin = r * size / count, end = (r + 1) * size / count;
      EXPECT_EQ(differenceOf(sliceOf(whole.result, axis, begin, end), part), "")
          << "factor " << factor << ", slice " << r << " of " << count;
    }
  }
}

/// Leaves of the result, from the terms of whole leaves.
void checkLeaves(TestContext &test, const Whole &whole, int factor, int64_t leaves) {
  std::vector<HostTensor> parts = onSlices(test, whole, factor, leaves, 2);
  for (int64_t r : {0, 1})
    EXPECT_EQ(
        differenceOf(sliceOf(whole.result, 0, r * leaves / 2, (r + 1) * leaves / 2), parts[r]), "")
        << "factor " << factor << ", half " << r;
}

/// True if all leaves of the result have terms, so that halves of the terms are whole leaves.
bool haveTerms(const Whole &whole, int factor, int64_t leaves) {
  for (auto [factors, operand] : llvm::zip(whole.rule.operands, whole.operands))
    if (int64_t axis = axisOf(factors, factor); axis == 0 && operand.shape()[0] != leaves)
      return operand.shape()[0] % (16 * leaves) == 0;
  return false;
}

/// Joins the partial results of `count` slices as a tree with `ops` and compares.
void checkJoined(TestContext &test, const Whole &whole, int factor, int64_t size, int64_t count,
                 const std::string &op) {
  std::vector<HostTensor> parts = onSlices(test, whole, factor, size, count);
  DType dtype = whole.result.dtype();
  while (parts.size() > 1) {
    std::vector<HostTensor> next;
    for (size_t i = 0; i < parts.size(); i += 2) {
      if (i + 1 == parts.size()) {
        next.push_back(std::move(parts[i]));
        continue;
      }
      OpCase join{op, {{dtype, {}}, {dtype, {}}}, "{}", ""};
      next.push_back(evaluate(test, join, {&parts[i], &parts[i + 1]}));
    }
    parts = std::move(next);
  }
  EXPECT_EQ(differenceOf(whole.result, parts.front()), "")
      << "factor " << factor << " in " << count << " slices";
}

/// The number of slices of a first axis, at most 4, that are whole leaves of a sum with as many
/// leaves as its slices have together; 1 if there is none.
int64_t slicesOfLeaves(int64_t size) {
  return size == 64 ? 4 : size == 128 || size == 256 || size == 32 ? 2 : 1;
}

/// How often each kind of factor was split.
using Counts = std::map<FactorKind, int>;

void checkCase(TestContext &test, Random &random, const OpCase &opCase, Counts &counts) {
  SCOPED_TRACE(opCase.str());
  ProgramBuilder program(test);
  Operation *op = program.add(opCase, "x");
  ShardingRule rule = cast<ShardableOpInterface>(op).getShardingRule();
  if (rule.empty())
    return;
  checkStructure(op, rule);
  if (testing::Test::HasFatalFailure())
    return;
  Tensors inputs;
  addInputs(inputs, random, op, opCase, "x", Style::Plain);
  Whole whole{opCase, rule, {}, {}};
  for (size_t i = 0; i < opCase.operands.size(); ++i)
    whole.operands.push_back(inputs["x" + std::to_string(i)]->clone().value());
  auto refs = llvm::map_to_vector(whole.operands, [](const HostTensor &t) { return &t; });
  whole.result = evaluate(test, opCase, refs);
  for (auto [factor, kind] : llvm::enumerate(rule.kinds)) {
    int64_t size = 0;
    for (auto [factors, operand] : llvm::zip(rule.operands, whole.operands))
      if (int64_t axis = axisOf(factors, factor); axis >= 0)
        size = operand.shape()[axis];
    if (int64_t axis = axisOf(rule.results[0], factor); axis >= 0)
      size = whole.result.shape()[axis];
    int64_t slices =
        opCase.op == "pdg.join_leaves" ? std::min<int64_t>(size, 2) : slicesOfLeaves(size);
    bool isSplit = kind == FactorKind::Sum      ? slices > 1
                   : kind == FactorKind::Leaves ? size > 1 && haveTerms(whole, factor, size)
                                                : size > 1;
    counts[kind] += isSplit;
    if (kind == FactorKind::Parallel && isSplit)
      checkParallel(test, whole, factor, size);
    else if (kind == FactorKind::Leaves && isSplit)
      checkLeaves(test, whole, factor, size);
    else if (kind == FactorKind::Max && isSplit)
      checkJoined(test, whole, factor, size, 2,
                  opCase.op == "pdg.reduce_max" ? "pdg.maximum" : "pdg.minimum");
    else if (kind == FactorKind::Sum && isSplit)
      checkJoined(test, whole, factor, size, slices, "pdg.add");
  }
}

TEST(ShardingRules, GiveTheWholeFromSlices) {
  TestContext test;
  Random random(6);
  Counts counts;
  for (const OpCase &opCase : allCases(test))
    checkCase(test, random, opCase, counts);
  EXPECT_GT(counts[FactorKind::Parallel], 300);
  EXPECT_GT(counts[FactorKind::Max], 20);
  EXPECT_GT(counts[FactorKind::Sum], 20);
  EXPECT_GT(counts[FactorKind::Leaves], 8);
}

} // namespace
} // namespace pdg
