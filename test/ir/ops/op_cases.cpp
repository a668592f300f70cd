// Builds cases as programs; see op_cases.h. The table is in op_table.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "test/ir/ops/op_cases.h"
#include "ir/ops/control.h"
#include "ir/ops/effects.h"
#include "ir/ops/variable.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace pdg {

std::string OpCase::str() const {
  std::string text = op + "(";
  for (const OperandSpec &operand : operands)
    text += (text.back() == '(' ? "" : ", ") + typeString(operand.dtype, operand.shape);
  return text + ") " + attributes;
}

int64_t OpCase::numElements() const {
  int64_t count = 0;
  for (const OperandSpec &operand : operands)
    count += countElements(operand.shape).value();
  return count;
}

std::vector<RegisteredOperationName> allOps(MLIRContext &context) {
  ArrayRef<RegisteredOperationName> ops = context.getRegisteredOperationsByDialect("pdg");
  return {ops.begin(), ops.end()};
}

Operation *buildOp(OpBuilder &b, const OpCase &opCase, ValueRange operands) {
  MLIRContext *context = b.getContext();
  auto attributes = cast<DictionaryAttr>(parseAttribute(opCase.attributes, context));
  OperationState state(b.getUnknownLoc(), opCase.op, operands,
                       RankedTensorType::get({}, b.getF32Type()), attributes.getValue());
  Operation *op = b.create(state);
  // The real type follows from the operands, which the op knows best.
  SmallVector<Type> types;
  auto rule = dyn_cast<InferTypeOpInterface>(op);
  if (!rule ||
      failed(rule.inferReturnTypes(context, op->getLoc(), op->getOperands(),
                                   op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
                                   op->getRegions(), types)) ||
      types.size() != 1 || !toDType(types[0])) {
    op->erase();
    return nullptr;
  }
  op->getResult(0).setType(types[0]);
  if (succeeded(verify(op)))
    return op;
  op->erase();
  return nullptr;
}

//===- Programs ------------------------------------------------------------===//

ProgramBuilder::ProgramBuilder(TestContext &test)
    : module(ModuleOp::create(UnknownLoc::get(&test.context))), b(&test.context),
      loc(b.getUnknownLoc()) {
  b.setInsertionPointToEnd(module->getBody());
  auto program = ProgramOp::create(b, loc);
  b.setInsertionPointToEnd(&program.getBody().emplaceBlock());
}

Value ProgramBuilder::input(const std::string &name, DType dtype, ArrayRef<int64_t> shape) {
  return InputOp::create(b, loc, typeOf(b.getContext(), dtype, shape), name);
}

void ProgramBuilder::fetch(const std::string &name, Value value) {
  FetchOp::create(b, loc, name, value);
}

Operation *ProgramBuilder::add(const OpCase &opCase, const std::string &prefix) {
  SmallVector<Value> operands;
  for (auto [i, operand] : llvm::enumerate(opCase.operands))
    operands.push_back(input(prefix + std::to_string(i), operand.dtype, operand.shape));
  return buildOp(b, opCase, operands);
}

ModuleOp ProgramBuilder::finish() {
  YieldOp::create(b, loc);
  EXPECT_TRUE(succeeded(verify(*module)));
  return *module;
}

void addInputs(Tensors &inputs, Random &random, Operation *op, const OpCase &opCase,
               const std::string &prefix, Style style) {
  auto checked = dyn_cast<CheckedOpInterface>(op);
  std::optional<RunCheck> check = checked ? checked.getRunCheck() : std::nullopt;
  for (auto [i, operand] : llvm::enumerate(opCase.operands)) {
    auto &tensor = inputs[prefix + std::to_string(i)];
    tensor = operand.limit ? randomIndices(random, operand.dtype, operand.shape, operand.limit)
                           : randomTensor(random, operand.dtype, operand.shape, style);
    if (check && check->kind == RunCheck::NotZero && check->operand == i)
      avoidZeros(*tensor);
  }
}

} // namespace pdg
