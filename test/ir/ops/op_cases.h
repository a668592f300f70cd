// The cases of the generic tests: for each registered op some operands and attributes that it
// takes. Element-wise ops make their own; the others have a line or two in a table.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "test/ir/ops/op_runner.h"

namespace pdg {

/// One operand of a case.
struct OperandSpec {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  int64_t limit = 0; ///< Elements are indices below this; 0: any numbers.
};

/// One way to use one op.
struct OpCase {
  std::string op; ///< "pdg.sum"
  std::vector<OperandSpec> operands;
  std::string attributes = "{}"; ///< As MLIR prints them.
  std::string batched;           ///< 'b' for each operand whose axis 0 may be a batch; empty: none.

  /// "pdg.sum(f32[3, 4]) {axis = 0 : i64}"
  std::string str() const;
  /// Elements of all operands.
  int64_t numElements() const;
};

/// All registered ops of the dialect.
std::vector<mlir::RegisteredOperationName> allOps(mlir::MLIRContext &context);

/// True for ops without values of their own: control flow, effects, variables.
bool hasNoCases(mlir::RegisteredOperationName op);

/// The cases of `op`; none if it is neither element-wise nor in the table.
std::vector<OpCase> casesOf(TestContext &test, mlir::RegisteredOperationName op);

/// The cases of all ops.
std::vector<OpCase> allCases(TestContext &test);

/// Builds the op of `opCase` on `operands`; null if it does not verify.
mlir::Operation *buildOp(mlir::OpBuilder &b, const OpCase &opCase, mlir::ValueRange operands);

/// A module with an empty program, and a builder at the program's end.
struct ProgramBuilder {
  explicit ProgramBuilder(TestContext &test);
  mlir::Value input(const std::string &name, DType dtype, llvm::ArrayRef<int64_t> shape);
  void fetch(const std::string &name, mlir::Value value);
  /// The inputs `prefix`0, `prefix`1, ... for the operands of `opCase`, and the op on them.
  mlir::Operation *add(const OpCase &opCase, const std::string &prefix);
  /// Ends the program; reports a failure of the test if the module is wrong.
  mlir::ModuleOp finish();

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OpBuilder b;
  mlir::Location loc;
};

/// Random tensors for the operands of `opCase`, by the names that ProgramBuilder::add gives them.
/// `zerosAllowed` is false for an operand that must not be zero.
void addInputs(Tensors &inputs, Random &random, mlir::Operation *op, const OpCase &opCase,
               const std::string &prefix, Style style);

} // namespace pdg
