// Operators on tensors: which element type they happen in, and the ops they become.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ast_walk.h"
#include "frontend/elaborate_fold.h"
#include "frontend/elaborator.h"
#include "ir/ops/compare.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/elementwise_unary.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

//===- Element types -------------------------------------------------------===//

/// The integer type that holds all values of both.
static DType widerInteger(DType x, DType y) {
  if (x == y)
    return x;
  auto bits = [](DType type) { return 8 * sizeOf(type); };
  bool isMixed = (x == DType::U8 && y == DType::I8) || (x == DType::I8 && y == DType::U8);
  return isMixed ? DType::I32 : bits(x) > bits(y) ? x : y;
}

std::optional<DType> Elaborator::commonType(ArrayRef<Operand> operands, bool isDivision,
                                            Span span) {
  std::optional<DType> result;
  const Operand *typed = nullptr; // the operand that gave the result its type
  for (const Operand &operand : operands) {
    auto *tensor = operand.value.get<Value>();
    if (!tensor)
      continue;
    DType type = Emitter::dtypeOf(*tensor);
    if (isStorageType(type)) {
      typeError(operand.span, "numbers to compute with", operand.value);
      return std::nullopt;
    }
    if (!result || type == *result) {
      result = type;
    } else if (isInteger(*result) && isInteger(type)) {
      result = widerInteger(*result, type);
    } else if (isDivision && isFloat(*result) && isInteger(type)) {
      continue;
    } else if (isDivision && isInteger(*result) && isFloat(type)) {
      result = type;
    } else {
      emit.error(DiagCode::PD0100, span, "the operands have different element types")
          .withSecondary(typed->span,
                         absl::StrCat("this is ", emit.typeText(*typed->value.get<Value>())))
          .withSecondary(operand.span, absl::StrCat("this is ", emit.typeText(*tensor)))
          .withHint(absl::StrCat("convert one of them, for example with ",
                                 std::string(nameOf(isFloat(type) ? type : *result)), "(...)"));
      return std::nullopt;
    }
    typed = &operand;
  }
  bool hasFraction = llvm::any_of(operands, [](const Operand &o) { return o.value.is<double>(); });
  if (!result) {
    bool isBool = llvm::all_of(operands, [](const Operand &o) { return o.value.is<bool>(); });
    return isBool ? DType::Bool : hasFraction || isDivision ? DType::F32 : DType::I64;
  }
  if (isDivision && isInteger(*result))
    return DType::F32;
  if (hasFraction && isInteger(*result)) {
    emit.error(DiagCode::PD0100, span, "an integer tensor meets a number with a fraction")
        .withSecondary(typed->span,
                       absl::StrCat("this is ", emit.typeText(*typed->value.get<Value>())))
        .withHint("convert the tensor first: f32(...)");
    return std::nullopt;
  }
  return result;
}

//===- Unary ---------------------------------------------------------------===//

Datum Elaborator::unary(UnaryOp op, const Operand &x, Span span) {
  if (x.value.isPoison())
    return Poison();
  if (x.value.isConstant()) {
    Folded folded = foldUnary(op, x.value);
    if (!folded.error.empty())
      emit.error(DiagCode::PD0104, span, folded.error);
    return folded.value;
  }
  Value value = tensor(x);
  if (!value)
    return Poison();
  bool isBool = Emitter::dtypeOf(value) == DType::Bool;
  if (isBool != (op == UnaryOp::Not)) {
    typeError(x.span, absl::StrCat(isBool ? "numbers" : "bools", " after '", spelling(op), "'"),
              value);
    return Poison();
  }
  if (op == UnaryOp::Pos)
    return value;
  Value result = op == UnaryOp::Not ? emit.make<NotOp>(span, value) : emit.make<NegOp>(span, value);
  return result ? Datum(result) : Datum(Poison());
}

//===- Binary --------------------------------------------------------------===//

