// The ops of communication.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/communication.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/layout.h"
#include "ir/ops/part.h"
#include "ir/rules.h"
#include "runtime/base/join.h"

#define GET_OP_CLASSES
#include "ir/ops/communication.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/communication.cpp.inc"
      >();
});

using namespace mlir;

namespace pdg {

/// No op here is differentiated or split: they are made after that.
#define PDG_AFTER_GRADIENTS(Op)                                                                    \
  ShardingRule Op::getShardingRule() { return {}; }                                                \
  LogicalResult Op::vjp(OpBuilder &, Reverse &) {                                                  \
    return emitOpError("is made after gradients are taken");                                       \
  }
PDG_AFTER_GRADIENTS(ReplicaOp)
PDG_AFTER_GRADIENTS(AllReduceOp)
PDG_AFTER_GRADIENTS(AllGatherOp)
PDG_AFTER_GRADIENTS(ReduceScatterOp)
PDG_AFTER_GRADIENTS(BroadcastFromOp)
PDG_AFTER_GRADIENTS(SendOp)
PDG_AFTER_GRADIENTS(RecvOp)
PDG_AFTER_GRADIENTS(AccumulateOp)
PDG_AFTER_GRADIENTS(CollectOp)
PDG_AFTER_GRADIENTS(EnqueueOp)
PDG_AFTER_GRADIENTS(DequeueOp)
#undef PDG_AFTER_GRADIENTS

LogicalResult ReplicaOp::evaluate(Evaluation &eval) {
  eval.setResult(0, eval.scalar(eval.replica()));
  return success();
}

LogicalResult ReplicaOp::lower(Lowering &lowering) {
  lowering.storeScalar(lowering.call("pdg_replica", {}), getResult());
  return success();
}

//===- Among all trainers --------------------------------------------------===//

static LogicalResult verifyCount(Operation *op, int64_t count) {
  // C1
  if (count < 1 || count > 65536)
    return op->emitOpError("expects 1 to 65536 processes, got ") << count;
  return success();
}

/// Reports an axis that the type does not have.
static LogicalResult verifyAxis(Operation *op, int64_t axis, Type type) {
  if (axis < 0 || axis >= cast<RankedTensorType>(type).getRank())
    return op->emitOpError("expects an axis of ") << type << ", got " << axis;
  return success();
}

static LogicalResult verifySameElements(Operation *op) {
  auto x = cast<RankedTensorType>(op->getOperand(0).getType());
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  if (x.getRank() != result.getRank() || x.getElementType() != result.getElementType())
    return op->emitOpError("expects a result of the operand's rank and elements, got ") << result;
  return success();
}

LogicalResult AllReduceOp::verify() { return verifyCount(*this, getOf()); }

LogicalResult AllGatherOp::verify() {
  if (failed(verifyCount(*this, getOf())) || failed(verifyAxis(*this, getAxis(), getX().getType())))
    return failure();
  return verifySameElements(*this);
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(verifyCount(*this, getOf())) || failed(verifyAxis(*this, 0, getX().getType())))
    return failure();
  return verifySameElements(*this);
}

LogicalResult BroadcastFromOp::verify() {
  if (failed(verifyCount(*this, getOf())))
    return failure();
  // C2
  int64_t replica = getReplica();
  if (replica < 0 || replica >= static_cast<int64_t>(getOf()))
    return emitOpError("expects one of ") << getOf() << " trainers, got " << replica;
  return success();
}

/// A collective op runs on all trainers at once; one process alone cannot run it.
static LogicalResult refuseAlone(Evaluation &eval) {
  return eval.refuse("an op of all trainers runs only after the graph was cut into messages");
}
LogicalResult AllReduceOp::evaluate(Evaluation &eval) { return refuseAlone(eval); }
LogicalResult AllGatherOp::evaluate(Evaluation &eval) { return refuseAlone(eval); }
LogicalResult ReduceScatterOp::evaluate(Evaluation &eval) { return refuseAlone(eval); }
LogicalResult BroadcastFromOp::evaluate(Evaluation &eval) { return refuseAlone(eval); }

int64_t AllReduceOp::getCount() { return getOf(); }
int64_t AllGatherOp::getCount() { return getOf(); }
int64_t ReduceScatterOp::getCount() { return getOf(); }
int64_t BroadcastFromOp::getCount() { return getOf(); }

/// Joins values as a tree, neighbours first; an odd one moves up.
static Value joinAsTree(ValueRange parts, function_ref<Value(Value, Value)> joinTwo) {
  SmallVector<Value> level(parts);
  while (level.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i < level.size(); i += 2)
      next.push_back(i + 1 == level.size() ? level[i] : joinTwo(level[i], level[i + 1]));
    level = std::move(next);
  }
  return level.front();
}

