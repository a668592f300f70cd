// The ops of compare.td.
// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/compare.h"
#include "ir/math/storage.h"
#include "ir/rules.h"

#define GET_OP_CLASSES
#include "ir/ops/compare.cpp.inc"

static pdg::OpGroup group([](pdg::PdgDialect &dialect) {
  dialect.addGroup<
#define GET_OP_LIST
#include "ir/ops/compare.cpp.inc"
      >();
});

using namespace mlir;

namespace pdg {

//===- CastOp --------------------------------------------------------------===//

/// `x` as a number of type `to`, one that is computed with.
template <MathValue V, class Use> static void withCast(V x, DType to, Use use) {
  switch (to) {
  case DType::F32:
    return use(pdg::cast<Elem::F32>(x));
  case DType::F64:
    return use(pdg::cast<Elem::F64>(x));
  case DType::I32:
    return use(pdg::cast<Elem::I32>(x));
  case DType::I64:
    return use(pdg::cast<Elem::I64>(x));
  case DType::U8:
    return use(pdg::cast<Elem::U8>(x));
  case DType::Bool:
    return use(pdg::cast<Elem::Bool>(x));
  // The bits of what is only stored are the low ones of a word.
  case DType::BF16:
    return use(encodeBf16(toHalfWay(x)));
  case DType::F16:
    return use(encodeF16(toHalfWay(x)));
  case DType::I8:
    return use(encodeI8(x));
  }
}

/// The bits `word`, a U32, of an element of type `from`, one that is only stored, as a number.
template <MathValue V, class Use> static void withStored(V word, DType from, Use use) {
  if (from == DType::BF16)
    return use(decodeBf16(word));
  if (from == DType::F16)
    return use(decodeF16(word));
  use(decodeI8(word));
}

static bool isStorage(DType dtype) {
  return dtype == DType::BF16 || dtype == DType::F16 || dtype == DType::I8;
}

/// The type `element` with as many lanes as `like` has.
static Type withLanesOf(Value like, Type element) {
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector ? Type(VectorType::get(vector.getShape(), element)) : element;
}

Value CastOp::emitElement(ElementContext &context, ArrayRef<AxisIndex> index) {
  OpBuilder &b = context.b;
  Location loc = context.loc;
  Type element = getElementTypeOrSelf(getX().getType());
  DType from = *toDType(element), to = *toDType(getElement());
  Value loaded = context.load(0, index), result;
  auto cast = [&](Emitted x) {
    withCast(x, to, [&](Emitted y) { result = y.value; });
    if (isStorage(to))
      result =
          arith::TruncIOp::create(b, loc, withLanesOf(result, registerType(getElement())), result);
  };
  if (!isStorage(from)) {
    cast(emitted(context, loaded, element));
    return result;
  }
  Value word = arith::ExtUIOp::create(b, loc, withLanesOf(loaded, b.getI32Type()), loaded);
  withStored(Emitted(b, loc, word, /*isUnsigned=*/true), from, cast);
  return result;
}

/// Calls `use` with element `i` of `x`, as a number.
template <class Use> static void withElement(const HostTensor &x, int64_t i, Use use) {
  const std::byte *at = reinterpret_cast<const std::byte *>(x.bytes()) + i * sizeOf(x.dtype());
  if (isStorage(x.dtype())) {
    uint32_t word = 0;
    std::memcpy(&word, at, sizeOf(x.dtype()));
    return withStored(Scalar<uint32_t>{word}, x.dtype(), use);
  }
  dispatch(AnyType{}, x.dtype(), [&]<class T>() { use(Scalar<T>{x.data<T>()[i]}); });
}

LogicalResult CastOp::evaluate(Evaluation &eval) {
  const HostTensor &x = eval.operand(0);
  HostTensor &out = eval.result(0, x.shape());
  int64_t size = sizeOf(out.dtype());
  for (int64_t i = 0; i < x.numElements(); ++i)
    withElement(x, i, [&](auto element) {
      withCast(element, out.dtype(),
               [&](auto result) { std::memcpy(out.bytes() + i * size, &result.value, size); });
    });
  return success();
}

LogicalResult CastOp::vjp(OpBuilder &b, Reverse &reverse) {
  Value g = reverse.cotangent(getResult());
  if (g && isFloatTensor(getX().getType()) && reverse.isActive(getX()))
    reverse.add(getX(), CastOp::create(b, getLoc(), g, getElementTypeOrSelf(getX().getType())));
  return success();
}

} // namespace pdg
