// Appends the ops of `Emitted`: one arith, math or vector op for nearly each operator.
// SPDX-License-Identifier: Apache-2.0
#include "ir/math/emit_value.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

namespace pdg {
namespace arith = mlir::arith;
namespace {

mlir::Type elementType(Emitted x) { return mlir::getElementTypeOrSelf(x.value.getType()); }

bool isMask(Emitted x) { return elementType(x).isInteger(1); }

/// The type `element`, as wide as `x`.
mlir::Type typeLike(Emitted x, mlir::Type element) {
  if (auto vector = llvm::dyn_cast<mlir::VectorType>(x.value.getType()))
    return vector.clone(element);
  return element;
}

mlir::Type typeOf(Elem elem, mlir::MLIRContext *context) {
  switch (elem) {
  case Elem::F32:
    return mlir::Float32Type::get(context);
  case Elem::F64:
    return mlir::Float64Type::get(context);
  case Elem::I32:
  case Elem::U32:
    return mlir::IntegerType::get(context, 32);
  case Elem::I64:
  case Elem::U64:
    return mlir::IntegerType::get(context, 64);
  case Elem::U8:
    return mlir::IntegerType::get(context, 8);
  case Elem::Bool:
    return mlir::IntegerType::get(context, 1);
  }
  llvm_unreachable("all kinds are listed");
}

bool isUnsignedElem(Elem elem) {
  return elem == Elem::U32 || elem == Elem::U64 || elem == Elem::U8 || elem == Elem::Bool;
}

/// Tells whether order and division follow the unsigned reading of the bits.
bool readsUnsigned(Emitted x) { return isUnsignedElem(x.elem()); }

Emitted constantLike(Emitted x, mlir::TypedAttr element) {
  mlir::TypedAttr attr = element;
  if (auto vector = llvm::dyn_cast<mlir::VectorType>(x.value.getType()))
    attr = mlir::DenseElementsAttr::get(vector, mlir::Attribute(element));
  return x.with(arith::ConstantOp::create(*x.builder, x.loc, attr), x.isUnsigned);
}

template <class Op> Emitted binary(Emitted a, Emitted b) {
  return a.with(Op::create(*a.builder, a.loc, a.value, b.value), a.isUnsigned);
}

template <class Op> Emitted unary(Emitted x) {
  return x.with(Op::create(*x.builder, x.loc, x.value), x.isUnsigned);
}

template <class FloatOp, class IntOp> Emitted binaryByKind(Emitted a, Emitted b) {
  return a.isFloat() ? binary<FloatOp>(a, b) : binary<IntOp>(a, b);
}

template <class SignedOp, class UnsignedOp> Emitted binaryBySign(Emitted a, Emitted b) {
  return readsUnsigned(a) ? binary<UnsignedOp>(a, b) : binary<SignedOp>(a, b);
}

Emitted compare(Emitted a, Emitted b, arith::CmpFPredicate ofFloats, arith::CmpIPredicate ofSigned,
                arith::CmpIPredicate ofUnsigned) {
  if (a.isFloat())
    return a.with(arith::CmpFOp::create(*a.builder, a.loc, ofFloats, a.value, b.value), false);
  auto predicate = readsUnsigned(a) ? ofUnsigned : ofSigned;
  return a.with(arith::CmpIOp::create(*a.builder, a.loc, predicate, a.value, b.value), false);
}

template <class Op> Emitted conversion(Emitted x, Elem to) {
  mlir::Type type = typeLike(x, typeOf(to, x.builder->getContext()));
  return x.with(Op::create(*x.builder, x.loc, type, x.value), isUnsignedElem(to));
}

Emitted convertInt(Emitted x, Elem to) {
  unsigned from = elementType(x).getIntOrFloatBitWidth();
  unsigned width = typeOf(to, x.builder->getContext()).getIntOrFloatBitWidth();
  if (to == Elem::Bool)
    return isMask(x) ? x : x != x.like(0);
  if (from == width)
    return x.with(x.value, isUnsignedElem(to));
  if (from > width)
    return conversion<arith::TruncIOp>(x, to);
  return readsUnsigned(x) ? conversion<arith::ExtUIOp>(x, to) : conversion<arith::ExtSIOp>(x, to);
}

Emitted convertFloat(Emitted x, Elem to) {
  if (x.elem() == to)
    return x;
  if (to == Elem::F64)
    return conversion<arith::ExtFOp>(x, to);
  if (to == Elem::F32)
    return conversion<arith::TruncFOp>(x, to);
  if (to == Elem::Bool)
    return x != x.like(0.0);
  return isUnsignedElem(to) ? conversion<arith::FPToUIOp>(x, to)
                            : conversion<arith::FPToSIOp>(x, to);
}

} // namespace

Elem Emitted::elem() const {
  mlir::Type type = elementType(*this);
  if (type.isF32())
    return Elem::F32;
  if (type.isF64())
    return Elem::F64;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return Elem::Bool;
  case 8:
    return Elem::U8;
  case 32:
    return isUnsigned ? Elem::U32 : Elem::I32;
  case 64:
    return isUnsigned ? Elem::U64 : Elem::I64;
  default:
    llvm_unreachable("values have one of the kinds of Elem");
  }
}

Emitted Emitted::likeFloat(double c) const {
  if (!isFloat())
    return likeInt(static_cast<int64_t>(c));
  return constantLike(*this, builder->getFloatAttr(elementType(*this), c));
}

Emitted Emitted::likeInt(int64_t c) const {
  if (isFloat())
    return likeFloat(static_cast<double>(c));
  mlir::Type type = elementType(*this);
  llvm::APInt bits(type.getIntOrFloatBitWidth(), static_cast<uint64_t>(c), /*isSigned=*/false,
                   /*implicitTrunc=*/true);
  return constantLike(*this, mlir::IntegerAttr::get(type, bits));
}