/// Builds the op that belongs to the operator.
static Value makeBinary(Emitter &emit, BinaryOp op, Value x, Value y, Span span) {
  switch (op) {
  case BinaryOp::Add:
    return emit.make<AddOp>(span, x, y);
  case BinaryOp::Sub:
    return emit.make<SubOp>(span, x, y);
  case BinaryOp::Mul:
    return emit.make<MulOp>(span, x, y);
  case BinaryOp::Div:
    return emit.make<DivOp>(span, x, y);
  case BinaryOp::FloorDiv:
    return emit.make<FloorDivOp>(span, x, y);
  case BinaryOp::Mod:
    return emit.make<ModOp>(span, x, y);
  case BinaryOp::Pow:
    return emit.make<PowOp>(span, x, y);
  case BinaryOp::Eq:
    return emit.make<EqOp>(span, x, y);
  case BinaryOp::Ne:
    return emit.make<NeOp>(span, x, y);
  case BinaryOp::Lt:
    return emit.make<LtOp>(span, x, y);
  case BinaryOp::Le:
    return emit.make<LeOp>(span, x, y);
  case BinaryOp::Gt:
    return emit.make<GtOp>(span, x, y);
  case BinaryOp::Ge:
    return emit.make<GeOp>(span, x, y);
  case BinaryOp::And:
    return emit.make<AndOp>(span, x, y);
  case BinaryOp::Or:
    return emit.make<OrOp>(span, x, y);
  }
  llvm_unreachable("all operators are handled");
}

/// Warns of floats that are compared for equality: not with a number, which marks a value, nor with
/// itself, which finds NaN.
void Elaborator::warnEquality(BinaryOp op, const Operand &x, const Operand &y, Span span) {
  auto *left = x.value.get<Value>(), *right = y.value.get<Value>();
  if ((op != BinaryOp::Eq && op != BinaryOp::Ne) || !left || !right || *left == *right ||
      !isFloatTensor(left->getType()) || emit.isInLibrary(span))
    return;
  std::string difference = op == BinaryOp::Eq ? "abs(x - y) < 1e-6" : "abs(x - y) >= 1e-6";
  emit.error(DiagCode::PD0193, span, "floats are compared for equality, which rounding may break")
      .withHint(absl::StrCat("ask whether they are close: ", difference));
}

Datum Elaborator::binary(BinaryOp op, const Operand &x, const Operand &y, Span span) {
  if (x.value.isPoison() || y.value.isPoison())
    return Poison();
  if (x.value.isConstant() && y.value.isConstant()) {
    Folded folded = foldBinary(op, x.value, y.value);
    bool hasText = x.value.is<std::string>() || y.value.is<std::string>();
    if (!folded.error.empty())
      emit.error(DiagCode::PD0104, span, folded.error)
          .withNote(
              absl::StrCat("the operands are ", describe(x.value), " and ", describe(y.value)))
          .withHint(hasText && op == BinaryOp::Add
                        ? "values become part of a text where it is printed: print(\"x = {x}\")"
                        : "");
    return folded.value;
  }
  // Variables are read once; numbers stay numbers until the type that they meet is known.
  Operand operands[] = {{readAll(x.value, x.span), x.span}, {readAll(y.value, y.span), y.span}};
  for (Operand &operand : operands)
    if (!operand.value.isNumber() && !operand.value.is<bool>() && !tensor(operand))
      return Poison();
  if (op == BinaryOp::Pow)
    return powerOf(operands[0], operands[1], span);
  auto type = commonType(operands, op == BinaryOp::Div, span);
  if (!type)
    return Poison();
  bool wantsBool = op == BinaryOp::And || op == BinaryOp::Or;
  bool takesBool = wantsBool || op == BinaryOp::Eq || op == BinaryOp::Ne;
  for (Operand &operand : operands) {
    auto *value = operand.value.get<Value>();
    bool isBool = value ? Emitter::dtypeOf(*value) == DType::Bool : operand.value.is<bool>();
    if ((isBool && !takesBool) || (!isBool && wantsBool)) {
      typeError(operand.span,
                absl::StrCat(wantsBool ? "bools" : "numbers", " beside '", spelling(op), "'"),
                operand.value)
          .withHint(isBool ? "a bool becomes a number by a cast: i64(x)" : "");
      return Poison();
    }
  }
  TensorOperand tensors[2];
  for (int i : {0, 1}) {
    auto *value = operands[i].value.get<Value>();
    // Integers become floats here only for a true division.
    Value converted = value ? emit.cast(*value, *type, span) : numberConstant(operands[i], *type);
    if (!converted)
      return Poison();
    tensors[i] = {converted, operands[i].span};
  }
  // A variable that is compared with itself is read twice.
  auto *left = x.value.get<Variable *>(), *right = y.value.get<Variable *>();
  if (!left || !right || *left != *right)
    warnEquality(op, operands[0], operands[1], span);
  if (!emit.broadcastAll(tensors, span))
    return Poison();
  Value result = makeBinary(emit, op, tensors[0].value, tensors[1].value, span);
  return result ? Datum(result) : Datum(Poison());
}

