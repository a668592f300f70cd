// Walks the programs of all roles at once, each as far as what it receives was sent.
// SPDX-License-Identifier: Apache-2.0
#include "passes/distribute/join_roles_merge.h"
#include "ir/ops/communication.h"
#include "ir/ops/compare.h"
#include "ir/ops/elementwise_binary.h"

#include "mlir/IR/Matchers.h"

#include "llvm/ADT/SetVector.h"

#include <deque>

using namespace mlir;

namespace pdg {
namespace {

/// A role's place in a block.
struct Reader {
  RoleId role;
  Block *block;
  Block::iterator next;
  Operation *current() const { return &*next; }
  bool isDone() const { return current() == block->getTerminator(); }
};

/// A loop or condition of one role that is merged with those of others.
struct Part {
  RoleId role;
  Operation *op;
  SmallVector<int64_t> slots; ///< Which results of the merged op it has.
  SmallVector<Block *> blocks;
  EdgeAttr follows; ///< On this edge it is told whether there is another round; or null.
  Value rounds;     ///< The count of rounds, if it follows and counts.

  unsigned indexOf(int64_t slot) const { return llvm::find(slots, slot) - slots.begin(); }
};

/// The results of the merged op, and who has them.
struct Slots {
  SmallVector<int64_t> numbers;
  SmallVector<const Part *> owners; ///< The first of those that have it.

  unsigned indexOf(int64_t slot) const { return llvm::find(numbers, slot) - numbers.begin(); }
};

class Merger {
public:
  LogicalResult merge(const std::map<RoleId, ProgramOp> &programs, ProgramOp joined);

private:
  /// What was sent in the block that is being merged, and not yet received.
  using Messages = DenseMap<Attribute, std::deque<std::pair<Operation *, Value>>>;

  Value valueAt(Value value, RoleId role) const { return values_.lookup({value, role}); }
  void setValue(Value value, RoleId role, Value merged) { values_[{value, role}] = merged; }
  LogicalResult mergeBlocks(SmallVector<Reader> readers, Block *into);
  /// Whether the role went on; nothing if its next op waits for others.
  FailureOr<bool> step(Reader &reader, MutableArrayRef<Reader> readers, Messages &messages,
                       OpBuilder &b);
  LogicalResult send(Operation *op, RoleId role, Messages &messages);
  FailureOr<bool> receive(Operation *op, RoleId role, Messages &messages, OpBuilder &b);
  Operation *clone(Operation *op, RoleId role, OpBuilder &b);
  LogicalResult mergeControl(ArrayRef<Part> parts, OpBuilder &b);
  FailureOr<Part> partOf(Operation *op, RoleId role);
  LogicalResult readFollower(Part &part);
  LogicalResult finishRegion(ArrayRef<Part> parts, const Slots &slots, unsigned region,
                             Block *into);
  Operation *buildControl(ArrayRef<Part> parts, const Slots &slots, OpBuilder &b);
  void setArguments(ArrayRef<Part> parts, const Slots &slots, Operation *merged);
  bool isFirstOnly(Operation *op) const;
  LogicalResult checkCopies();

  /// Values of the joined program that two roles computed for themselves.
  struct Copies {
    Operation *op;
    Value first, second;
  };

