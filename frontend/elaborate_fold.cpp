// Arithmetic on numbers that are known when compiling.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborate_fold.h"
#include "ir/math/functions.h"

#include "absl/strings/str_cat.h"
#include <cmath>

namespace pdg {

static Folded failed(std::string why) { return {Poison(), std::move(why)}; }

static double asDouble(const Datum &x) {
  auto *whole = x.get<int64_t>();
  return whole ? static_cast<double>(*whole) : *x.get<double>();
}

Folded foldUnary(UnaryOp op, const Datum &x) {
  if (op == UnaryOp::Not) {
    if (auto *flag = x.get<bool>())
      return {!*flag, ""};
    return failed("expected a bool after 'not'");
  }
  if (!x.isNumber())
    return failed(absl::StrCat("expected a number after '", spelling(op), "'"));
  if (op == UnaryOp::Pos)
    return {x, ""};
  if (auto *number = x.get<double>())
    return {-*number, ""};
  int64_t result = 0;
  if (__builtin_sub_overflow(int64_t{0}, *x.get<int64_t>(), &result))
    return failed("the result does not fit into 64 bits");
  return {result, ""};
}

/// Comparison of two values that C++ can compare.
template <class T> static std::optional<bool> compare(BinaryOp op, const T &x, const T &y) {
  switch (op) {
  case BinaryOp::Eq:
    return x == y;
  case BinaryOp::Ne:
    return x != y;
  case BinaryOp::Lt:
    return x < y;
  case BinaryOp::Le:
    return x <= y;
  case BinaryOp::Gt:
    return x > y;
  case BinaryOp::Ge:
    return x >= y;
  default:
    return std::nullopt;
  }
}

static int64_t floorDivide(int64_t x, int64_t y) {
  return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

static Folded powerOfInts(int64_t x, int64_t n) {
  if (n < 0)
    return {powConstant(Scalar<double>{static_cast<double>(x)}, n).value, ""};
  int64_t result = 1;
  for (bool overflow = false; n > 0; n >>= 1) {
    if (n & 1)
      overflow |= __builtin_mul_overflow(result, x, &result);
    if (n > 1)
      overflow |= __builtin_mul_overflow(x, x, &x);
    if (overflow)
      return failed("the result does not fit into 64 bits");
  }
  return {result, ""};
}

static Folded foldInts(BinaryOp op, int64_t x, int64_t y) {
  if (auto flag = compare(op, x, y))
    return {*flag, ""};
  int64_t result = 0;
  bool overflow = false;
  switch (op) {
  case BinaryOp::Add:
    overflow = __builtin_add_overflow(x, y, &result);
    break;
  case BinaryOp::Sub:
    overflow = __builtin_sub_overflow(x, y, &result);
    break;
  case BinaryOp::Mul:
    overflow = __builtin_mul_overflow(x, y, &result);
    break;
  case BinaryOp::Div:
    if (y == 0)
      return failed("division by zero");
    return {static_cast<double>(x) / static_cast<double>(y), ""};
  case BinaryOp::FloorDiv:
  case BinaryOp::Mod:
    if (y == 0)
      return failed("division by zero");
    overflow = x == INT64_MIN && y == -1;
    if (!overflow)
      result = op == BinaryOp::Mod ? x - y * floorDivide(x, y) : floorDivide(x, y);
    break;
  default:
    return powerOfInts(x, y);
  }
  return overflow ? failed("the result does not fit into 64 bits") : Folded{result, ""};
}

static Folded foldDoubles(BinaryOp op, double x, double y) {
  if (auto flag = compare(op, x, y))
    return {*flag, ""};
  using Float = Scalar<double>;
  switch (op) {
  case BinaryOp::Add:
    return {x + y, ""};
  case BinaryOp::Sub:
    return {x - y, ""};
  case BinaryOp::Mul:
    return {x * y, ""};
  case BinaryOp::Div:
    return {x / y, ""};
  case BinaryOp::FloorDiv:
    return {floorDiv(Float{x}, Float{y}).value, ""};
  case BinaryOp::Mod:
    return {floorMod(Float{x}, Float{y}).value, ""};
  default:
    break;
  }
  if (y == std::floor(y) && std::abs(y) <= 1024)
    return {powConstant(Float{x}, static_cast<int64_t>(y)).value, ""};
  return {pow(Float{x}, Float{y}).value, ""};
}

Folded foldBinary(BinaryOp op, const Datum &x, const Datum &y) {
  if (x.is<int64_t>() && y.is<int64_t>())
    return foldInts(op, *x.get<int64_t>(), *y.get<int64_t>());
  if (x.isNumber() && y.isNumber())
    return foldDoubles(op, asDouble(x), asDouble(y));
  bool isEquality = op == BinaryOp::Eq || op == BinaryOp::Ne;
  if (auto *left = x.get<std::string>(), *right = y.get<std::string>(); left && right) {
    constexpr size_t MaxLength = 1 << 20;
    if (op == BinaryOp::Add && left->size() + right->size() > MaxLength)
      return failed("the text is too long");
    if (op == BinaryOp::Add)
      return {*left + *right, ""};
    if (auto flag = compare(op, *left, *right))
      return {*flag, ""};
  } else if (auto *l = x.get<bool>(), *r = y.get<bool>(); l && r && isEquality) {
    return {*compare(op, *l, *r), ""};
  } else if (auto *t = x.get<DType>(), *u = y.get<DType>(); t && u && isEquality) {
    return {*compare(op, *t, *u), ""};
  }
  return failed(absl::StrCat("'", spelling(op), "' does not take these operands"));
}

} // namespace pdg