Datum Elaborator::logical(BinaryOp op, const BinaryExpr &expr) {
  Operand x = evalOperand(*expr.lhs);
  // `false and y` is decided without y, which need not make sense then.
  if (auto *flag = x.value.get<bool>()) {
    if (*flag == (op == BinaryOp::Or))
      return *flag;
    Operand y = evalOperand(*expr.rhs);
    if (y.value.is<bool>() || y.value.isPoison())
      return y.value;
    return binary(op, x, y, expr.span);
  }
  if (mayAct(*expr.rhs)) // variables are read from left to right
    x.value = readAll(x.value, x.span);
  return binary(op, x, evalOperand(*expr.rhs), expr.span);
}

//===- Powers --------------------------------------------------------------===//

Value Elaborator::power(Value x, int64_t n, Span span) {
  uint64_t rest = n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
  Value one = emit.constant(int64_t{1}, Emitter::dtypeOf(x), span);
  if (rest == 0)
    return emit.broadcast(one, emit.shapeOf(x, span), span);
  Value result, square = x;
  while (true) {
    if (rest & 1)
      result = result ? emit.make<MulOp>(span, result, square) : square;
    rest >>= 1;
    if (rest == 0)
      break;
    square = emit.make<MulOp>(span, square, square);
  }
  return n < 0 ? emit.binary<DivOp>(one, result, span) : result;
}

Datum Elaborator::powerOf(const Operand &x, const Operand &y, Span span) {
  auto *base = x.value.get<Value>();
  auto *exponent = y.value.get<int64_t>();
  Value result;
  if (base && exponent && Emitter::dtypeOf(*base) != DType::Bool) {
    if (*exponent < 0 && isInteger(Emitter::dtypeOf(*base))) {
      emit.error(DiagCode::PD0100, span, "an integer has no negative power")
          .withHint("convert it first: f32(x) ** n");
      return Poison();
    }
    result = power(*base, *exponent, span);
  } else {
    Operand operands[] = {x, y};
    auto type = commonType(operands, /*isDivision=*/false, span);
    if (!type)
      return Poison();
    if (!isFloat(*type)) {
      emit.error(DiagCode::PD0100, span,
                 absl::StrCat("expected floats for a power that only the run knows, found ",
                              std::string(nameOf(*type))))
          .withHint("convert them first: f32(x) ** f32(y)");
      return Poison();
    }
    TensorOperand tensors[] = {{tensorOf(x, *type), x.span}, {tensorOf(y, *type), y.span}};
    if (!tensors[0].value || !tensors[1].value || !emit.broadcastAll(tensors, span))
      return Poison();
    result = emit.make<PowOp>(span, tensors[0].value, tensors[1].value);
  }
  return result ? Datum(result) : Datum(Poison());
}

} // namespace pdg
