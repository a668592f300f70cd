// The element types of tensors: their sizes, their names and their codes in NumPy files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pdg {

/// All element types, each with its name in the language, its size in bytes, and its type code in
/// .npy files. NumPy has no bf16: as its ml_dtypes extension does, files hold it as two raw bytes.
#define PDG_DTYPES(X)                                                                              \
  X(F32, "f32", 4, "<f4")                                                                          \
  X(F64, "f64", 8, "<f8")                                                                          \
  X(I32, "i32", 4, "<i4")                                                                          \
  X(I64, "i64", 8, "<i8")                                                                          \
  X(U8, "u8", 1, "|u1")                                                                            \
  X(Bool, "bool", 1, "|b1")                                                                        \
  X(BF16, "bf16", 2, "<V2")                                                                        \
  X(F16, "f16", 2, "<f2")                                                                          \
  X(I8, "i8", 1, "|i1")

/// An element type. A Bool is one byte, 0 or 1.
enum class DType : uint8_t {
#define PDG_DTYPE_ENUMERATOR(enumerator, name, size, descr) enumerator,
  PDG_DTYPES(PDG_DTYPE_ENUMERATOR)
#undef PDG_DTYPE_ENUMERATOR
};

/// Returns the size of one element in bytes.
size_t sizeOf(DType dtype);

/// Returns the name in the language, such as "f32".
std::string_view nameOf(DType dtype);

/// Finds the type whose nameOf is `name`.
std::optional<DType> parseDType(std::string_view name);

/// Returns the type code of little-endian .npy files, such as "<f4".
std::string_view numpyDescr(DType dtype);

/// Finds the type of a .npy type code. Knows only little-endian codes ("=" and, for single bytes,
/// any order mark are accepted).
std::optional<DType> parseNumpyDescr(std::string_view descr);

/// Says whether `dtype` is one of f64, f32, f16 and bf16.
bool isFloat(DType dtype);

/// Says whether `dtype` is an integer type (bool is none).
bool isInteger(DType dtype);

/// The DType of a C++ type. bf16 and f16 have none: they are handled as raw bytes.
template <typename T> struct DTypeOf;
template <> struct DTypeOf<float> {
  static constexpr DType value = DType::F32;
};
template <> struct DTypeOf<double> {
  static constexpr DType value = DType::F64;
};
template <> struct DTypeOf<int32_t> {
  static constexpr DType value = DType::I32;
};
template <> struct DTypeOf<int64_t> {
  static constexpr DType value = DType::I64;
};
template <> struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::U8;
};
template <> struct DTypeOf<bool> {
  static constexpr DType value = DType::Bool;
};
template <> struct DTypeOf<int8_t> {
  static constexpr DType value = DType::I8;
};

/// Shorthand for DTypeOf<T>::value.
template <typename T> inline constexpr DType dtypeOf = DTypeOf<T>::value;

} // namespace pdg
