// The ops of control.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/control.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/control.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/control.cpp.inc"
      >();
});

using namespace mlir;

namespace pdg {

//===- Loops ---------------------------------------------------------------===//

Value LoopOpInterface::getInit(unsigned index) {
  Operation *op = getOperation();
  return op->getOperand(op->getNumOperands() - op->getNumResults() + index);
}

BlockArgument LoopOpInterface::getCarried(unsigned index) {
  return getOperation()->getRegion(0).getArgument(getNumLeading() + index);
}

//===- ProgramOp and YieldOp -----------------------------------------------===//

LogicalResult ProgramOp::vjp(OpBuilder &, Reverse &) {
  return emitOpError("is not inside a differentiated region");
}
ShardingRule ProgramOp::getShardingRule() { return {}; }
LogicalResult ProgramOp::evaluate(Evaluation &eval) {
  return success(succeeded(eval.run(getBody().front(), {})));
}

LogicalResult YieldOp::verify() {
  // C1
  if (getGoesOn() && !isa<LoopOpInterface>((*this)->getParentOp()))
    return emitOpError("expects 'while' in a loop only");
  return success();
}
LogicalResult YieldOp::vjp(OpBuilder &, Reverse &) { return success(); }
ShardingRule YieldOp::getShardingRule() { return {}; }
LogicalResult YieldOp::evaluate(Evaluation &) { return success(); }

/// Gives the values of a finished region to the op's results.
static void setResults(Evaluation &eval, ArrayRef<SharedTensor> values) {
  for (auto [i, value] : llvm::enumerate(values))
    eval.setResult(i, value);
}

/// Reports a yield whose types are not those of the op's results.
static LogicalResult verifyYield(Operation *op, Region &region, TypeRange types) {
  if (cast<YieldOp>(region.front().getTerminator()).getValues().getTypes() != types)
    return op->emitOpError("expects its regions to yield values of its results' types");
  return success();
}

/// Makes the values of a finished round the carried ones; tells whether there is another round.
static bool endRound(Region &body, SmallVector<SharedTensor> values,
                     SmallVector<SharedTensor> &carried) {
  bool hasCondition = cast<YieldOp>(body.front().getTerminator()).getGoesOn() != nullptr;
  bool goesOn = !hasCondition || values.pop_back_val()->data<bool>()[0];
  carried = std::move(values);
  return goesOn;
}

//===- FusedOp -------------------------------------------------------------===//

LogicalResult FusedOp::vjp(OpBuilder &, Reverse &) {
  return emitOpError("is made after gradients are taken");
}
ShardingRule FusedOp::getShardingRule() { return {}; }
LogicalResult FusedOp::evaluate(Evaluation &eval) {
  auto values = eval.run(getBody().front(), {});
  if (failed(values))
    return failure();
  setResults(eval, *values);
  return success();
}

//===- IfOp ----------------------------------------------------------------===//

LogicalResult IfOp::verify() {
  if (failed(verifyYield(*this, getThenRegion(), getResultTypes())))
    return failure();
  return verifyYield(*this, getElseRegion(), getResultTypes());
}

ShardingRule IfOp::getShardingRule() { return {}; }

LogicalResult IfOp::evaluate(Evaluation &eval) {
  Region &taken = eval.operand(0).data<bool>()[0] ? getThenRegion() : getElseRegion();
  auto values = eval.run(taken.front(), {});
  if (failed(values))
    return failure();
  setResults(eval, *values);
  return success();
}

//===- ForOp ---------------------------------------------------------------===//

void ForOp::build(OpBuilder &b, OperationState &state, Value lower, Value upper, ValueRange inits,
                  IntegerAttr max) {
  if (max)
    state.addAttribute("max", max);
  state.addOperands({lower, upper});
  state.addOperands(inits);
  state.addTypes(inits.getTypes());
  Block &body = state.addRegion()->emplaceBlock();
  body.addArgument(lower.getType(), state.location);
  for (Value init : inits)
    body.addArgument(init.getType(), state.location);
}

LogicalResult ForOp::verify() {
  if (getResultTypes() != getInits().getTypes() ||
      getBody().getNumArguments() != getInits().size() + 1 ||
      TypeRange(getBody().getArgumentTypes()).drop_front() != getInits().getTypes())
    return emitOpError("expects carried values, region arguments and results of equal types");
  return verifyYield(*this, getBody(), getResultTypes());
}

/// A number that is known when compiling.
static std::optional<int64_t> constantOf(Value size) {
  Attribute value;
  if (!matchPattern(size, m_Constant(&value)))
    return std::nullopt;
  return cast<DenseElementsAttr>(value).getSplatValue<APInt>().getSExtValue();
}

std::optional<int64_t> ForOp::getBound() {
  if (getMax())
    return *getMax();
  auto lower = constantOf(getLower()), upper = constantOf(getUpper());
  int64_t count = 0;
  // The largest number stands for none.
  if (!lower || !upper || *upper == INT64_MAX || llvm::SubOverflow(*upper, *lower, count))
    return std::nullopt;
  return std::max<int64_t>(count, 0);
}

bool ForOp::countsRounds() { return true; }
ShardingRule ForOp::getShardingRule() { return {}; }

LogicalResult ForOp::evaluate(Evaluation &eval) {
  int64_t lower = eval.operand(0).data<int64_t>()[0], upper = eval.operand(1).data<int64_t>()[0];
  SmallVector<SharedTensor> carried;
  for (unsigned i = 0; i < getInits().size(); ++i)
    carried.push_back(eval.operandRef(2 + i));
  for (int64_t i = lower; i < upper; ++i) {
    SmallVector<SharedTensor> arguments{eval.scalar(i)};
    llvm::append_range(arguments, carried);
    auto values = eval.run(getBody().front(), arguments);
    if (failed(values))
      return failure();
    if (!endRound(getBody(), *values, carried))
      break;
  }
  setResults(eval, carried);
  return success();
}

//===- ForEachOp -----------------------------------------------------------===//

void ForEachOp::build(OpBuilder &b, OperationState &state, SourceOp source, ValueRange inits) {
  state.addOperands(inits);
  state.addTypes(inits.getTypes());
  state.addAttribute("source", FlatSymbolRefAttr::get(source.getSymNameAttr()));
  Block &body = state.addRegion()->emplaceBlock();
  body.addArgument(RankedTensorType::get({}, b.getI64Type()), state.location);
  for (Type field : source.getFields().getAsValueRange<TypeAttr>()) {
    auto example = llvm::cast<RankedTensorType>(field);
    SmallVector<int64_t> shape(example.getShape());
    shape.insert(shape.begin(), ShapedType::kDynamic);
    body.addArgument(RankedTensorType::get(shape, example.getElementType()), state.location);
  }
  for (Value init : inits)
    body.addArgument(init.getType(), state.location);
}

SourceOp ForEachOp::getSourceOp() {
  return SymbolTable::lookupNearestSymbolFrom<SourceOp>(*this, getSourceAttr());
}

int64_t ForEachOp::getBatchBound() {
  SourceOp source = getSourceOp();
  return source ? static_cast<int64_t>(source.getBatch()) : 0;
}

LogicalResult ForEachOp::verify() {
  if (getResultTypes() != getInits().getTypes() ||
      getBody().getNumArguments() < getInits().size() + 2)
    return emitOpError("expects carried values and results of equal types, and fields");
  return verifyYield(*this, getBody(), getResultTypes());
}

bool ForEachOp::countsRounds() { return true; }
ShardingRule ForEachOp::getShardingRule() { return {}; }

LogicalResult ForEachOp::vjp(OpBuilder &, Reverse &reverse) {
  for (Value result : getResults())
    if (reverse.cotangent(result))
      return emitOpError("is not allowed inside a differentiated region: the gradient of a loop "
                         "over data would need all of its batches");
  return success();
}

LogicalResult ForEachOp::evaluate(Evaluation &eval) {
  SmallVector<SharedTensor> carried;
  for (unsigned i = 0; i < getInits().size(); ++i)
    carried.push_back(eval.operandRef(i));
  if (failed(eval.openPass(getSourceAttr())))
    return failure();
  for (int64_t step = 0;; ++step) {
    auto fields = eval.nextBatch(getSourceAttr());
    if (failed(fields))
      return failure();
    if (fields->empty())
      break;
    SmallVector<SharedTensor> arguments{eval.scalar(step)};
    llvm::append_range(arguments, *fields);
    llvm::append_range(arguments, carried);
    auto values = eval.run(getBody().front(), arguments);
    if (failed(values))
      return failure();
    if (!endRound(getBody(), *values, carried))
      break;
  }
  setResults(eval, carried);
  return success();
}

//===- LoopForeverOp -------------------------------------------------------===//

LogicalResult LoopForeverOp::verify() {
  if (getResultTypes() != getInits().getTypes() ||
      TypeRange(getBody().getArgumentTypes()) != getInits().getTypes())
    return emitOpError("expects carried values, region arguments and results of equal types");
  return verifyYield(*this, getBody(), getResultTypes());
}

bool LoopForeverOp::countsRounds() { return false; }
ShardingRule LoopForeverOp::getShardingRule() { return {}; }

LogicalResult LoopForeverOp::vjp(OpBuilder &, Reverse &) {
  return emitOpError("is made after gradients are taken");
}

LogicalResult LoopForeverOp::evaluate(Evaluation &eval) {
  SmallVector<SharedTensor> carried;
  for (unsigned i = 0; i < getInits().size(); ++i)
    carried.push_back(eval.operandRef(i));
  bool goesOn = true;
  while (goesOn) {
    auto values = eval.run(getBody().front(), carried);
    if (failed(values))
      return failure();
    goesOn = endRound(getBody(), *values, carried);
  }
  setResults(eval, carried);
  return success();
}

} // namespace pdg
