// Emission of integer, memory, vector and control operations for kernels.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/kernels/emitter.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pdg {

Emitter::Emitter(OpBuilder &builder, Location loc, bool isF64, const TargetInfo &target)
    : b(builder), loc(loc), elem(isF64 ? Type(builder.getF64Type()) : Type(builder.getF32Type())),
      bytes(isF64 ? 8 : 4), vl(target.vectorBits / 8 / bytes), vec(VectorType::get({vl}, elem)),
      i64(builder.getI64Type()), ptr(LLVM::LLVMPointerType::get(builder.getContext())) {}

Value Emitter::c(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
}

std::optional<int64_t> Emitter::constant(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

Value Emitter::add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
Value Emitter::sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(loc, x, y); }
Value Emitter::mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(loc, x, y); }
Value Emitter::div(Value x, Value y) { return b.createOrFold<arith::DivUIOp>(loc, x, y); }
Value Emitter::rem(Value x, Value y) { return b.createOrFold<arith::RemUIOp>(loc, x, y); }
Value Emitter::min(Value x, Value y) { return b.createOrFold<arith::MinSIOp>(loc, x, y); }
Value Emitter::max(Value x, Value y) { return b.createOrFold<arith::MaxSIOp>(loc, x, y); }
Value Emitter::both(Value x, Value y) { return b.createOrFold<arith::AndIOp>(loc, x, y); }

Value Emitter::less(Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, x, y);
}

Value Emitter::equal(Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, x, y);
}

Value Emitter::select(Value condition, Value x, Value y) {
  return b.createOrFold<arith::SelectOp>(loc, condition, x, y);
}

Value Emitter::at(Value pointer, Value offset) {
  std::optional<int64_t> known = constant(offset);
  if (known == 0)
    return pointer;
  // GEPs hold constants of 29 bits only.
  if (known && llvm::isInt<29>(*known))
    return LLVM::GEPOp::create(b, loc, ptr, elem, pointer,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(*known)});
  return LLVM::GEPOp::create(b, loc, ptr, elem, pointer, ArrayRef<LLVM::GEPArg>{offset});
}

Value Emitter::loadScalar(Value pointer) {
  return LLVM::LoadOp::create(b, loc, elem, pointer, bytes);
}

void Emitter::storeScalar(Value value, Value pointer) {
  LLVM::StoreOp::create(b, loc, value, pointer, bytes);
}

Value Emitter::load(Value pointer, Value mask) {
  if (!mask)
    return LLVM::LoadOp::create(b, loc, vec, pointer, bytes);
  return LLVM::MaskedLoadOp::create(b, loc, Type(vec), pointer, mask, zero(), uint32_t(bytes));
}

void Emitter::store(Value value, Value pointer, Value mask) {
  if (mask)
    LLVM::MaskedStoreOp::create(b, loc, value, pointer, mask, uint32_t(bytes));
  else
    LLVM::StoreOp::create(b, loc, value, pointer, bytes);
}

Value Emitter::gather(Value pointer, Value stride, Value mask) {
  auto type = VectorType::get({vl}, i64);
  auto lanes = llvm::to_vector(llvm::seq<int64_t>(0, vl));
  Value iota = arith::ConstantOp::create(b, loc, DenseIntElementsAttr::get(type, lanes));
  Value strides = vector::BroadcastOp::create(b, loc, type, stride);
  return gatherAt(pointer, arith::MulIOp::create(b, loc, iota, strides), mask);
}

Value Emitter::gather(Value pointer, ArrayRef<int64_t> offsets, Value mask) {
  auto type = VectorType::get({vl}, i64);
  return gatherAt(
      pointer, arith::ConstantOp::create(b, loc, DenseIntElementsAttr::get(type, offsets)), mask);
}

Value Emitter::gatherAt(Value pointer, Value offsets, Value mask) {
  Value pointers = LLVM::GEPOp::create(b, loc, VectorType::get({vl}, ptr), elem, pointer,
                                       ArrayRef<LLVM::GEPArg>{offsets});
  if (!mask) {
    auto maskType = VectorType::get({vl}, b.getI1Type());
    mask = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(maskType, true));
  }
  return LLVM::masked_gather::create(b, loc, Type(vec), pointers, mask, ValueRange{zero()},
                                     uint32_t(bytes));
}

