// The state of an interpreted run, and of one op in it. Included by the interpreter alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/interpret/interpreter.h"
#include "runtime/worker/execution_context.h"

namespace pdg {

/// One interpreted run: the values that are alive, and the variables.
class Interpreter {
public:
  Interpreter(const ProgramTables &tables, ExecutionContext &context,
              const InterpretOptions &options)
      : tables_(tables), context_(context), options_(options) {}

  /// Gives every variable its first value; false after an error.
  bool initialize();
  /// Runs the program; false after an error.
  bool run();

  const ProgramTables &tables() const { return tables_; }
  ExecutionContext &context() const { return context_; }
  const InterpretOptions &options() const { return options_; }

  /// The value of `value`. Requires: its op was run and a use is still to come.
  const SharedTensor &lookup(mlir::Value value) const { return values_.find(value)->second; }
  void bind(mlir::Value value, SharedTensor tensor) { values_[value] = std::move(tensor); }

  /// Runs the ops of `block`; gives the operands of its terminator.
  mlir::FailureOr<llvm::SmallVector<SharedTensor>> runBlock(mlir::Block &block,
                                                            llvm::ArrayRef<SharedTensor> arguments);

  /// The value of variable `index`, shared until the next assignment; null after an error.
  SharedTensor readVariable(int64_t index);
  void assignVariable(int64_t index, SharedTensor value);

private:
  using Releases = std::vector<llvm::SmallVector<mlir::Value, 2>>;

  mlir::LogicalResult runOp(mlir::Operation &op);
  void release(llvm::ArrayRef<mlir::Value> values);

  const ProgramTables &tables_;
  ExecutionContext &context_;
  InterpretOptions options_;
  llvm::DenseMap<mlir::Value, SharedTensor> values_;
  llvm::DenseMap<mlir::Block *, std::unique_ptr<Releases>> releases_;
  std::vector<SharedTensor> latest_; ///< Of each variable the value, once somebody read it.
};

/// One execution of one op.
class OpEvaluation final : public Evaluation {
public:
  OpEvaluation(Interpreter &interpreter, mlir::Operation &op)
      : interpreter_(interpreter), op_(op), results_(op.getNumResults()) {}

  /// Checks what only the run can check, evaluates the op and binds its results.
  mlir::LogicalResult run();

  const HostTensor &operand(unsigned i) override { return *operandRef(i); }
  SharedTensor operandRef(unsigned i) override { return interpreter_.lookup(op_.getOperand(i)); }
  HostTensor &result(unsigned i, llvm::ArrayRef<int64_t> shape) override;
  void setResult(unsigned i, SharedTensor value) override { results_[i] = std::move(value); }
  mlir::FailureOr<llvm::SmallVector<SharedTensor>>
  run(mlir::Block &block, llvm::ArrayRef<SharedTensor> arguments) override {
    return interpreter_.runBlock(block, arguments);
  }
  SharedTensor scalar(int64_t value) override;
  SharedTensor read(mlir::Attribute name) override;
  mlir::LogicalResult assign(mlir::Attribute name, SharedTensor value) override;
  mlir::LogicalResult openPass(mlir::Attribute source) override;
  mlir::FailureOr<llvm::SmallVector<SharedTensor>> nextBatch(mlir::Attribute source) override;
  mlir::FailureOr<int64_t> sourceSize(mlir::Attribute source) override;
  mlir::FailureOr<SharedTensor> input(llvm::StringRef name) override;
  int64_t seed() override;
  int64_t replica() override;
  mlir::LogicalResult send(mlir::Attribute edge, SharedTensor value) override;
  mlir::FailureOr<SharedTensor> receive(mlir::Attribute edge, int64_t from) override;
  mlir::LogicalResult enqueue(mlir::Attribute queue, int64_t capacity, SharedTensor value) override;
  mlir::FailureOr<SharedTensor> dequeue(mlir::Attribute queue) override;
  mlir::LogicalResult refuse(llvm::StringRef text) override;
  mlir::LogicalResult print(llvm::ArrayRef<SharedTensor> values) override;
  mlir::LogicalResult fetch(llvm::StringRef name, SharedTensor value) override;
  mlir::LogicalResult fail(llvm::ArrayRef<SharedTensor> values) override;
  mlir::LogicalResult mismatch(const HostTensor &a, const HostTensor &b) override;

private:
  ExecutionContext &context() const { return interpreter_.context(); }
  const ProgramTables &tables() const { return interpreter_.tables(); }

  mlir::LogicalResult prepare();
  mlir::FailureOr<std::vector<int64_t>> inferShape();
  mlir::LogicalResult check();
  mlir::FailureOr<SharedTensor> copyOf(mlir::Attribute edge, const TensorView &message);
  mlir::LogicalResult checkNan();
  mlir::LogicalResult failWorld(const absl::Status &status);
  mlir::LogicalResult failWith(int64_t text, llvm::ArrayRef<int64_t> values);
  mlir::LogicalResult failMismatch(int64_t a, int64_t b);

  Interpreter &interpreter_;
  mlir::Operation &op_;
  llvm::SmallVector<SharedTensor, 1> results_;
  std::shared_ptr<HostTensor> prepared_; ///< Result 0, made before the op runs.
};

} // namespace pdg
