// Adds up what a role keeps: variables, the values that are alive at once, messages.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/check_cluster_memory.h"

#include "ir/dims.h"
#include "runtime/base/dtype.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace pdg {

/// Sums and products that stay at the largest number when they pass it.
static int64_t addBytes(int64_t a, int64_t b) {
  int64_t sum = 0;
  return llvm::AddOverflow(a, b, sum) ? INT64_MAX : sum;
}
static int64_t multiplyBytes(int64_t a, int64_t b) {
  int64_t product = 0;
  return llvm::MulOverflow(a, b, product) ? INT64_MAX : product;
}

static int64_t elementBytes(Type type) {
  std::optional<DType> dtype = toDType(getElementTypeOrSelf(type));
  return dtype ? static_cast<int64_t>(sizeOf(*dtype)) : 8;
}

int64_t RoleMemory::total() const { return addBytes(addBytes(variables, values), messages); }

RoleMemory &RoleMemory::operator+=(const RoleMemory &other) {
  variables = addBytes(variables, other.variables);
  values = addBytes(values, other.values);
  messages = addBytes(messages, other.messages);
  return *this;
}

int64_t leastBytesOf(Type type) {
  int64_t bytes = elementBytes(type);
  for (int64_t size : cast<RankedTensorType>(type).getShape())
    bytes = ShapedType::isDynamic(size) ? bytes : multiplyBytes(bytes, size);
  return bytes;
}

namespace {

/// Follows the lifetimes of the values of one role.
class MemoryMeter {
public:
  explicit MemoryMeter(RoleMemory &memory) : memory_(memory) {}

  /// The most bytes that values of `block`, and of blocks inside, need at once.
  int64_t peakOf(Block &block);
  int64_t boundOf(Value value);
  void addMessages(EdgeOpInterface end);

private:
  int64_t bytesOf(Operation &op);
  int64_t lastUse(Value value, Block &block);

  RoleMemory &memory_;
  ShapeAnalysis shapes_;
  llvm::DenseMap<Operation *, int64_t> order_;
  llvm::DenseMap<Value, int64_t> last_;
};

int64_t MemoryMeter::boundOf(Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return 8; // Of another dialect: a number.
  std::optional<int64_t> elements = shapes_.elementBoundOf(value);
  if (elements)
    return multiplyBytes(*elements, elementBytes(value.getType()));
  if (!memory_.unbounded)
    memory_.unbounded = value.getDefiningOp();
  return leastBytesOf(value.getType());
}

/// The bytes that an op's results need for themselves. What a variable holds is the variable, what
/// only shows another value is that value, and cheap ops are computed again where they are used.
int64_t MemoryMeter::bytesOf(Operation &op) {
  auto element = dyn_cast<ElementOpInterface>(&op);
  bool isRead = op.getNumOperands() == 0 && op.getAttrOfType<NameAttr>("name");
  if (isRead || isa<ViewOpInterface>(op) || op.hasTrait<OpTrait::ConstantLike>() ||
      (element && element.isCheap()))
    return 0;
  int64_t bytes = 0;
  for (Value result : op.getResults())
    bytes = addBytes(bytes, boundOf(result));
  return bytes;
}

int64_t MemoryMeter::lastUse(Value value, Block &block) {
  int64_t last = -1;
  for (Operation *user : value.getUsers()) {
    Operation *inBlock = block.findAncestorOpInBlock(*user);
    if (!inBlock)
      continue;
    last = std::max(last, order_.lookup(inBlock));
    if (user == inBlock && isa<ViewOpInterface>(user) && user->getOperand(0) == value)
      last = std::max(last, last_.lookup(user->getResult(0)));
  }
  return last;
}

int64_t MemoryMeter::peakOf(Block &block) {
  int64_t next = 0;
  for (Operation &op : block)
    order_[&op] = next++;
  std::vector<int64_t> freed(next, 0);
  std::vector<int64_t> own(next, 0);
  for (Operation &op : llvm::reverse(block)) {
    int64_t last = order_[&op];
    for (Value result : op.getResults())
      last = std::max(last, last_[result] = lastUse(result, block));
    own[order_[&op]] = bytesOf(op);
    freed[last] = addBytes(freed[last], own[order_[&op]]);
  }
  int64_t alive = 0, peak = 0;
  for (Operation &op : block) {
    int64_t at = order_[&op], inside = 0;
    if (auto loop = dyn_cast<LoopOpInterface>(&op))
      for (unsigned i = loop.countsRounds(); i < loop.getNumLeading(); ++i)
        inside = addBytes(inside, boundOf(op.getRegion(0).getArgument(i))); // Fields of a batch.
    int64_t deepest = 0;
    for (Region &region : op.getRegions())
      deepest = std::max(deepest, region.empty() ? 0 : peakOf(region.front()));
    alive = addBytes(alive, own[at]);
    peak = std::max(peak, addBytes(alive, addBytes(inside, deepest)));
    alive -= std::min(alive, freed[at]);
  }
  return peak;
}

/// A receiver keeps as many messages of an edge as may be on the way, of each sender; a sender
/// makes one at a time.
void MemoryMeter::addMessages(EdgeOpInterface end) {
  int64_t bytes = end.isReceiver() ? boundOf(end->getResult(0)) : boundOf(end->getOperand(0));
  bool isJoined = end.isReceiver() && end.getMessageType() == end->getResult(0).getType();
  int64_t copies = !end.isReceiver() ? 1 : kEdgeDepth * (isJoined ? end.getMessageCount() : 1);
  if (auto capacity = end->getAttrOfType<IntegerAttr>("capacity"))
    copies = capacity.getInt();
  memory_.messages = addBytes(memory_.messages, multiplyBytes(bytes, copies));
}

} // namespace

