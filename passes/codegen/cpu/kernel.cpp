// Builds kernel functions: their arguments, integer arithmetic, loops and accesses to memory.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace pdg {

KernelBuilder::KernelBuilder(ModuleOp module, StringRef name, ShapeAnalysis &shapes,
                             const TargetInfo &target, Location loc)
    : b(module.getContext()), loc(loc), shapes(shapes), target(target), module(module) {
  i64 = b.getI64Type();
  ptr = LLVM::LLVMPointerType::get(b.getContext());
  b.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {ptr, i64, i64});
  kernel_.function = LLVM::LLVMFuncOp::create(b, loc, name, type, LLVM::Linkage::Internal);
  Block *entry = kernel_.function.addEntryBlock(b);
  task = entry->getArgument(1);
  tasks = entry->getArgument(2);
  b.setInsertionPointToEnd(entry);
}

Kernel KernelBuilder::finish(AffineExpr cost, bool isParallel) {
  LLVM::ReturnOp::create(b, loc, ValueRange());
  kernel_.cost = cost;
  kernel_.isParallel = isParallel;
  return kernel_;
}

//===- Arguments -----------------------------------------------------------===//

Value KernelBuilder::word(KernelArgument argument, Type type) {
  int64_t index = kernel_.arguments.size();
  kernel_.arguments.push_back(argument);
  Block &entry = kernel_.function.getBody().front();
  OpBuilder start = OpBuilder::atBlockBegin(&entry);
  Value at = LLVM::GEPOp::create(start, loc, ptr, i64, entry.getArgument(0),
                                 ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  return LLVM::LoadOp::create(start, loc, type, at);
}

Value KernelBuilder::address(Value tensor) {
  Value &known = addresses_[tensor];
  if (!known)
    known = word({KernelArgument::Address, tensor, {}}, ptr);
  return known;
}

Value KernelBuilder::size(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return c(constant.getValue());
  Value &known = sizes_[expr];
  if (!known)
    known = word({KernelArgument::Size, {}, expr}, i64);
  return known;
}

Value KernelBuilder::work(int64_t bytes) {
  kernel_.workBytes = std::max<int64_t>(kernel_.workBytes, llvm::alignTo(bytes, 64));
  if (!work_)
    work_ = word({KernelArgument::Work, {}, {}}, ptr);
  // The caller passes the area of task 0; the others follow at the final size, which is stored as a
  // second word so that it is known here.
  Value bytesOfTask = size(getAffineConstantExpr(kernel_.workBytes, b.getContext()));
  Value offset = mul(task, bytesOfTask);
  return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), work_, ArrayRef<LLVM::GEPArg>{offset});
}

//===- Integers ------------------------------------------------------------===//

Value KernelBuilder::c(int64_t value) { return arith::ConstantIntOp::create(b, loc, value, 64); }
Value KernelBuilder::add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
Value KernelBuilder::sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(loc, x, y); }
Value KernelBuilder::mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(loc, x, y); }
Value KernelBuilder::div(Value x, Value y) { return b.createOrFold<arith::DivUIOp>(loc, x, y); }
Value KernelBuilder::rem(Value x, Value y) { return b.createOrFold<arith::RemUIOp>(loc, x, y); }
Value KernelBuilder::less(Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, x, y);
}
Value KernelBuilder::equal(Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, x, y);
}
Value KernelBuilder::select(Value condition, Value x, Value y) {
  return b.createOrFold<arith::SelectOp>(loc, condition, x, y);
}

Value KernelBuilder::leafCount(Value n) {
  Value leaves = c(1);
  // From few to many, so that the last one that fits stays.
  for (int64_t count : {2, 4, 8, 16}) {
    Value divides = equal(rem(n, c(count)), c(0));
    Value isLong = less(c(16 * count - 1), n);
    Value fits = b.createOrFold<arith::AndIOp>(loc, divides, isLong);
    leaves = select(fits, c(count), leaves);
  }
  return leaves;
}

Value KernelBuilder::leafCount(Value n, Value leaves) {
  Value count = leafCount(n), most = c(cast<RankedTensorType>(leaves.getType()).getDimSize(0));
  return select(less(most, count), most, count);
}

//===- Control -------------------------------------------------------------===//

SmallVector<Value> KernelBuilder::loop(Value lo, Value hi, Value step, ValueRange init,
                                       function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, loc, lo, hi, step, init);
  OpBuilder::InsertionGuard guard(b);
  Block *block = loop.getBody();
  if (init.empty())
    block->clear();
  b.setInsertionPointToEnd(block);
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(loop.getResults());
}