Value Emitter::zero() { return arith::ConstantOp::create(b, loc, b.getZeroAttr(vec)); }

Value Emitter::broadcast(Value scalar) { return vector::BroadcastOp::create(b, loc, vec, scalar); }

Value Emitter::fma(Value x, Value y, Value z) { return LLVM::FMAOp::create(b, loc, x, y, z); }

Value Emitter::addF(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }

// x > 0 or NaN ? x : 0. Two instructions, where a maximum that keeps NaN takes more.
Value Emitter::relu(Value x) {
  Value nothing = zero();
  Value keep = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UGT, x, nothing);
  return arith::SelectOp::create(b, loc, keep, x, nothing);
}

Value Emitter::shuffle(Value x, Value y, ArrayRef<int64_t> lanes) {
  return vector::ShuffleOp::create(b, loc, x, y, lanes);
}

Value Emitter::maskBelow(Value count) {
  std::optional<int64_t> known = constant(count);
  if (known && *known >= vl)
    return {};
  // 32-bit lanes: half the registers of 64-bit ones, and counts below the vector length fit.
  auto type = VectorType::get({vl}, b.getI32Type());
  auto lanes = llvm::to_vector(llvm::seq<int32_t>(0, vl));
  Value iota = arith::ConstantOp::create(b, loc, DenseIntElementsAttr::get(type, lanes));
  Value clamped = max(min(count, c(vl)), c(0));
  Value narrow = b.createOrFold<arith::TruncIOp>(loc, b.getI32Type(), clamped);
  Value bound = vector::BroadcastOp::create(b, loc, type, narrow);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, iota, bound);
}

Value Emitter::constantMask(ArrayRef<bool> lanes) {
  if (llvm::all_of(lanes, [](bool lane) { return lane; }))
    return {};
  auto type = VectorType::get({vl}, b.getI1Type());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, lanes));
}

Values Emitter::loop(Value lo, Value hi, int64_t step, ValueRange init,
                     llvm::function_ref<Values(Value, ValueRange)> body) {
  std::optional<int64_t> first = constant(lo), end = constant(hi);
  if (first && end && *first >= *end)
    return Values(init);
  if (first && end && *first + step >= *end)
    return body(lo, init);
  auto loop = scf::ForOp::create(b, loc, lo, hi, c(step), init,
                                 [&](OpBuilder &, Location, Value i, ValueRange arguments) {
                                   OpBuilder::InsertionGuard guard(b);
                                   // The builder handed in is a copy of ours inside the new body.
                                   b.setInsertionPointToEnd(i.getParentBlock());
                                   Values results = body(i, arguments);
                                   scf::YieldOp::create(b, loc, results);
                                 });
  return Values(loop.getResults());
}

void Emitter::loop(Value lo, Value hi, int64_t step, llvm::function_ref<void(Value)> body) {
  loop(lo, hi, step, ValueRange{}, [&](Value i, ValueRange) {
    body(i);
    return Values{};
  });
}

void Emitter::when(Value condition, llvm::function_ref<void()> body) {
  if (std::optional<int64_t> known = constant(condition)) {
    if (*known)
      body();
    return;
  }
  auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

Values Emitter::choose(Value condition, llvm::function_ref<Values()> then,
                       llvm::function_ref<Values()> otherwise) {
  if (std::optional<int64_t> known = constant(condition))
    return *known ? then() : otherwise();
  auto emit = [&](llvm::function_ref<Values()> side) {
    return [&, side](OpBuilder &nested, Location) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(nested.getInsertionBlock(), nested.getInsertionPoint());
      scf::YieldOp::create(b, loc, side());
    };
  };
  auto branch = scf::IfOp::create(b, loc, condition, emit(then), emit(otherwise));
  return Values(branch.getResults());
}

LLVM::LLVMFuncOp startFunction(ModuleOp module, StringRef name, ArrayRef<Type> arguments,
                               OpBuilder &builder) {
  builder.setInsertionPointToEnd(module.getBody());
  Location loc = module.getLoc();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                          SmallVector<Type>(arguments));
  auto function = LLVM::LLVMFuncOp::create(builder, loc, name, type);
  Block *body = function.addEntryBlock(builder);
  builder.setInsertionPointToEnd(body);
  auto end = LLVM::ReturnOp::create(builder, loc, ValueRange{});
  builder.setInsertionPoint(end);
  return function;
}

} // namespace pdg
