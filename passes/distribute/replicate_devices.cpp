// Gives each slice of a batch that a trainer computes a device of its own, and each device copies
// of what all of them use.
// SPDX-License-Identifier: Apache-2.0
#include "ir/expr.h"
#include "ir/ops/communication.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/part.h"
#include "passes/distribute/insert_send_recv_edges.h"
#include "passes/passes.h"

#include "mlir/IR/Matchers.h"

namespace pdg {
#define GEN_PASS_DEF_REPLICATEDEVICES
#include "passes/passes.h.inc"
} // namespace pdg

using namespace mlir;

namespace pdg {
namespace {

/// Finds the device of each value: that of the slices that it is computed from. Values of several
/// devices, and of none, are the first device's.
class DeviceAnalysis {
public:
  explicit DeviceAnalysis(int64_t devices) : devices_(devices) {}
  void analyze(Block &block) {
    do {
      hasChanged_ = false;
      walk(block);
    } while (hasChanged_);
  }
  int64_t of(Value value) const { return std::max<int64_t>(known(value), 0); }
  /// Whether `op` cuts a slice out of what all devices share: done where that is.
  bool cuts(Operation *op) const {
    auto part = dyn_cast<PartOp>(op);
    return part && known(part.getX()) < 0;
  }
  void move(Value value, int64_t device) { values_[value] = device; }

private:
  /// The device, or -1: that of no slice.
  int64_t known(Value value) const {
    auto found = values_.find(value);
    return found == values_.end() ? -1 : found->second;
  }
  void set(Value value, int64_t device) {
    if (device >= 0 && values_.try_emplace(value, device).second)
      hasChanged_ = true;
  }
  void walk(Block &block);
  void walkRegions(Operation *op);
  int64_t deviceOf(Operation *op) const;

  int64_t devices_;
  DenseMap<Value, int64_t> values_;
  bool hasChanged_ = false;
};

/// The number of the slice that begins at `begin`.
int64_t sliceAt(Value begin) {
  if (auto rows = begin.getDefiningOp<MulOp>())
    begin = rows.getOperand(0);
  auto part = begin.getDefiningOp<PartBeginOp>();
  return part ? static_cast<int64_t>(part.getPart()) : 0;
}

int64_t DeviceAnalysis::deviceOf(Operation *op) const {
  if (cuts(op))
    return std::min(sliceAt(cast<PartOp>(op).getBegin()), devices_ - 1);
  int64_t device = -1;
  for (Value operand : op->getOperands()) {
    int64_t other = known(operand);
    if (other >= 0 && device >= 0 && other != device)
      return 0;
    device = std::max(device, other);
  }
  return device;
}

void DeviceAnalysis::walkRegions(Operation *op) {
  auto loop = dyn_cast<LoopOpInterface>(op);
  for (unsigned i = 0; loop && i < op->getNumResults(); ++i)
    set(loop.getCarried(i), known(loop.getInit(i)));
  for (Region &region : op->getRegions()) {
    walk(region.front());
    for (auto [i, yielded] : llvm::enumerate(yieldedValues(region.front()))) {
      set(op->getResult(i), known(yielded));
      if (loop)
        set(loop.getCarried(i), known(yielded));
    }
  }
}

void DeviceAnalysis::walk(Block &block) {
  for (Operation &op : block.without_terminator())
    if (isLoopOrCondition(&op))
      walkRegions(&op);
    else
      for (Value result : op.getResults())
        set(result, deviceOf(&op));
}

/// Moves values from device to device.
class DeviceWriter {
public:
  DeviceWriter(DeviceAnalysis &devices, SmallVector<Attribute> edges)
      : devices_(devices), edges_(std::move(edges)) {}
  void rewrite(Block &block);
  ArrayRef<Attribute> edges() const { return edges_; }

private:
  Value valueOn(Value value, int64_t device);
  Value copy(Value value, int64_t from, int64_t to);
  void handOver(Value slice);

