// The values on which elementary functions, casts and random numbers are written. A template over
// such a value runs on plain numbers here (`Scalar`) and emits MLIR through `Emitted`
// (ir/math/emit_value.h), so that interpreter and native code share one text and give the same
// bits. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace pdg {

/// The kinds of numbers that a value can hold. Unsigned words exist for bit patterns and random
/// numbers; the language itself has U8 only.
enum class Elem : uint8_t { F32, F64, I32, I64, U32, U64, U8, Bool };

/// A number of the host language, as given to `like` and on one side of a mixed operator.
template <class C>
concept Number = std::is_arithmetic_v<C>;

/// What a template over values may use. With x, y of one kind, m a mask, c a Number:
///
///   x + y  x - y  x * y  -x          floats round once; integers wrap
///   x / y                            floats only
///   x & y  x | y  x ^ y  ~x          integers and masks (`!m` negates a mask)
///   x << n  x >> n                   n an int or a value below the width; >> follows the sign of
///                                    the kind (arithmetic for I32 and I64)
///   x < y  <=  >  >=  ==  !=         a mask; false with a NaN except `!=`, which is then true
///   select(m, x, y)  fma(x, y, z)  sqrt(x)  floor(x)  ceil(x)  trunc(x)  roundEven(x)  abs(x)
///   copysign(x, y)  maximum(x, y)  minimum(x, y)
///   truncDiv(x, y)  truncRem(x, y)   integers; *requires* y != 0 and not lowest / -1
///   bits(x)  fromBits(u)             float <-> unsigned word of its width
///   asSigned(u)  asUnsigned(i)       the same bits of the other sign
///   convert<Elem>(x)                 *requires* that the value fits the new kind (`cast` does not)
///   broadcastLike(x, y)              x, perhaps one number, as wide as y
///   x.like(c)                        the constant c of x's kind and width
///   x.elem()  x.isF32()  x.isFloat()
///
/// One operand of a binary operator may be a Number.
template <class V>
concept MathValue = requires { typename V::MathValueTag; };

/// The C++ type that holds an `Elem`.
template <Elem elem> struct ElemType;
template <> struct ElemType<Elem::F32> {
  using Type = float;
};
template <> struct ElemType<Elem::F64> {
  using Type = double;
};
template <> struct ElemType<Elem::I32> {
  using Type = int32_t;
};
template <> struct ElemType<Elem::I64> {
  using Type = int64_t;
};
template <> struct ElemType<Elem::U32> {
  using Type = uint32_t;
};
template <> struct ElemType<Elem::U64> {
  using Type = uint64_t;
};
template <> struct ElemType<Elem::U8> {
  using Type = uint8_t;
};
template <> struct ElemType<Elem::Bool> {
  using Type = bool;
};

/// Returns the `Elem` that `T` holds.
template <class T> constexpr Elem elemOf() {
  if constexpr (std::is_same_v<T, float>)
    return Elem::F32;
  else if constexpr (std::is_same_v<T, double>)
    return Elem::F64;
  else if constexpr (std::is_same_v<T, bool>)
    return Elem::Bool;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return Elem::U8;
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? Elem::I32 : Elem::U32;
  else
    return std::is_signed_v<T> ? Elem::I64 : Elem::U64;
}

/// Tells whether `elem` is a floating-point kind.
constexpr bool isFloatElem(Elem elem) { return elem == Elem::F32 || elem == Elem::F64; }