  DenseMap<std::pair<Value, RoleId>, Value> values_;
  SmallVector<Copies> copies_;
  DenseMap<Attribute, SmallVector<bool>> rounds_; ///< What was said on edges about rounds.
};

//===- Messages ------------------------------------------------------------===//

/// A constant of one bool.
std::optional<bool> constantBool(Value value) {
  DenseElementsAttr constant;
  if (!value || !isConditionTensor(value.getType()) || !matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  return constant.getSplatValue<bool>();
}

bool isConstantSize(Value value, int64_t size) {
  DenseElementsAttr constant;
  return value && isSizeTensor(value.getType()) && matchPattern(value, m_Constant(&constant)) &&
         constant.getSplatValue<APInt>() == size;
}

LogicalResult Merger::send(Operation *op, RoleId role, Messages &messages) {
  auto edge = cast<EdgeAttr>(cast<EdgeOpInterface>(op).getEdgeName());
  Value value = valueAt(op->getOperand(0), role);
  if (edge.getKind() != EdgeKind::Control) {
    messages[edge].push_back({op, value});
    return success();
  }
  std::optional<bool> goesOn = constantBool(value);
  SmallVector<bool> &said = rounds_[edge];
  if (!goesOn || said.size() != (*goesOn ? 0 : 1))
    return op->emitOpError("expects 'true' to be sent in each round, and 'false' after the last");
  said.push_back(*goesOn);
  return success();
}

FailureOr<bool> Merger::receive(Operation *op, RoleId role, Messages &messages, OpBuilder &b) {
  Attribute edge = cast<EdgeOpInterface>(op).getEdgeName();
  auto &queue = messages[edge];
  if (queue.empty())
    return false;
  auto [sender, value] = queue.front();
  queue.pop_front();
  Type type = op->getResult(0).getType();
  if (auto sum = dyn_cast<AccumulateOp>(op)) {
    value = AllReduceOp::create(b, op->getLoc(), type, value, sum.getKind(), sum.getOf());
  } else if (auto all = dyn_cast<CollectOp>(op)) {
    SmallVector<Value> sizes;
    for (Value size : all.getSizes())
      sizes.push_back(valueAt(size, role));
    value = AllGatherOp::create(b, op->getLoc(), type, value, all.getAxis(), all.getOf(), sizes,
                                all.getShapeAttr());
  }
  if (value.getType() != type) {
    op->emitOpError("expects a message of ") << type << ", got " << value.getType();
    return failure();
  }
  setValue(op->getResult(0), role, value);
  return true;
}

Operation *Merger::clone(Operation *op, RoleId role, OpBuilder &b) {
  IRMapping mapping;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (Value value = valueAt(operand, role))
        mapping.map(operand, value);
  });
  Operation *result = b.clone(*op, mapping);
  for (auto [from, to] : llvm::zip(op->getResults(), result->getResults()))
    setValue(from, role, to);
  return result;
}

//===- Blocks --------------------------------------------------------------===//

/// Whether only the first trainer runs what is inside of `op`.
bool Merger::isFirstOnly(Operation *op) const {
  auto branch = dyn_cast<IfOp>(op);
  if (!branch || branch.getNumResults() ||
      !branch.getElseRegion().front().without_terminator().empty())
    return false;
  auto isFirst = branch.getCondition().getDefiningOp<EqOp>();
  return isFirst && isFirst->getOperand(0).getDefiningOp<ReplicaOp>() &&
         isConstantSize(isFirst->getOperand(1), 0);
}

/// The number that copies of one loop or condition share.
std::optional<int64_t> regionOf(Operation *op) {
  auto number = op->getAttrOfType<IntegerAttr>("pdg.region");
  return number ? std::optional<int64_t>(number.getInt()) : std::nullopt;
}

/// The readers that have a copy of region `number` before them. Nothing if one of them is not yet
/// there.
std::optional<SmallVector<Reader *>> partnersOf(int64_t number, MutableArrayRef<Reader> readers) {
  SmallVector<Reader *> partners;
  for (Reader &reader : readers) {
    auto copy = std::find_if(reader.next, reader.block->end(),
                             [&](Operation &op) { return regionOf(&op) == number; });
    if (copy == reader.block->end())
      continue;
    if (copy != reader.next)
      return std::nullopt;
    partners.push_back(&reader);
  }
  return partners;
}

FailureOr<bool> Merger::step(Reader &reader, MutableArrayRef<Reader> readers, Messages &messages,
                             OpBuilder &b) {
  Operation *op = reader.current();
  if (auto end = dyn_cast<EdgeOpInterface>(op)) {
    if (end.isReceiver())
      return receive(op, reader.role, messages, b);
    return failed(send(op, reader.role, messages)) ? FailureOr<bool>(failure()) : true;
  }
  if (isFirstOnly(op)) {
    Block &inside = cast<IfOp>(op).getThenRegion().front();
    for (Operation &each : inside.without_terminator())
      clone(&each, reader.role, b);
    return true;
  }
  if (!isLoopOrCondition(op)) {
    clone(op, reader.role, b);
    return true;
  }
  SmallVector<Reader *> partners{&reader};
  if (std::optional<int64_t> number = regionOf(op)) {
    auto found = partnersOf(*number, readers);
    if (!found)
      return false;
    partners = *found;
  }
  SmallVector<Part> parts;
  for (Reader *partner : partners) {
    FailureOr<Part> part = partOf(partner->current(), partner->role);
    if (failed(part))
      return failure();
    parts.push_back(*part);
  }
  if (failed(mergeControl(parts, b)))
    return failure();
  for (Reader *partner : partners)
    if (partner != &reader)
      ++partner->next;
  return true;
}

LogicalResult Merger::mergeBlocks(SmallVector<Reader> readers, Block *into) {
  OpBuilder b = OpBuilder::atBlockEnd(into);
  Messages messages;
  for (bool progress = true; progress;) {
    progress = false;
    for (Reader &reader : readers)
      while (!reader.isDone()) {
        FailureOr<bool> went = step(reader, readers, messages, b);
        if (failed(went))
          return failure();
        if (!*went)
          break;
        ++reader.next;
        progress = true;
      }
  }
  MLIRContext *context = into->getParentOp()->getContext();
  for (Reader &reader : readers)
    if (!reader.isDone())
      return reader.current()->emitOpError("waits in ")
             << roleAttr(reader.role, context).str() << " for what nobody sends";
  for (auto &[edge, queue] : messages)
    if (!queue.empty())
      return queue.front().first->emitOpError("sends what nobody receives: ")
             << cast<EdgeAttr>(edge).str();
  return success();
}

//===- Loops and conditions ------------------------------------------------===//

/// Finds what a server does in each round of a loop over batches, of which it is told.
LogicalResult Merger::readFollower(Part &part) {
  auto error = [&] {
    return part.op->emitOpError("expects to receive whether there is another round, and to run or "
                                "end by that");
  };
  Block &body = part.op->getRegion(0).front();
  auto recv = dyn_cast<RecvOp>(body.front());
  auto branch = recv ? dyn_cast_or_null<IfOp>(recv->getNextNode()) : IfOp();
  auto yield = cast<YieldOp>(body.getTerminator());
  if (!branch || branch->getNextNode() != yield || branch.getCondition() != recv.getResult() ||
      yield.getGoesOn() != recv.getResult() || yield.getValues() != branch.getResults() ||
      recv.getEdge().getKind() != EdgeKind::Control ||
      yieldedValues(branch.getElseRegion().front()) != ValueRange(body.getArguments()) ||
      rounds_.lookup(recv.getEdge()).size() > 1)
    return error();
  part.follows = recv.getEdge();
  part.blocks = {&branch.getThenRegion().front()};
  if (part.slots.size() == body.getNumArguments())
    return success();
  // The last carried value counts the rounds.
  part.rounds = body.getArguments().back();
  Value next = yieldedValues(*part.blocks[0]).back();
  auto add = next.getDefiningOp<AddOp>();
  if (part.slots.size() + 1 != body.getNumArguments() ||
      !isConstantSize(part.op->getOperands().back(), 0) || !add ||
      add->getOperand(0) != part.rounds || !isConstantSize(add->getOperand(1), 1))
    return error();
  return success();
}

FailureOr<Part> Merger::partOf(Operation *op, RoleId role) {
  Part part{role, op, {}, {}, {}, {}};
  auto slots = op->getAttrOfType<DenseI64ArrayAttr>("pdg.slots");
  if (slots)
    part.slots.assign(slots.asArrayRef().begin(), slots.asArrayRef().end());
  else if (!isa<LoopForeverOp>(op))
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      part.slots.push_back(i);
  if (isa<LoopForeverOp>(op)) {
    if (failed(readFollower(part)))
      return failure();
    return part;
  }
  if (part.slots.size() != op->getNumResults()) {
    op->emitOpError("expects to know which values it has: ") << part.slots.size() << " of them";
    return failure();
  }
  for (Region &region : op->getRegions())
    part.blocks.push_back(&region.front());
  return part;
}

/// The merged op, its regions empty.
Operation *Merger::buildControl(ArrayRef<Part> parts, const Slots &slots, OpBuilder &b) {
  const Part &lead = parts.front();
  auto loop = dyn_cast<LoopOpInterface>(lead.op);
  unsigned own = ownOperands(lead.op).size();
  OperationState state(lead.op->getLoc(), lead.op->getName());
  for (NamedAttribute attribute : lead.op->getAttrs())
    if (!attribute.getName().getValue().starts_with("pdg."))
      state.addAttribute(attribute.getName(), attribute.getValue());
  for (Value operand : lead.op->getOperands().take_front(own))
    state.addOperands(valueAt(operand, lead.role));
  for (auto [slot, owner] : llvm::zip(slots.numbers, slots.owners)) {
    unsigned index = owner->indexOf(slot);
    state.addTypes(owner->op->getResult(index).getType());
    if (loop)
      state.addOperands(valueAt(cast<LoopOpInterface>(owner->op).getInit(index), owner->role));
  }
  for (unsigned i = 0; i < lead.op->getNumRegions(); ++i)
    state.addRegion()->emplaceBlock();
  Operation *merged = b.create(state);
  for (const Part &part : parts) {
    for (unsigned i = 0; !part.follows && i < own; ++i)
      copies_.push_back(
          {part.op, merged->getOperand(i), valueAt(part.op->getOperand(i), part.role)});
    for (auto [index, slot] : llvm::enumerate(part.slots))
      setValue(part.op->getResult(index), part.role, merged->getResult(slots.indexOf(slot)));
  }
  return merged;
}

/// The arguments of a merged loop, as the parts see them.
void Merger::setArguments(ArrayRef<Part> parts, const Slots &slots, Operation *merged) {
  auto loop = cast<LoopOpInterface>(merged);
  Block &body = merged->getRegion(0).front();
  Block &lead = *parts.front().blocks[0];
  unsigned leading = cast<LoopOpInterface>(parts.front().op).getNumLeading();
  for (Value argument : lead.getArguments().take_front(leading))
    body.addArgument(argument.getType(), argument.getLoc());
  for (Type type : merged->getResultTypes())
    body.addArgument(type, merged->getLoc());
  for (const Part &part : parts) {
    for (unsigned i = 0; !part.follows && i < leading; ++i)
      setValue(part.blocks[0]->getArgument(i), part.role, body.getArgument(i));
    if (part.rounds)
      setValue(part.rounds, part.role, body.getArgument(0));
    auto own = cast<LoopOpInterface>(part.op);
    for (auto [index, slot] : llvm::enumerate(part.slots)) {
      unsigned at = slots.indexOf(slot);
      setValue(own.getCarried(index), part.role, body.getArgument(leading + at));
      copies_.push_back({part.op, loop.getInit(at), valueAt(own.getInit(index), part.role)});
    }
  }
}

/// Ends a region of the merged op with what the parts give.
LogicalResult Merger::finishRegion(ArrayRef<Part> parts, const Slots &slots, unsigned region,
                                   Block *into) {
  const Part &lead = parts.front();
  auto given = [&](const Part &part, int64_t slot) {
    return valueAt(yieldedValues(*part.blocks[region])[part.indexOf(slot)], part.role);
  };
  SmallVector<Value> values;
  for (auto [slot, owner] : llvm::zip(slots.numbers, slots.owners))
    values.push_back(given(*owner, slot));
  Value goesOn = goesOnOf(*lead.blocks[region]);
  goesOn = goesOn ? valueAt(goesOn, lead.role) : Value();
  for (const Part &part : parts) {
    for (int64_t slot : part.slots)
      copies_.push_back({part.op, values[slots.indexOf(slot)], given(part, slot)});
    if (part.follows) {
      if (rounds_.lookup(part.follows).size() != 1)
        return part.op->emitOpError("expects to be told of each round by the trainers");
      continue;
    }
    Value own = goesOnOf(*part.blocks[region]);
    if (!own != !goesOn)
      return part.op->emitOpError("expects to end as its copies in other roles do");
    if (own)
      copies_.push_back({part.op, goesOn, valueAt(own, part.role)});
  }
  OpBuilder b = OpBuilder::atBlockEnd(into);
  YieldOp::create(b, lead.op->getLoc(), values, goesOn);
  return success();
}

LogicalResult Merger::mergeControl(ArrayRef<Part> parts, OpBuilder &b) {
  const Part &lead = parts.front();
  Slots slots;
  for (const Part &part : parts) {
    bool isAlike = part.follows ? isDataLoop(lead.op) : part.op->getName() == lead.op->getName();
    if (!isAlike || lead.follows)
      return part.op->emitOpError("expects copies of one loop or condition in all roles");
    llvm::append_range(slots.numbers, part.slots);
  }
  llvm::sort(slots.numbers);
  slots.numbers.erase(llvm::unique(slots.numbers), slots.numbers.end());
  for (int64_t slot : slots.numbers)
    slots.owners.push_back(llvm::find_if(
        parts, [&](const Part &part) { return llvm::is_contained(part.slots, slot); }));
  Operation *merged = buildControl(parts, slots, b);
  if (isa<LoopOpInterface>(merged))
    setArguments(parts, slots, merged);
  for (unsigned region = 0; region < merged->getNumRegions(); ++region) {
    SmallVector<Reader> readers;
    for (const Part &part : parts)
      readers.push_back({part.role, part.blocks[region], part.blocks[region]->begin()});
    Block *into = &merged->getRegion(region).front();
    if (failed(mergeBlocks(readers, into)) || failed(finishRegion(parts, slots, region, into)))
      return failure();
  }
  return success();
}

//===- The whole -----------------------------------------------------------===//

/// Whether two values are computed alike, as far as ops have no effects.
bool isSame(Value first, Value second, llvm::SetVector<std::pair<Value, Value>> &known) {
  if (first == second || !known.insert({first, second}))
    return true;
  if (!first || !second || first.getType() != second.getType())
    return false;
  auto x = dyn_cast<OpResult>(first), y = dyn_cast<OpResult>(second);
  if (!x || !y || x.getResultNumber() != y.getResultNumber())
    return false;
  Operation *one = x.getOwner(), *other = y.getOwner();
  if (one->getName() != other->getName() || one->getNumOperands() != other->getNumOperands() ||
      one->getAttrDictionary() != other->getAttrDictionary() || one->getNumRegions() ||
      !isMemoryEffectFree(one))
    return false;
  return llvm::all_of(llvm::zip(one->getOperands(), other->getOperands()), [&](auto pair) {
    return isSame(std::get<0>(pair), std::get<1>(pair), known);
  });
}

LogicalResult Merger::checkCopies() {
  llvm::SetVector<std::pair<Value, Value>> known;
  for (const Copies &copies : copies_) {
    if (!isSame(copies.first, copies.second, known))
      return copies.op->emitOpError("differs from its copies in other roles in a value that each "
                                    "of them computes for itself");
  }
  return success();
}

LogicalResult Merger::merge(const std::map<RoleId, ProgramOp> &programs, ProgramOp joined) {
  SmallVector<Reader> readers;
  for (auto [role, program] : programs) {
    Block &block = program->getRegion(0).front();
    readers.push_back({role, &block, block.begin()});
  }
  Block *into = &joined.getBody().emplaceBlock();
  if (failed(mergeBlocks(readers, into)))
    return failure();
  OpBuilder b = OpBuilder::atBlockEnd(into);
  YieldOp::create(b, joined.getLoc());
  for (auto &[edge, said] : rounds_)
    if (said.size() != 2)
      return joined.emitOpError("expects 'false' behind the loop of ")
             << cast<EdgeAttr>(edge).str();
  return checkCopies();
}

} // namespace

LogicalResult mergePrograms(const std::map<RoleId, ProgramOp> &programs, ProgramOp joined) {
  return Merger().merge(programs, joined);
}

} // namespace pdg