void KernelBuilder::loop(Value lo, Value hi, Value step, function_ref<void(Value)> body) {
  loop(lo, hi, step, {}, [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

void KernelBuilder::when(Value condition, function_ref<void()> body) {
  auto branch = scf::IfOp::create(b, loc, condition, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

//===- Memory --------------------------------------------------------------===//

static Type withLanes(Type type, Value like) {
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector ? VectorType::get(vector.getShape(), type) : type;
}

Type KernelBuilder::memoryType(Type element) {
  Type type = registerType(element);
  return type.isInteger(1) ? b.getI8Type() : type;
}

Value KernelBuilder::toRegister(Value value, Type element) {
  if (!element.isInteger(1))
    return value;
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero(value.getType()));
}

Value KernelBuilder::toMemory(Value value, Type element) {
  if (!element.isInteger(1))
    return value;
  return arith::ExtUIOp::create(b, loc, withLanes(b.getI8Type(), value), value);
}

Value KernelBuilder::pointerTo(Value address, Type element, Value offset) {
  Type type = memoryType(element);
  if (auto constant = getConstantIntValue(offset); constant && *constant == 0)
    return address;
  return LLVM::GEPOp::create(b, loc, ptr, type, address, ArrayRef<LLVM::GEPArg>{offset});
}

Value KernelBuilder::load(Value address, Type element, Value offset) {
  Value at = pointerTo(address, element, offset);
  return toRegister(LLVM::LoadOp::create(b, loc, memoryType(element), at), element);
}

void KernelBuilder::store(Value value, Value address, Type element, Value offset) {
  Value at = pointerTo(address, element, offset);
  LLVM::StoreOp::create(b, loc, toMemory(value, element), at);
}

/// Bytes to which a vector access of `element` is aligned: its own size.
static unsigned alignmentOf(Type memoryType) { return memoryType.getIntOrFloatBitWidth() / 8; }

Value KernelBuilder::loadLanes(Value address, Type element, Value offset, int64_t lanes,
                               Value mask) {
  Type type = memoryType(element);
  auto vector = VectorType::get({lanes}, type);
  Value at = pointerTo(address, element, offset);
  unsigned alignment = alignmentOf(type);
  if (!mask)
    return toRegister(LLVM::LoadOp::create(b, loc, vector, at, alignment), element);
  return toRegister(LLVM::MaskedLoadOp::create(b, loc, vector, at, mask, zero(vector),
                                               b.getI32IntegerAttr(alignment)),
                    element);
}

void KernelBuilder::storeLanes(Value value, Value address, Type element, Value offset, Value mask) {
  Value at = pointerTo(address, element, offset);
  unsigned alignment = alignmentOf(memoryType(element));
  value = toMemory(value, element);
  if (mask)
    LLVM::MaskedStoreOp::create(b, loc, value, at, mask, alignment);
  else
    LLVM::StoreOp::create(b, loc, value, at, alignment);
}

Value KernelBuilder::gatherLanes(Value address, Type element, Value offsets, Value mask) {
  Type type = memoryType(element);
  int64_t lanes = cast<VectorType>(offsets.getType()).getNumElements();
  auto vector = VectorType::get({lanes}, type);
  auto pointers = VectorType::get({lanes}, ptr);
  Value at = LLVM::GEPOp::create(b, loc, pointers, type, address, ArrayRef<LLVM::GEPArg>{offsets});
  if (!mask)
    mask = splat(arith::ConstantIntOp::create(b, loc, 1, 1), lanes);
  Value loaded = LLVM::masked_gather::create(b, loc, vector, at, mask, ValueRange{zero(vector)},
                                             b.getI32IntegerAttr(alignmentOf(type)));
  return toRegister(loaded, element);
}

Value KernelBuilder::splat(Value value, int64_t lanes) {
  if (isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, value.getType()), value);
}

Value KernelBuilder::laneNumbers(int64_t lanes) {
  auto numbers = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
  return arith::ConstantOp::create(b, loc, b.getI64VectorAttr(numbers));
}

Value KernelBuilder::lanesBelow(Value count, int64_t lanes) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, laneNumbers(lanes),
                               splat(count, lanes));
}

Value KernelBuilder::zero(Type type) {
  return arith::ConstantOp::create(b, loc, type, cast<TypedAttr>(b.getZeroAttr(type)));
}

} // namespace pdg