static Value joinElementwise(OpBuilder &b, Location loc, JoinKind kind, ValueRange parts) {
  return joinAsTree(parts, [&](Value x, Value y) -> Value {
    switch (kind) {
    case JoinKind::Sum:
      return AddOp::create(b, loc, x, y);
    case JoinKind::Max:
      return MaximumOp::create(b, loc, x, y);
    case JoinKind::Min:
      return MinimumOp::create(b, loc, x, y);
    }
    llvm_unreachable("all kinds are handled");
  });
}

Value AllReduceOp::joinParts(OpBuilder &b, ValueRange parts) {
  return joinElementwise(b, getLoc(), getKind(), parts);
}
Value AllGatherOp::joinParts(OpBuilder &b, ValueRange parts) {
  return joinAsTree(parts, [&](Value x, Value y) -> Value {
    return ConcatOp::create(b, getLoc(), x, y, getAxis());
  });
}
Value ReduceScatterOp::joinParts(OpBuilder &, ValueRange) { return {}; }
Value BroadcastFromOp::joinParts(OpBuilder &, ValueRange parts) { return parts[getReplica()]; }

Value AllReduceOp::receiveParts(OpBuilder &b, Attribute edge) {
  auto type = cast<RankedTensorType>(getType());
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      return {};
  return AccumulateOp::create(b, getLoc(), type, cast<EdgeAttr>(edge), getKind(), getOf(), sizes,
                              b.getDenseI64ArrayAttr(type.getShape()));
}
Value AllGatherOp::receiveParts(OpBuilder &b, Attribute edge) {
  return CollectOp::create(b, getLoc(), getType(), cast<EdgeAttr>(edge), getAxis(), getOf(),
                           getSizes(), getShapeAttr());
}
Value ReduceScatterOp::receiveParts(OpBuilder &, Attribute) { return {}; }
Value BroadcastFromOp::receiveParts(OpBuilder &, Attribute) { return {}; }

FailureOr<Dims> AllReduceOp::inferDims(ArrayRef<Dims> dims, ShapeRule &) { return dims[0]; }
FailureOr<Dims> BroadcastFromOp::inferDims(ArrayRef<Dims> dims, ShapeRule &) { return dims[0]; }
FailureOr<Dims> AllGatherOp::inferDims(ArrayRef<Dims>, ShapeRule &rule) {
  return rule.shapeArgument(getShape(), getSizes());
}
FailureOr<Dims> ReduceScatterOp::inferDims(ArrayRef<Dims> dims, ShapeRule &rule) {
  Dims result = dims[0];
  result[0] = rule.fresh();
  return result;
}

//===- From role to role ---------------------------------------------------===//

FailureOr<Dims> RecvOp::inferDims(ArrayRef<Dims>, ShapeRule &rule) {
  return rule.shapeArgument(getShape(), getSizes());
}
FailureOr<Dims> AccumulateOp::inferDims(ArrayRef<Dims>, ShapeRule &rule) {
  return rule.shapeArgument(getShape(), getSizes());
}
FailureOr<Dims> CollectOp::inferDims(ArrayRef<Dims>, ShapeRule &rule) {
  return rule.shapeArgument(getShape(), getSizes());
}
FailureOr<Dims> DequeueOp::inferDims(ArrayRef<Dims>, ShapeRule &rule) {
  return rule.shapeArgument(getShape(), getSizes());
}

/// Reports an edge that does not come from all trainers, though many messages are taken.
static LogicalResult verifyFromAll(Operation *op, EdgeAttr edge) {
  if (!edge.getFrom().isTrainer() || edge.getFirst())
    return op->emitOpError("expects an edge from all trainers, got one from ")
           << edge.getFrom().str();
  return success();
}

LogicalResult RecvOp::verify() {
  // C1
  if (getEdge().getFrom().isTrainer() && !getEdge().getFirst())
    return emitOpError("expects an edge from one process");
  return success();
}
LogicalResult AccumulateOp::verify() {
  return failed(verifyCount(*this, getOf())) ? failure() : verifyFromAll(*this, getEdge());
}
LogicalResult CollectOp::verify() {
  if (failed(verifyCount(*this, getOf())) || failed(verifyAxis(*this, getAxis(), getType())))
    return failure();
  return verifyFromAll(*this, getEdge());
}
LogicalResult EnqueueOp::verify() {
  if (static_cast<int64_t>(getCapacity()) < 1)
    return emitOpError("expects room for a tensor, got a capacity of ") << getCapacity();
  return success();
}

/// The ends of edges: which way messages go, what they are, how many.
#define PDG_END(Op, receives, type, count)                                                         \
  Attribute Op::getEdgeName() { return getEdge(); }                                                \
  bool Op::isReceiver() { return receives; }                                                       \
  Type Op::getMessageType() { return type; }                                                       \
  int64_t Op::getMessageCount() { return count; }
PDG_END(SendOp, false, getX().getType(), 1)
PDG_END(RecvOp, true, getType(), 1)
PDG_END(AccumulateOp, true, getType(), getOf())
PDG_END(EnqueueOp, false, getX().getType(), 1)
PDG_END(DequeueOp, true, getType(), 1)
#undef PDG_END

