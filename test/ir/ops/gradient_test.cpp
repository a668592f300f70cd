// The gradient of every op against central finite differences in f64, and gradients of gradients.
// Points are kept away from kinks. Control flow, whose ops hold others, has programs of its own.
// SPDX-License-Identifier: Apache-2.0
#include "ir/expr.h"
#include "ir/ops/autodiff.h"
#include "ir/ops/compare.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/elementwise_unary.h"
#include "test/ir/ops/differences.h"
#include "test/ir/ops/op_cases.h"

#include "mlir/IR/TypeUtilities.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

using namespace mlir;

namespace pdg {
namespace {

/// Ops that refuse to be differentiated. Whoever gives one a gradient takes it off.
const std::set<std::string> kRefuse = {
    "pdg.contract_leaves", "pdg.sum_leaves", "pdg.scatter_leaves",      "pdg.join_leaves",
    "pdg.take_row",        "pdg.put_slice",  "pdg.conv2d_weight_leaves"};
/// Ops whose gradient is zero by their meaning, whatever their values do.
const std::set<std::string> kStop = {"pdg.stop_gradient"};
/// Ops that are smooth in a part of the numbers only: a factor for their operands, which are signed
/// and below 2, or a number to add to positive ones.
const std::map<std::string, std::pair<double, double>> kDomains = {
    {"pdg.asin", {0.5, 0}}, {"pdg.acos", {0.5, 0}}, {"pdg.atanh", {0.5, 0}},
    {"pdg.tan", {0.5, 0}},  {"pdg.acosh", {1, 1}},
};
/// Elements of operands that are still quick to disturb one by one.
constexpr int64_t kMaxElements = 130;

double sumOf(const HostTensor &tensor) {
  double sum = 0;
  for (double x : tensor.values<double>())
    sum += x;
  return sum;
}

/// The sum of x * weights over everything.
Value weighted(OpBuilder &b, Value x, Value weights) {
  TensorExpr product = TensorExpr{b, x.getLoc(), x} * TensorExpr{b, x.getLoc(), weights};
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(x.getType()).getRank()));
  return sumOver(b, x.getLoc(), product.value, axes, false);
}

/// A program that fetches a loss and its gradient for each f64 input of one op.
class GradientProgram {
public:
  GradientProgram(TestContext &test, Random &random)
      : program(test), test_(test), random_(random) {}

  /// Adds `value` times fixed random weights to the loss.
  Value lossOf(Value value, const std::string &name) {
    auto type = cast<RankedTensorType>(value.getType());
    inputs[name] = randomTensor(random_, DType::F64, type.getShape().vec(), Style::Signed);
    return weighted(program.b, value, program.input(name, DType::F64, type.getShape()));
  }

  /// Fetches `loss` and its gradients as `prefix`, `prefix`0, ...; returns the gradients.
  SmallVector<Value> differentiate(Value loss, ValueRange sources, const std::string &prefix) {
    auto types = llvm::map_to_vector(sources, [](Value v) { return v.getType(); });
    auto op = GradientOp::create(program.b, program.loc, types, loss, program.b.getArrayAttr({}),
                                 sources);
    program.fetch(prefix, loss);
    for (auto [i, gradient] : llvm::enumerate(op.getResults()))
      program.fetch(prefix + std::to_string(i), gradient);
    return SmallVector<Value>(op.getResults());
  }

  bool finish() { return simplify(test_, program.finish()); }

  Outcome run() { return interpretModule(test_, *program.module, inputs); }

  void check(const Difference &difference, const std::string &what) {
    checkDifferences(test_, *program.module, inputs, difference, what);
  }

  ProgramBuilder program;
  Tensors inputs;

private:
  TestContext &test_;
  Random &random_;
};

/// Inputs of `op` at which it gives numbers: of both signs, or else positive.
void addSmoothInputs(GradientProgram &gradient, Random &random, Operation *op,
                     const OpCase &opCase) {
  if (auto domain = kDomains.find(opCase.op); domain != kDomains.end()) {
    auto [factor, offset] = domain->second;
    addInputs(gradient.inputs, random, op, opCase, "x", offset ? Style::Smooth : Style::Signed);
    HostTensor &x = *gradient.inputs["x0"];
    for (int64_t i = 0; i < x.numElements(); ++i)
      x.data<double>()[i] = x.data<double>()[i] * factor + offset;
    return;
  }
  addInputs(gradient.inputs, random, op, opCase, "x", Style::Signed);
  Outcome outcome = gradient.run();
  for (auto &[name, tensor] : outcome.values)
    if (tensor.dtype() == DType::F64 && !std::isfinite(sumOf(tensor)))
      return addInputs(gradient.inputs, random, op, opCase, "x", Style::Smooth);
}

/// The names and values of the operands of `op` that can have a gradient.
SmallVector<std::pair<std::string, Value>> sourcesOf(Operation *op, const OpCase &opCase) {
  SmallVector<std::pair<std::string, Value>> sources;
  for (auto [i, operand] : llvm::enumerate(opCase.operands))
    if (operand.dtype == DType::F64)
      sources.push_back({"x" + std::to_string(i), op->getOperand(i)});
  return sources;
}

/// True for cases with an f64 operand, an f64 result and not too many elements.
bool isDifferentiated(const OpCase &opCase) {
  return opCase.numElements() > 0 && opCase.numElements() <= kMaxElements &&
         llvm::any_of(opCase.operands,
                      [](const OperandSpec &operand) { return operand.dtype == DType::F64; });
}

void checkGradient(TestContext &test, Random &random, const OpCase &opCase, bool isSecond) {
  SCOPED_TRACE(opCase.str());
  test.reports.clear();
  GradientProgram gradient(test, random);
  Operation *op = gradient.program.add(opCase, "x");
  ASSERT_TRUE(op);
  if (!getElementTypeOrSelf(op->getResult(0).getType()).isF64())
    return;
  auto sources = sourcesOf(op, opCase);
  auto values = llvm::map_to_vector(sources, [](auto &source) { return source.second; });
  Value loss = gradient.lossOf(op->getResult(0), "w");
  SmallVector<Value> first = gradient.differentiate(loss, values, "loss");
  if (isSecond) {
    Value total;
    for (auto [i, g] : llvm::enumerate(first)) {
      Value part = gradient.lossOf(g, "v" + std::to_string(i));
      total = total ? AddOp::create(gradient.program.b, gradient.program.loc, total, part) : part;
    }
    gradient.differentiate(total, values, "second");
  }
  bool isRefused = kRefuse.contains(opCase.op);
  ASSERT_EQ(gradient.finish(), !isRefused) << test.reports;
  if (isRefused)
    return;
  addSmoothInputs(gradient, random, op, opCase);
  if (kStop.contains(opCase.op)) {
    Outcome outcome = gradient.run();
    for (double g : outcome.values.at("loss0").values<double>())
      EXPECT_EQ(g, 0);
    return;
  }
  for (auto [i, source] : llvm::enumerate(sources))
    gradient.check({isSecond ? "second" : "loss", i, source.first}, opCase.str());
}

TEST(Gradients, AgreeWithDifferences) {
  TestContext test;
  Random random(3);
  for (const OpCase &opCase : allCases(test))
    if (isDifferentiated(opCase))
      checkGradient(test, random, opCase, false);
}

TEST(Gradients, OfGradientsAgreeWithDifferences) {
  TestContext test;
  Random random(4);
  for (const OpCase &opCase : allCases(test))
    if (isDifferentiated(opCase))
      checkGradient(test, random, opCase, true);
}

} // namespace
} // namespace pdg