Emitted operator+(Emitted a, Emitted b) { return binaryByKind<arith::AddFOp, arith::AddIOp>(a, b); }
Emitted operator-(Emitted a, Emitted b) { return binaryByKind<arith::SubFOp, arith::SubIOp>(a, b); }
Emitted operator*(Emitted a, Emitted b) { return binaryByKind<arith::MulFOp, arith::MulIOp>(a, b); }
Emitted operator/(Emitted a, Emitted b) { return binary<arith::DivFOp>(a, b); }
Emitted operator-(Emitted a) { return a.isFloat() ? unary<arith::NegFOp>(a) : a.like(0) - a; }
Emitted operator&(Emitted a, Emitted b) { return binary<arith::AndIOp>(a, b); }
Emitted operator|(Emitted a, Emitted b) { return binary<arith::OrIOp>(a, b); }
Emitted operator^(Emitted a, Emitted b) { return binary<arith::XOrIOp>(a, b); }
Emitted operator~(Emitted a) { return a ^ a.like(-1); }
Emitted operator!(Emitted a) { return ~a; }
Emitted operator<<(Emitted a, Emitted n) { return binary<arith::ShLIOp>(a, n); }
Emitted operator>>(Emitted a, Emitted n) {
  return binaryBySign<arith::ShRSIOp, arith::ShRUIOp>(a, n);
}
Emitted operator<<(Emitted a, int n) { return a << a.like(n); }
Emitted operator>>(Emitted a, int n) { return a >> a.like(n); }

Emitted operator<(Emitted a, Emitted b) {
  return compare(a, b, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt,
                 arith::CmpIPredicate::ult);
}
Emitted operator<=(Emitted a, Emitted b) {
  return compare(a, b, arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle,
                 arith::CmpIPredicate::ule);
}
Emitted operator>(Emitted a, Emitted b) {
  return compare(a, b, arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt,
                 arith::CmpIPredicate::ugt);
}
Emitted operator>=(Emitted a, Emitted b) {
  return compare(a, b, arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge,
                 arith::CmpIPredicate::uge);
}
Emitted operator==(Emitted a, Emitted b) {
  return compare(a, b, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq,
                 arith::CmpIPredicate::eq);
}
Emitted operator!=(Emitted a, Emitted b) {
  return compare(a, b, arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne,
                 arith::CmpIPredicate::ne);
}

Emitted select(Emitted mask, Emitted a, Emitted b) {
  return a.with(arith::SelectOp::create(*a.builder, a.loc, mask.value, a.value, b.value),
                a.isUnsigned);
}

Emitted fma(Emitted a, Emitted b, Emitted c) {
  return a.with(mlir::math::FmaOp::create(*a.builder, a.loc, a.value, b.value, c.value), false);
}

Emitted sqrt(Emitted x) { return unary<mlir::math::SqrtOp>(x); }
Emitted floor(Emitted x) { return unary<mlir::math::FloorOp>(x); }
Emitted ceil(Emitted x) { return unary<mlir::math::CeilOp>(x); }
Emitted trunc(Emitted x) { return unary<mlir::math::TruncOp>(x); }
Emitted roundEven(Emitted x) { return unary<mlir::math::RoundEvenOp>(x); }

Emitted abs(Emitted x) {
  return x.isFloat() ? unary<mlir::math::AbsFOp>(x) : select(x < x.like(0), -x, x);
}

Emitted copysign(Emitted x, Emitted y) { return binary<mlir::math::CopySignOp>(x, y); }

Emitted maximum(Emitted a, Emitted b) {
  return a.isFloat() ? binary<arith::MaximumFOp>(a, b)
                     : binaryBySign<arith::MaxSIOp, arith::MaxUIOp>(a, b);
}

Emitted minimum(Emitted a, Emitted b) {
  return a.isFloat() ? binary<arith::MinimumFOp>(a, b)
                     : binaryBySign<arith::MinSIOp, arith::MinUIOp>(a, b);
}

Emitted truncDiv(Emitted a, Emitted b) {
  return binaryBySign<arith::DivSIOp, arith::DivUIOp>(a, b);
}
Emitted truncRem(Emitted a, Emitted b) {
  return binaryBySign<arith::RemSIOp, arith::RemUIOp>(a, b);
}

Emitted bits(Emitted x) {
  Elem to = x.isF32() ? Elem::U32 : Elem::U64;
  return conversion<arith::BitcastOp>(x, to);
}

Emitted fromBits(Emitted x) {
  bool isWide = elementType(x).getIntOrFloatBitWidth() == 64;
  return conversion<arith::BitcastOp>(x, isWide ? Elem::F64 : Elem::F32);
}

Emitted asSigned(Emitted x) { return x.with(x.value, false); }
Emitted asUnsigned(Emitted x) { return x.with(x.value, true); }

Emitted broadcastLike(Emitted x, Emitted like) {
  auto vector = llvm::dyn_cast<mlir::VectorType>(like.value.getType());
  if (!vector || llvm::isa<mlir::VectorType>(x.value.getType()))
    return x;
  mlir::Type type = vector.clone(x.value.getType());
  return x.with(mlir::vector::BroadcastOp::create(*x.builder, x.loc, type, x.value), x.isUnsigned);
}

Emitted convert(Emitted x, Elem to) {
  if (x.isFloat())
    return convertFloat(x, to);
  if (!isFloatElem(to))
    return convertInt(x, to);
  return readsUnsigned(x) ? conversion<arith::UIToFPOp>(x, to) : conversion<arith::SIToFPOp>(x, to);
}

} // namespace pdg