/// One plain number, the value of the reference interpreter.
template <class T> struct Scalar {
  struct MathValueTag {};
  /// The kind is known when the template is instantiated.
  static constexpr bool isStatic = true;
  /// Where arithmetic of T is done: integers as unsigned words, so that they wrap.
  using Word = std::conditional_t<std::is_floating_point_v<T>, T,
                                  std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>>;

  T value;

  static constexpr Elem elem() { return elemOf<T>(); }
  static constexpr bool isF32() { return elem() == Elem::F32; }
  static constexpr bool isFloat() { return std::is_floating_point_v<T>; }
  /// Returns the constant `c` of this kind.
  template <Number C> Scalar like(C c) const { return {static_cast<T>(c)}; }
  Word word() const { return static_cast<Word>(value); }

  friend Scalar operator+(Scalar a, Scalar b) { return {static_cast<T>(a.word() + b.word())}; }
  friend Scalar operator-(Scalar a, Scalar b) { return {static_cast<T>(a.word() - b.word())}; }
  friend Scalar operator*(Scalar a, Scalar b) { return {static_cast<T>(a.word() * b.word())}; }
  friend Scalar operator/(Scalar a, Scalar b)
    requires std::is_floating_point_v<T>
  {
    return {a.value / b.value};
  }
  friend Scalar operator-(Scalar a) {
    if constexpr (isFloat())
      return {-a.value};
    else
      return {static_cast<T>(Word(0) - a.word())};
  }
  friend Scalar operator&(Scalar a, Scalar b) { return {static_cast<T>(a.word() & b.word())}; }
  friend Scalar operator|(Scalar a, Scalar b) { return {static_cast<T>(a.word() | b.word())}; }
  friend Scalar operator^(Scalar a, Scalar b) { return {static_cast<T>(a.word() ^ b.word())}; }
  friend Scalar operator~(Scalar a) { return {static_cast<T>(~a.word())}; }
  friend Scalar operator!(Scalar a)
    requires std::is_same_v<T, bool>
  {
    return {!a.value};
  }
  friend Scalar operator<<(Scalar a, Scalar n) { return {static_cast<T>(a.word() << n.value)}; }
  friend Scalar operator>>(Scalar a, Scalar n) { return {static_cast<T>(a.value >> n.value)}; }
  friend Scalar operator<<(Scalar a, int n) { return {static_cast<T>(a.word() << n)}; }
  friend Scalar operator>>(Scalar a, int n) { return {static_cast<T>(a.value >> n)}; }

  friend Scalar<bool> operator<(Scalar a, Scalar b) { return {a.value < b.value}; }
  friend Scalar<bool> operator<=(Scalar a, Scalar b) { return {a.value <= b.value}; }
  friend Scalar<bool> operator>(Scalar a, Scalar b) { return {a.value > b.value}; }
  friend Scalar<bool> operator>=(Scalar a, Scalar b) { return {a.value >= b.value}; }
  friend Scalar<bool> operator==(Scalar a, Scalar b) { return {a.value == b.value}; }
  friend Scalar<bool> operator!=(Scalar a, Scalar b) { return {a.value != b.value}; }
};

/// Returns `a` where the mask holds, else `b`.
template <class T> Scalar<T> select(Scalar<bool> mask, Scalar<T> a, Scalar<T> b) {
  return mask.value ? a : b;
}

/// Returns a * b + c, rounded once.
template <std::floating_point T> Scalar<T> fma(Scalar<T> a, Scalar<T> b, Scalar<T> c) {
  return {std::fma(a.value, b.value, c.value)};
}

/// Returns the correctly rounded square root; NaN below zero, -0 of -0.
template <std::floating_point T> Scalar<T> sqrt(Scalar<T> x) { return {std::sqrt(x.value)}; }

template <std::floating_point T> Scalar<T> floor(Scalar<T> x) { return {std::floor(x.value)}; }
template <std::floating_point T> Scalar<T> ceil(Scalar<T> x) { return {std::ceil(x.value)}; }
template <std::floating_point T> Scalar<T> trunc(Scalar<T> x) { return {std::trunc(x.value)}; }

/// Rounds to the nearest integer, halves to the even one. (The mode of rounding is never changed.)
template <std::floating_point T> Scalar<T> roundEven(Scalar<T> x) {
  return {std::nearbyint(x.value)};
}

/// Returns the magnitude; of the lowest integer the lowest integer.
template <class T> Scalar<T> abs(Scalar<T> x) {
  if constexpr (std::is_floating_point_v<T>)
    return {std::fabs(x.value)};
  else
    return select(x < Scalar<T>{0}, -x, x);
}

/// Returns the magnitude of `x` with the sign of `y`.
template <std::floating_point T> Scalar<T> copysign(Scalar<T> x, Scalar<T> y) {
  return {std::copysign(x.value, y.value)};
}

/// Returns the larger one; NaN if one is NaN; +0 of +0 and -0.
template <class T> Scalar<T> maximum(Scalar<T> a, Scalar<T> b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a.value != a.value || b.value != b.value)
      return {a.value + b.value};
    if (a.value == b.value)
      return std::signbit(a.value) ? b : a;
  }
  return a.value > b.value ? a : b;
}

/// Returns the smaller one; NaN if one is NaN; -0 of +0 and -0.
template <class T> Scalar<T> minimum(Scalar<T> a, Scalar<T> b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a.value != a.value || b.value != b.value)
      return {a.value + b.value};
    if (a.value == b.value)
      return std::signbit(a.value) ? a : b;
  }
  return a.value < b.value ? a : b;
}

