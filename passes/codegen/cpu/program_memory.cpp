// Addresses of values in the functions of a program, tables on the stack, and copies.
// SPDX-License-Identifier: Apache-2.0
#include "ir/dialect.h"
#include "ir/ops/variable.h"
#include "passes/codegen/cpu/program_lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace pdg {

//===- Addresses -----------------------------------------------------------===//

Value ProgramLowering::arenaAt(int64_t offset) {
  return LLVM::GEPOp::create(b, loc_, ptr_, b.getI8Type(), function_.getArgument(2),
                             ArrayRef<LLVM::GEPArg>{constant(offset)});
}

Value ProgramLowering::wordAt(Value table, int64_t index) {
  return LLVM::GEPOp::create(b, loc_, ptr_, i64_, table,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
}

Value ProgramLowering::variableAddress(Attribute name) {
  return loadAddress(function_.getArgument(1), tables_.variable(name));
}

/// The bytes of the elements of a constant, as they lie in memory.
static std::string bytesOfElements(DenseElementsAttr elements) {
  std::string bytes;
  size_t size = sizeOf(*toDType(elements.getElementType()));
  auto append = [&](const APInt &bits) {
    uint64_t word = bits.getZExtValue();
    bytes.append(reinterpret_cast<const char *>(&word), size);
  };
  if (isa<FloatType>(elements.getElementType()))
    for (const APFloat &element : elements.getValues<APFloat>())
      append(element.bitcastToAPInt());
  else
    for (const APInt &element : elements.getValues<APInt>())
      append(element);
  return bytes;
}

Value ProgramLowering::constantAddress(Value tensor) {
  Attribute value;
  matchPattern(tensor, m_Constant(&value));
  std::string &name = globals_[value];
  if (name.empty()) {
    name = "constant_" + std::to_string(globals_.size());
    std::string bytes = bytesOfElements(cast<DenseElementsAttr>(value));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(code_.getBody());
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
    LLVM::GlobalOp::create(b, loc_, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                           b.getStringAttr(bytes), /*alignment=*/64);
  }
  return LLVM::AddressOfOp::create(b, loc_, ptr_, name);
}

Value ProgramLowering::pointer(Value tensor) {
  Value root = plan_.rootOf(tensor);
  Place place = plan_.placeOf(root);
  switch (place.kind) {
  case Place::Arena:
    return arenaAt(place.offset);
  case Place::Variable:
    return variableAddress(place.name);
  case Place::Bound:
    return bound_.lookup(root);
  case Place::Constant:
    return constantAddress(root);
  }
  llvm_unreachable("a place has four kinds");
}

void ProgramLowering::setPointer(Value tensor, Value address) { bound_[tensor] = address; }
void ProgramLowering::setBatch(Value tensor, Value examples) { batches_[tensor] = examples; }

//===- Scalars and tables --------------------------------------------------===//

Value ProgramLowering::loadScalar(Value tensor) {
  Type element = getElementTypeOrSelf(tensor.getType());
  Attribute value;
  if (matchPattern(tensor, m_Constant(&value)) && !isa<FloatType>(element)) {
    APInt bits = cast<DenseElementsAttr>(value).getSplatValue<APInt>();
    return arith::ConstantOp::create(b, loc_, IntegerAttr::get(registerType(element), bits));
  }
  Type memory = element.isInteger(1) ? b.getI8Type() : registerType(element);
  Value loaded = LLVM::LoadOp::create(b, loc_, memory, pointer(tensor));
  if (!element.isInteger(1))
    return loaded;
  Value zero = arith::ConstantIntOp::create(b, loc_, 0, 8);
  return arith::CmpIOp::create(b, loc_, arith::CmpIPredicate::ne, loaded, zero);
}

void ProgramLowering::storeScalar(Value element, Value tensor) {
  if (element.getType().isInteger(1))
    element = arith::ExtUIOp::create(b, loc_, b.getI8Type(), element);
  LLVM::StoreOp::create(b, loc_, element, pointer(tensor));
}

Value ProgramLowering::room(int64_t count) {
  OpBuilder start = OpBuilder::atBlockBegin(&function_.getBody().front());
  Value words = arith::ConstantIntOp::create(start, loc_, std::max<int64_t>(count, 1), 64);
  return LLVM::AllocaOp::create(start, loc_, ptr_, i64_, words, /*alignment=*/64);
}

Value ProgramLowering::loadAddress(Value table, int64_t index) {
  return LLVM::LoadOp::create(b, loc_, ptr_, wordAt(table, index));
}

Value ProgramLowering::loadWord(Value table, int64_t index) {
  return LLVM::LoadOp::create(b, loc_, i64_, wordAt(table, index));
}

Value ProgramLowering::addressTable(ValueRange tensors) {
  Value table = room(tensors.size());
  for (auto [index, tensor] : llvm::enumerate(tensors))
    LLVM::StoreOp::create(b, loc_, pointer(tensor), wordAt(table, index));
  return table;
}

Value ProgramLowering::sizeTable(ValueRange tensors) {
  SmallVector<Value> all;
  for (Value tensor : tensors)
    llvm::append_range(all, sizes(tensor));
  Value table = room(all.size());
  for (auto [index, size] : llvm::enumerate(all))
    LLVM::StoreOp::create(b, loc_, size, wordAt(table, index));
  return table;
}

Value ProgramLowering::textSite(Operation *op) { return constant(tables_.text(op)); }
Value ProgramLowering::fetchSite(StringRef name) { return constant(tables_.fetch(name)); }
Value ProgramLowering::sourceIndex(Attribute source) { return constant(tables_.source(source)); }
Value ProgramLowering::inputIndex(StringRef name) { return constant(tables_.input(name)); }
Value ProgramLowering::edgeIndex(Attribute edge) { return constant(tables_.edge(edge)); }

//===- Copies --------------------------------------------------------------===//

void ProgramLowering::copyBytes(Value to, Value from, Value bytes) {
  // A value that was computed in its variable is assigned to itself: memmove allows that.
  LLVM::MemmoveOp::create(b, loc_, to, from, bytes, /*isVolatile=*/false);
}

void ProgramLowering::copy(ValueRange from, ValueRange to) {
  // A source that is also a destination of an earlier copy would be overwritten first: values of
  // loops that change places go through the scratch memory, which no kernel uses now.
  SmallVector<Value> places;
  int64_t scratch = llvm::alignTo(plan_.arenaBytes(), 4096), used = 0;
  for (auto [source, target] : llvm::zip(from, to)) {
    Value address = pointer(source);
    bool isOverwritten = false;
    for (Value other : to)
      isOverwritten |= other != target && plan_.rootOf(other) == plan_.rootOf(source);
    if (isOverwritten) {
      Value kept = arenaAt(scratch + used);
      copyBytes(kept, address, bytesOf(source));
      address = kept;
      // What has a place has a bound; a view of it need not.
      int64_t elements = shapes_.elementBoundOf(plan_.rootOf(source)).value_or(0);
      used += llvm::alignTo(elements * sizeOf(*toDType(source.getType())), 64);
    }
    places.push_back(address);
  }
  workBytes_ = std::max<int64_t>(workBytes_, llvm::alignTo(used, 64));
  for (auto [address, source, target] : llvm::zip(places, from, to))
    if (plan_.rootOf(source) != plan_.rootOf(target))
      copyBytes(pointer(target), address, bytesOf(source));
}

void ProgramLowering::copyRow(Value row, Value table, Value at) {
  Value place = loadScalar(at), count = size(shapes_.dimsOf(table).front());
  Block *fits = newBlock(0), *after = newBlock(0);
  // As numbers without a sign, negative positions are too large as well.
  branchIf(arith::CmpIOp::create(b, loc_, arith::CmpIPredicate::ult, place, count), fits, after);
  enter(fits);
  Value bytes = bytesOf(row), offset = arith::MulIOp::create(b, loc_, place, bytes);
  Value to = LLVM::GEPOp::create(b, loc_, ptr_, b.getI8Type(), pointer(table),
                                 ArrayRef<LLVM::GEPArg>{offset});
  copyBytes(to, pointer(row), bytes);
  branch(after, {});
  enter(after);
}

void ProgramLowering::assign(Operation *assign, Attribute name, Value value) {
  if (!plan_.isInPlace(assign))
    copyBytes(variableAddress(name), pointer(value), bytesOf(value));
}

void ProgramLowering::read(Attribute name, Value result) {
  if (plan_.placeOf(result).kind == Place::Arena)
    copyBytes(pointer(result), variableAddress(name), bytesOf(result));
}

} // namespace pdg
