// The value of ir/math/value.h that emits MLIR: operators append arith, math and vector ops, on
// scalars or on 1-D vectors of any length.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/math/value.h"
#include "mlir/IR/Builders.h"

namespace pdg {

/// An SSA value with the place where ops are appended. Its type is f32, f64, i1, i8, i32 or i64, or
/// a vector of these; 8 bits are always unsigned (u8), 32 and 64 bits say so by `isUnsigned`, since
/// integers of the arith dialect have no sign.
///
/// Needs the dialects arith, math and vector. No op carries fast-math flags.
struct Emitted {
  struct MathValueTag {};
  /// The kind is known only when emitting.
  static constexpr bool isStatic = false;

  Emitted(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, bool isUnsigned = false)
      : builder(&builder), loc(loc), value(value), isUnsigned(isUnsigned) {}

  mlir::OpBuilder *builder;
  mlir::Location loc;
  mlir::Value value;
  bool isUnsigned;

  Elem elem() const;
  bool isF32() const { return elem() == Elem::F32; }
  bool isFloat() const { return isFloatElem(elem()); }
  /// Returns the constant `c` of this type, splatted to its length.
  template <Number C> Emitted like(C c) const {
    if constexpr (std::is_floating_point_v<C>)
      return likeFloat(c);
    else
      return likeInt(static_cast<int64_t>(c));
  }
  /// Returns another SSA value at the same place.
  Emitted with(mlir::Value other, bool otherIsUnsigned) const {
    return Emitted(*builder, loc, other, otherIsUnsigned);
  }

private:
  Emitted likeFloat(double c) const;
  Emitted likeInt(int64_t c) const;
};

Emitted operator+(Emitted a, Emitted b);
Emitted operator-(Emitted a, Emitted b);
Emitted operator*(Emitted a, Emitted b);
Emitted operator/(Emitted a, Emitted b);
Emitted operator-(Emitted a);
Emitted operator&(Emitted a, Emitted b);
Emitted operator|(Emitted a, Emitted b);
Emitted operator^(Emitted a, Emitted b);
Emitted operator~(Emitted a);
Emitted operator!(Emitted a);
Emitted operator<<(Emitted a, Emitted n);
Emitted operator>>(Emitted a, Emitted n);
Emitted operator<<(Emitted a, int n);
Emitted operator>>(Emitted a, int n);
Emitted operator<(Emitted a, Emitted b);
Emitted operator<=(Emitted a, Emitted b);
Emitted operator>(Emitted a, Emitted b);
Emitted operator>=(Emitted a, Emitted b);
Emitted operator==(Emitted a, Emitted b);
Emitted operator!=(Emitted a, Emitted b);
Emitted select(Emitted mask, Emitted a, Emitted b);
Emitted fma(Emitted a, Emitted b, Emitted c);
Emitted sqrt(Emitted x);
Emitted floor(Emitted x);
Emitted ceil(Emitted x);
Emitted trunc(Emitted x);
Emitted roundEven(Emitted x);
Emitted abs(Emitted x);
Emitted copysign(Emitted x, Emitted y);
Emitted maximum(Emitted a, Emitted b);
Emitted minimum(Emitted a, Emitted b);
Emitted truncDiv(Emitted a, Emitted b);
Emitted truncRem(Emitted a, Emitted b);
Emitted bits(Emitted x);
Emitted fromBits(Emitted x);
Emitted asSigned(Emitted x);
Emitted asUnsigned(Emitted x);
Emitted broadcastLike(Emitted x, Emitted like);

/// Converts as `convert<to>` does, to a kind that is known when emitting.
Emitted convert(Emitted x, Elem to);

template <Elem to> Emitted convert(Emitted x) { return convert(x, to); }

} // namespace pdg