  DeviceAnalysis &devices_;
  SmallVector<Attribute> edges_;
  DenseMap<std::pair<Value, int64_t>, Value> copies_;
};

/// Marks `op`; what has no mark is on the first device.
void setDevice(Operation *op, int64_t device) {
  if (device > 0)
    op->setAttr("pdg.device", Builder(op->getContext()).getI64IntegerAttr(device));
}

/// Puts `value` into a queue of this process, and takes it out on another device.
Value DeviceWriter::copy(Value value, int64_t from, int64_t to) {
  NameAttr name = placeName(value.getLoc(), "value");
  EdgeKind kind = EdgeKind::Value;
  Operation *op = value.getDefiningOp();
  if (auto end = dyn_cast_or_null<EdgeOpInterface>(op)) {
    auto edge = cast<EdgeAttr>(end.getEdgeName());
    name = edge.getSubject();
    kind = edge.getKind();
  }
  OpBuilder b(value.getContext());
  b.setInsertionPointAfterValue(value);
  auto trainer = RoleAttr::get(b.getContext(), RoleKind::Trainer);
  int64_t number = 0;
  for (Attribute edge : edges_)
    if (auto other = cast<EdgeAttr>(edge); other.getSubject() == name && other.getKind() == kind)
      number = std::max(number, other.getNumber() + 1);
  auto edge = EdgeAttr::get(b.getContext(), name, kind, number, trainer, trainer, false);
  edges_.push_back(edge);
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  shapeOf(b, value.getLoc(), value, shape, sizes);
  auto put = EnqueueOp::create(b, value.getLoc(), value, edge, 1);
  auto take = DequeueOp::create(b, value.getLoc(), value.getType(), edge, sizes, shape);
  setDevice(put, from);
  setDevice(take, to);
  return take;
}

/// `value` where ops of `device` can use it. Sizes and conditions steer all devices.
Value DeviceWriter::valueOn(Value value, int64_t device) {
  int64_t from = devices_.of(value);
  if (from == device || isSizeTensor(value.getType()) || isConditionTensor(value.getType()))
    return value;
  Value &known = copies_[{value, device}];
  if (known)
    return known;
  if (matchPattern(value, m_Constant())) {
    Operation *op = value.getDefiningOp();
    Operation *clone = OpBuilder(op->getNextNode()).clone(*op);
    setDevice(clone, device);
    return known = clone->getResult(0);
  }
  return known = copy(value, from, device);
}

/// Gives a slice that was cut on the first device to the one that computes on it.
void DeviceWriter::handOver(Value slice) {
  int64_t device = devices_.of(slice);
  if (device == 0)
    return;
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : slice.getUses())
    uses.push_back(&use);
  Value there = copy(slice, 0, device);
  for (OpOperand *use : uses)
    use->set(there);
  devices_.move(slice, 0);
  devices_.move(there, device);
}

void DeviceWriter::rewrite(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    if (auto place = op.getAttrOfType<RoleAttr>("pdg.place"); place && place.isServer())
      continue;
    if (isLoopOrCondition(&op)) {
      for (Region &region : op.getRegions())
        rewrite(region.front());
      continue;
    }
    if (devices_.cuts(&op)) {
      handOver(op.getResult(0));
      continue;
    }
    int64_t device = op.getNumResults() ? devices_.of(op.getResult(0)) : 0;
    for (OpOperand &operand : op.getOpOperands())
      operand.set(valueOn(operand.get(), device));
    setDevice(&op, device);
  }
}

struct ReplicateDevicesPass : impl::ReplicateDevicesBase<ReplicateDevicesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    ClusterAttr cluster = ClusterAttr::of(module);
    if (!cluster || cluster.getDevices() == 1)
      return;
    for (auto program : module.getOps<ProgramOp>()) {
      DeviceAnalysis devices(cluster.getDevices());
      devices.analyze(program.getBody().front());
      auto edges = module->getAttrOfType<ArrayAttr>("pdg.edges");
      DeviceWriter writer(devices, edges ? llvm::to_vector(edges) : SmallVector<Attribute>());
      writer.rewrite(program.getBody().front());
      module->setAttr("pdg.edges", ArrayAttr::get(module.getContext(), writer.edges()));
    }
  }
};

} // namespace
} // namespace pdg
