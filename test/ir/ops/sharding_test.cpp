// The sharding rule of every op: its structure, and that the op on slices, joined, is the op on the
// whole. Sums are joined as a tree and keep their bits when the slices are whole leaves.
// SPDX-License-Identifier: Apache-2.0
#include "ir/interpret/evaluate_elementwise.h"
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

/// Where parts of an axis of `size` begin, the end of the last one included.
using Cuts = std::function<Shape(int64_t size)>;

/// `count` parts of as many elements as possible each: some are empty if there are too few.
Cuts evenCuts(int64_t count) {
  return [count](int64_t size) {
    Shape begins;
    for (int64_t r = 0; r <= count; ++r)
      begins.push_back(r * size / count);
    return begins;
  };
}

/// `count` parts of whole leaves of a sum, as pdg.part_begin counts them: some may have none.
Cuts leafCuts(int64_t count) {
  return [count](int64_t size) {
    Shape begins;
    int64_t leaves = leafCount(size);
    for (int64_t r = 0; r <= count; ++r)
      begins.push_back(size / leaves * (r * leaves / count));
    return begins;
  };
}

/// The op on each slice along `factor`, an axis of `size`.
std::vector<HostTensor> onSlices(TestContext &test, const Whole &whole, int factor, int64_t size,
                                 const Cuts &cuts) {
  std::vector<HostTensor> parts;
  int64_t resultAxis = axisOf(whole.rule.results[0], factor);
  Shape begins = cuts(size);
  for (size_t r = 0; r + 1 < begins.size(); ++r) {
    std::vector<HostTensor> slices;
    for (auto [factors, operand] : llvm::zip(whole.rule.operands, whole.operands)) {
      int64_t axis = axisOf(factors, factor);
      if (axis < 0) {
        slices.push_back(operand.clone().value());
        continue;
      }
      Shape own = cuts(operand.shape()[axis]);
      slices.push_back(sliceOf(operand, axis, own[r], own[r + 1]));
    }
    auto refs = llvm::map_to_vector(slices, [](const HostTensor &s) { return &s; });
    OpCase sliced = withSize(whole.opCase, resultAxis, begins[r + 1] - begins[r], whole.result);
    parts.push_back(evaluate(test, sliced, refs));
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
    std::vector<HostTensor> parts = onSlices(test, whole, factor, size, evenCuts(count));
    for (auto [r, part] : llvm::enumerate(parts)) {
      int64_t begin = r * size / count, end = (r + 1) * size / count;
      EXPECT_EQ(differenceOf(sliceOf(whole.result, axis, begin, end), part), "")
          << "factor " << factor << ", slice " << r << " of " << count;
    }
  }
}

/// Leaves of the result, from the terms of whole leaves.
void checkLeaves(TestContext &test, const Whole &whole, int factor, int64_t leaves) {
  std::vector<HostTensor> parts = onSlices(test, whole, factor, leaves, evenCuts(2));
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

/// Joins the partial results of slices as a tree with `op` and compares.
void checkJoined(TestContext &test, const Whole &whole, int factor, int64_t size, const Cuts &cuts,
                 const std::string &op) {
  std::vector<HostTensor> parts = onSlices(test, whole, factor, size, cuts);
  size_t count = parts.size();
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

/// Maxima of slices: any, but none may be empty, as a maximum of nothing is no element.
void checkMaximum(TestContext &test, const Whole &whole, int factor, int64_t size) {
  std::string op = whole.opCase.op == "pdg.reduce_max" ? "pdg.maximum" : "pdg.minimum";
  for (int64_t count : {int64_t(2), std::min<int64_t>(size, 3)})
    checkJoined(test, whole, factor, size, evenCuts(count), op);
}

/// Partial sums of slices, with the bits of the whole if these are whole leaves; and of slices of
/// any sizes, if no sum rounds.
void checkSum(TestContext &test, const Whole &whole, int factor, int64_t size) {
  // Parts of 512 terms and more have more than 16 leaves together; leaves are joined already.
  if (size >= 512)
    return;
  if (whole.opCase.op == "pdg.join_leaves")
    return checkJoined(test, whole, factor, size, evenCuts(2), "pdg.add");
  for (int64_t count : {2, 4, 8})
    checkJoined(test, whole, factor, size, leafCuts(count), "pdg.add");
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
    bool isSplit = size > 1 && (kind != FactorKind::Leaves || haveTerms(whole, factor, size));
    counts[kind] += isSplit && kind == FactorKind::Sum ? leafCount(size) > 1 : isSplit;
    if (kind == FactorKind::Parallel && isSplit)
      checkParallel(test, whole, factor, size);
    else if (kind == FactorKind::Leaves && isSplit)
      checkLeaves(test, whole, factor, size);
    else if (kind == FactorKind::Max && isSplit)
      checkMaximum(test, whole, factor, size);
    else if (kind == FactorKind::Sum && isSplit)
      checkSum(test, whole, factor, size);
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