/// Divides integers, rounding towards zero. *Requires*: b is not 0, and not lowest / -1.
template <std::integral T> Scalar<T> truncDiv(Scalar<T> a, Scalar<T> b) {
  return {static_cast<T>(a.value / b.value)};
}

/// Returns the remainder of `truncDiv`, under its conditions.
template <std::integral T> Scalar<T> truncRem(Scalar<T> a, Scalar<T> b) {
  return {static_cast<T>(a.value % b.value)};
}

inline Scalar<uint32_t> bits(Scalar<float> x) { return {std::bit_cast<uint32_t>(x.value)}; }
inline Scalar<uint64_t> bits(Scalar<double> x) { return {std::bit_cast<uint64_t>(x.value)}; }
inline Scalar<float> fromBits(Scalar<uint32_t> x) { return {std::bit_cast<float>(x.value)}; }
inline Scalar<double> fromBits(Scalar<uint64_t> x) { return {std::bit_cast<double>(x.value)}; }

/// The same bits as a signed integer.
template <std::integral T> auto asSigned(Scalar<T> x) {
  return Scalar<std::make_signed_t<T>>{static_cast<std::make_signed_t<T>>(x.value)};
}

/// The same bits as an unsigned integer.
template <std::integral T> auto asUnsigned(Scalar<T> x) {
  return Scalar<std::make_unsigned_t<T>>{static_cast<std::make_unsigned_t<T>>(x.value)};
}

/// Converts to another kind: integers to narrower ones by dropping high bits, to floats with the
/// nearest value, floats towards zero. *Requires*: a float that becomes an integer fits it.
template <Elem to, class T> auto convert(Scalar<T> x) {
  using To = typename ElemType<to>::Type;
  return Scalar<To>{static_cast<To>(x.value)};
}

/// Returns `x`: one number is as wide as another.
template <class T, class U> Scalar<T> broadcastLike(Scalar<T> x, Scalar<U>) { return x; }

template <MathValue V, Number C> V operator+(V a, C c) { return a + a.like(c); }
template <MathValue V, Number C> V operator-(V a, C c) { return a - a.like(c); }
template <MathValue V, Number C> V operator*(V a, C c) { return a * a.like(c); }
template <MathValue V, Number C> V operator/(V a, C c) { return a / a.like(c); }
template <MathValue V, Number C> V operator&(V a, C c) { return a & a.like(c); }
template <MathValue V, Number C> V operator|(V a, C c) { return a | a.like(c); }
template <MathValue V, Number C> V operator^(V a, C c) { return a ^ a.like(c); }
template <MathValue V, Number C> V operator+(C c, V a) { return a.like(c) + a; }
template <MathValue V, Number C> V operator-(C c, V a) { return a.like(c) - a; }
template <MathValue V, Number C> V operator*(C c, V a) { return a.like(c) * a; }
template <MathValue V, Number C> V operator/(C c, V a) { return a.like(c) / a; }
template <MathValue V, Number C> auto operator<(V a, C c) { return a < a.like(c); }
template <MathValue V, Number C> auto operator<=(V a, C c) { return a <= a.like(c); }
template <MathValue V, Number C> auto operator>(V a, C c) { return a > a.like(c); }
template <MathValue V, Number C> auto operator>=(V a, C c) { return a >= a.like(c); }
template <MathValue V, Number C> auto operator==(V a, C c) { return a == a.like(c); }
template <MathValue V, Number C> auto operator!=(V a, C c) { return a != a.like(c); }

/// Returns `a` or the constant `b`.
template <class M, MathValue V, Number C> V select(M mask, V a, C b) {
  return select(mask, a, a.like(b));
}

/// Tells where x is NaN.
template <MathValue V> auto isNan(V x) { return x != x; }

/// Calls `onFloat(x)` or `onInt(x)`. Only the right one is instantiated for a Scalar.
template <MathValue V, class OnFloat, class OnInt> auto byKind(V x, OnFloat onFloat, OnInt onInt) {
  if constexpr (!V::isStatic)
    return x.isFloat() ? onFloat(x) : onInt(x);
  else if constexpr (V::isFloat())
    return onFloat(x);
  else
    return onInt(x);
}

/// Calls `onF32(x)` or `onF64(x)`. *Requires*: x is a float.
template <MathValue V, class OnF32, class OnF64> V byWidth(V x, OnF32 onF32, OnF64 onF64) {
  if constexpr (!V::isStatic)
    return x.isF32() ? onF32(x) : onF64(x);
  else if constexpr (V::isF32())
    return onF32(x);
  else
    return onF64(x);
}

} // namespace pdg
