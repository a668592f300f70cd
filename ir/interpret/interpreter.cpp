// Runs blocks op by op. Values live in a map from the block's start, or their op, to their last
// use. SPDX-License-Identifier: Apache-2.0
#include "ir/interpret/interpreter.h"
#include "ir/interpret/op_evaluation.h"
#include "runtime/worker/execution_context.h"

#include <absl/strings/str_cat.h>

using namespace mlir;

namespace pdg {

//===- Values --------------------------------------------------------------===//

/// For each op of `block`, the values of the block that nobody uses after it. Those that the
/// terminator uses are not listed: they end with the block.
static std::vector<SmallVector<Value, 2>> planReleases(Block &block) {
  DenseMap<Operation *, size_t> order;
  for (Operation &op : block)
    order[&op] = order.size();
  std::vector<SmallVector<Value, 2>> releases(order.size());
  auto add = [&](Value value, size_t last) {
    for (Operation *user : value.getUsers())
      last = std::max(last, order.lookup(block.findAncestorOpInBlock(*user)));
    releases[last].push_back(value);
  };
  if (!order.empty())
    for (Value argument : block.getArguments())
      add(argument, 0);
  for (Operation &op : block)
    for (Value result : op.getResults())
      add(result, order.lookup(&op));
  return releases;
}

void Interpreter::release(ArrayRef<Value> values) {
  for (Value value : values)
    values_.erase(value);
}

//===- Blocks and ops ------------------------------------------------------===//

FailureOr<SmallVector<SharedTensor>> Interpreter::runBlock(Block &block,
                                                           ArrayRef<SharedTensor> arguments) {
  if (!context_.poll())
    return failure();
  auto [plan, isNew] = releases_.try_emplace(&block);
  if (isNew)
    plan->second = std::make_unique<Releases>(planReleases(block));
  // Nested blocks add to the map of plans: the plan itself stays where it is.
  const Releases &releases = *plan->second;
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    values_[argument] = value;
  SmallVector<SharedTensor> yielded;
  size_t index = 0;
  LogicalResult result = success();
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      for (Value operand : op.getOperands())
        yielded.push_back(lookup(operand));
    else if (failed(result = runOp(op)))
      break;
    release(releases[index++]);
  }
  for (; index < releases.size(); ++index)
    release(releases[index]);
  if (failed(result))
    return failure();
  return yielded;
}

LogicalResult Interpreter::runOp(Operation &op) {
  if (options_.beforeOp)
    options_.beforeOp();
  OpEvaluation evaluation(*this, op);
  if (failed(evaluation.run()))
    // Whoever fails says why. That an op cannot be run at all is the one case that nobody reports.
    return context_.fail(absl::InvalidArgumentError(absl::StrCat(
                             "'", op.getName().getStringRef().str(), "' cannot be interpreted")),
                         locationText(op.getLoc())),
           failure();
  return success();
}

//===- Variables -----------------------------------------------------------===//

SharedTensor Interpreter::readVariable(int64_t index) {
  SharedTensor &latest = latest_[index];
  if (!latest || context_.sharesVariables()) {
    auto copy = context_.variables()[index].clone();
    if (!copy.ok())
      return context_.fail(copy.status()), nullptr;
    latest = std::make_shared<HostTensor>(*std::move(copy));
  }
  return latest;
}

void Interpreter::assignVariable(int64_t index, SharedTensor value) {
  HostTensor &variable = context_.variables()[index];
  std::memcpy(variable.bytes(), value->bytes(), variable.numBytes());
  latest_[index] = std::move(value);
}

//===- The run -------------------------------------------------------------===//

bool Interpreter::initialize() {
  latest_.assign(context_.variables().size(), nullptr);
  for (Operation *variable : tables_.variableOps())
    if (failed(runOp(*variable)))
      return false;
  return true;
}

bool Interpreter::run() {
  // The variables may have been loaded since.
  latest_.assign(context_.variables().size(), nullptr);
  return succeeded(runOp(*tables_.program()));
}

InterpretedRun::InterpretedRun(const ProgramTables &tables, ExecutionContext &context,
                               const InterpretOptions &options)
    : context_(context), interpreter_(std::make_unique<Interpreter>(tables, context, options)) {}

InterpretedRun::~InterpretedRun() = default;

bool InterpretedRun::initialize() {
  return context_.initialize([&] { return interpreter_->initialize(); });
}

bool InterpretedRun::execute() {
  return context_.execute([&] { return interpreter_->run(); });
}

int64_t interpret(ModuleOp, const ProgramTables &tables, ExecutionContext &context,
                  const InterpretOptions &options) {
  InterpretedRun run(tables, context, options);
  return run.initialize() && run.execute() ? 0 : context.error().exitCode;
}

} // namespace pdg