RoleMemory memoryOf(RoleModule role) {
  RoleMemory memory;
  MemoryMeter meter(memory);
  for (Operation &op : *role.module.getBody()) {
    auto type = op.getAttrOfType<TypeAttr>("type");
    if (op.getAttrOfType<NameAttr>("name") && type) {
      memory.variables = addBytes(memory.variables, leastBytesOf(type.getValue()));
      continue;
    }
    for (Region &region : op.getRegions())
      if (!region.empty())
        memory.values = std::max(memory.values, meter.peakOf(region.front()));
  }
  role.module.walk([&](EdgeOpInterface end) { meter.addMessages(end); });
  return memory;
}

int64_t memoryLimitOf(RoleAttr role, ClusterAttr cluster) {
  return role.isServer() ? cluster.getServerMemory() : cluster.getTrainerMemory();
}

LogicalResult checkMemory(const ClusterEnds &ends, ClusterAttr cluster) {
  for (RoleModule role : ends.roles()) {
    int64_t limit = memoryLimitOf(role.role, cluster);
    if (limit == 0)
      continue;
    RoleMemory memory = memoryOf(role);
    if (memory.total() <= limit)
      continue;
    auto error = role.module.emitError(role.role.str())
                 << " needs " << memory.total() << " bytes, and the cluster gives it " << limit;
    Operation *largest = nullptr;
    int64_t most = 0;
    for (Operation &op : *role.module.getBody())
      if (auto type = op.getAttrOfType<TypeAttr>("type"); type && op.hasAttr("name"))
        if (int64_t bytes = leastBytesOf(type.getValue()); bytes > most)
          std::tie(most, largest) = std::make_pair(bytes, &op);
    error.attachNote(role.module.getLoc())
        << memory.variables << " bytes of variables, " << memory.values << " of values, "
        << memory.messages << " of messages";
    if (largest)
      error.attachNote(largest->getLoc())
          << "the largest variable, '" << largest->getAttrOfType<NameAttr>("name").str()
          << "', has " << most << " bytes";
    return error;
  }
  return success();
}

} // namespace pdg
