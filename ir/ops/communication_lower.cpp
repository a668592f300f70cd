// Communication as calls of the runtime.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/communication.h"

using namespace mlir;

namespace pdg {

/// Calls `name` with the edge, more numbers, and a tensor and its sizes; stops if it fails.
static LogicalResult lowerCall(Lowering &lowering, StringRef name, Attribute edge,
                               ArrayRef<int64_t> numbers, Value tensor) {
  SmallVector<Value> arguments{lowering.edgeIndex(edge)};
  for (int64_t number : numbers)
    arguments.push_back(lowering.constant(number));
  arguments.push_back(lowering.pointer(tensor));
  arguments.push_back(lowering.sizeTable(tensor));
  lowering.stopIf(lowering.call(name, arguments));
  return success();
}

LogicalResult SendOp::lower(Lowering &lowering) {
  return lowerCall(lowering, "pdg_send", getEdge(), {}, getX());
}
LogicalResult RecvOp::lower(Lowering &lowering) {
  return lowerCall(lowering, "pdg_recv", getEdge(), {}, getResult());
}
LogicalResult AccumulateOp::lower(Lowering &lowering) {
  int64_t kind = static_cast<int64_t>(getKind()), of = getOf();
  return lowerCall(lowering, "pdg_accumulate", getEdge(), {kind, of}, getResult());
}
LogicalResult CollectOp::lower(Lowering &lowering) {
  int64_t axis = getAxis(), of = getOf();
  return lowerCall(lowering, "pdg_collect", getEdge(), {axis, of}, getResult());
}
LogicalResult EnqueueOp::lower(Lowering &lowering) {
  return lowerCall(lowering, "pdg_enqueue", getEdge(), {int64_t(getCapacity())}, getX());
}
LogicalResult DequeueOp::lower(Lowering &lowering) {
  return lowerCall(lowering, "pdg_dequeue", getEdge(), {}, getResult());
}

} // namespace pdg