Attribute CollectOp::getEdgeName() { return getEdge(); }
bool CollectOp::isReceiver() { return true; }
int64_t CollectOp::getMessageCount() { return getOf(); }
Type CollectOp::getMessageType() {
  // Each trainer's tensor is as long along the axis as its part.
  auto type = cast<RankedTensorType>(getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[getAxis()] = ShapedType::kDynamic;
  return RankedTensorType::get(shape, type.getElementType());
}

LogicalResult SendOp::evaluate(Evaluation &eval) {
  return eval.send(getEdge(), eval.operandRef(0));
}

/// Checks a message against the sizes that the receiver expects, where they must be equal.
static bool hasSizes(const HostTensor &message, ArrayRef<int64_t> shape, int64_t freeAxis = -1) {
  if (message.rank() != static_cast<int64_t>(shape.size()))
    return false;
  for (int64_t axis = 0; axis < message.rank(); ++axis)
    if (axis != freeAxis && message.shape()[axis] != shape[axis])
      return false;
  return true;
}

/// The shape argument of an op, its run-time sizes filled in.
static SmallVector<int64_t> evaluateShape(Evaluation &eval, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result(shape);
  unsigned next = 0;
  for (int64_t &size : result)
    if (size == ShapedType::kDynamic)
      size = eval.operand(next++).data<int64_t>()[0];
  return result;
}

/// Takes the next message of `edge` from process `from`, which must have these sizes.
static FailureOr<SharedTensor> takeMessage(Evaluation &eval, EdgeAttr edge, int64_t from,
                                           ArrayRef<int64_t> shape, int64_t freeAxis = -1) {
  auto message = eval.receive(edge, from);
  if (failed(message) || hasSizes(**message, shape, freeAxis))
    return message;
  return eval.refuse("a message has other sizes than expected: " + (*message)->typeString());
}

LogicalResult RecvOp::evaluate(Evaluation &eval) {
  int64_t from = getEdge().getFrom().isTrainer() ? 0 : getEdge().getFrom().getIndex();
  auto message = takeMessage(eval, getEdge(), from, evaluateShape(eval, getShape()));
  if (failed(message))
    return failure();
  eval.setResult(0, *message);
  return success();
}

LogicalResult AccumulateOp::evaluate(Evaluation &eval) {
  SmallVector<int64_t> shape = evaluateShape(eval, getShape());
  SmallVector<HostTensor> parts;
  SmallVector<char *> addresses;
  for (int64_t r = 0, count = getOf(); r < count; ++r) {
    auto message = takeMessage(eval, getEdge(), r, shape);
    if (failed(message))
      return failure();
    auto copy = (*message)->clone();
    if (!copy.ok())
      return eval.refuse(std::string(copy.status().message()));
    parts.push_back(*std::move(copy));
    addresses.push_back(reinterpret_cast<char *>(parts.back().bytes()));
  }
  joinTree(static_cast<Joining>(getKind()), parts[0].dtype(), addresses, parts[0].numElements());
  eval.setResult(0, std::make_shared<HostTensor>(std::move(parts[0])));
  return success();
}

LogicalResult CollectOp::evaluate(Evaluation &eval) {
  SmallVector<int64_t> shape = evaluateShape(eval, getShape());
  SmallVector<SharedTensor> parts;
  int64_t axis = getAxis(), length = 0;
  for (int64_t r = 0, count = getOf(); r < count; ++r) {
    auto message = takeMessage(eval, getEdge(), r, shape, axis);
    if (failed(message))
      return failure();
    parts.push_back(*message);
    length += (*message)->shape()[axis];
  }
  if (length != shape[axis])
    return eval.refuse("the parts of all trainers are " + std::to_string(length) +
                       " long together, not " + std::to_string(shape[axis]));
  HostTensor &result = eval.result(0, shape);
  // Rows of the axes before it: of each part, what lies in one row is contiguous.
  int64_t rows = 1;
  for (int64_t size : ArrayRef(shape).take_front(axis))
    rows *= size;
  int64_t rowBytes = rows ? result.numBytes() / rows : 0, at = 0;
  for (const SharedTensor &part : parts) {
    int64_t bytes = rows ? part->numBytes() / rows : 0;
    for (int64_t row = 0; row < rows; ++row)
      std::memcpy(result.bytes() + row * rowBytes + at, part->bytes() + row * bytes, bytes);
    at += bytes;
  }
  return success();
}

LogicalResult EnqueueOp::evaluate(Evaluation &eval) {
  return eval.enqueue(getEdge(), getCapacity(), eval.operandRef(0));
}

LogicalResult DequeueOp::evaluate(Evaluation &eval) {
  auto value = eval.dequeue(getEdge());
  if (failed(value))
    return failure();
  if (!hasSizes(**value, evaluateShape(eval, getShape())))
    return eval.refuse("a queue gave other sizes than expected: " + (*value)->typeString());
  eval.setResult(0, *value);
  return success();
}

} // namespace pdg
