// From values of expressions to tensors, constants and shapes.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborator.h"
#include "ir/ops/shape.h"
#include "ir/ops/variable.h"

#include "absl/strings/str_cat.h"
#include "builtins.h"
#include <cmath>

using namespace mlir;

namespace pdg {

std::string Elaborator::describe(const Datum &value) {
  if (auto *number = value.get<int64_t>())
    return absl::StrCat("the number ", *number);
  if (auto *number = value.get<double>()) {
    std::string text = absl::StrCat(*number);
    // A fraction of 0 is shown, since it is what makes 3.0 no whole number.
    return absl::StrCat("the number ", text,
                        text.find_first_not_of("-0123456789") == text.npos ? ".0" : "");
  }
  if (auto *flag = value.get<bool>())
    return *flag ? "true" : "false";
  if (value.is<std::string>())
    return "a string";
  if (auto *type = value.get<DType>())
    return absl::StrCat("the type ", std::string(nameOf(*type)));
  if (auto *tensor = value.get<Value>())
    return absl::StrCat("a tensor ", emit.typeText(*tensor));
  if (auto *variable = value.get<Variable *>())
    return absl::StrCat("a variable ", emit.typeText((*variable)->type));
  if (auto *sequence = value.get<SequencePtr>())
    return absl::StrCat((*sequence)->isTuple ? "a tuple" : "a list", " of ",
                        (*sequence)->elements.size());
  if (auto *block = value.get<BlockPtr>())
    return absl::StrCat("the block '", (*block)->block->decl.name, "'");
  if (auto *instance = value.get<InstancePtr>())
    return absl::StrCat("the instance '", (*instance)->path, "'");
  if (auto *builtin = value.get<const Builtin *>())
    return absl::StrCat("the function '", (*builtin)->name, "'");
  if (value.is<const Source *>())
    return "a data source";
  return "nothing";
}

Diagnostic &Elaborator::typeError(Span span, const std::string &expected, const Datum &found) {
  Diagnostic &diagnostic = emit.error(
      DiagCode::PD0100, span, absl::StrCat("expected ", expected, ", found ", describe(found)));
  auto *tensor = found.get<Value>();
  auto *variable = found.get<Variable *>();
  auto dtype = tensor     ? toDType(tensor->getType())
               : variable ? toDType((*variable)->type)
                          : std::nullopt;
  if (dtype && isStorageType(*dtype))
    diagnostic.withHint(StorageHint);
  return diagnostic;
}

Value Elaborator::read(Variable *variable, Span span) {
  return ReadOp::create(emit.b, emit.loc(span), variable->type, variable->name);
}

Datum Elaborator::readAll(const Datum &value, Span span) {
  if (auto *variable = value.get<Variable *>())
    return read(*variable, span);
  auto *sequence = value.get<SequencePtr>();
  if (!sequence)
    return value;
  auto copy = std::make_shared<Sequence>(**sequence);
  for (Datum &element : copy->elements)
    element = readAll(element, span);
  return SequencePtr(copy);
}

//===- Tensors -------------------------------------------------------------===//

Value Elaborator::tensor(const Operand &operand) {
  const Datum &value = operand.value;
  if (value.isPoison())
    return {};
  if (auto *tensor = value.get<Value>())
    return *tensor;
  if (auto *variable = value.get<Variable *>())
    return read(*variable, operand.span);
  if (value.is<int64_t>())
    return numberConstant(operand, DType::I64);
  if (value.is<double>())
    return numberConstant(operand, DType::F32);
  if (value.is<bool>())
    return numberConstant(operand, DType::Bool);
  Diagnostic &diagnostic = typeError(operand.span, "a tensor", value);
  if (value.is<InstancePtr>() || value.is<BlockPtr>())
    diagnostic.withHint("apply it to its arguments: name(x)");
  if (value.is<SequencePtr>())
    diagnostic.withHint("a list of numbers becomes a tensor by tensor([...])");
  return {};
}

/// The range of an integer type.
static std::pair<int64_t, int64_t> rangeOf(DType dtype) {
  switch (dtype) {
  case DType::U8:
    return {0, UINT8_MAX};
  case DType::I8:
    return {INT8_MIN, INT8_MAX};
  case DType::I32:
    return {INT32_MIN, INT32_MAX};
  default:
    return {INT64_MIN, INT64_MAX};
  }
}

Value Elaborator::numberConstant(const Operand &operand, DType dtype) {
  std::string name(nameOf(dtype));
  if (auto *flag = operand.value.get<bool>()) {
    if (dtype == DType::Bool)
      return emit.constant(int64_t{*flag}, dtype, operand.span);
    typeError(operand.span, "a number", operand.value)
        .withHint(absl::StrCat("a bool becomes a number by ", name, "(...)"));
    return {};
  }
  if (auto *number = operand.value.get<int64_t>()) {
    auto [low, high] = rangeOf(dtype);
    if (isFloat(dtype))
      return emit.constant(static_cast<double>(*number), dtype, operand.span);
    if (dtype != DType::Bool && *number >= low && *number <= high)
      return emit.constant(*number, dtype, operand.span);
    if (dtype != DType::Bool) {
      emit.error(DiagCode::PD0121, operand.span,
                 absl::StrCat("the number ", *number, " does not fit into ", name, ", which holds ",
                              low, " to ", high));
      return {};
    }
  }
  if (auto *number = operand.value.get<double>(); number && isFloat(dtype))
    return emit.constant(*number, dtype, operand.span);
  Diagnostic &diagnostic =
      typeError(operand.span, absl::StrCat("a value of type ", name), operand.value);
  if (operand.value.is<double>())
    diagnostic.withHint("a float becomes an integer only by a cast: i64(x)");
  return {};
}

/// True if every value of `from` is one of `to`, both integers.
static bool widens(DType from, DType to) {
  return isInteger(from) && isInteger(to) && rangeOf(from).first >= rangeOf(to).first &&
         rangeOf(from).second <= rangeOf(to).second;
}

Value Elaborator::tensorOf(const Operand &operand, DType dtype) {
  if (operand.value.isPoison())
    return {};
  if (operand.value.isNumber() || operand.value.is<bool>())
    return numberConstant(operand, dtype);
  Value value = tensor(operand);
  if (!value)
    return {};
  DType found = Emitter::dtypeOf(value);
  if (found == dtype || widens(found, dtype))
    return emit.cast(value, dtype, operand.span);
  std::string name(nameOf(dtype));
  typeError(operand.span, absl::StrCat("element type ", name), operand.value)
      .withHint(absl::StrCat("convert it with ", name, "(...)"));
  return {};
}

Value Elaborator::tensorOf(const Operand &operand, RankedTensorType type, const std::string &what) {
  Value value = tensorOf(operand, *toDType(type));
  if (!value || value.getType() == type)
    return value;
  ShapeArg shape{llvm::SmallVector<int64_t>(type.getShape()), {}};
  if (!operand.value.is<Value>() && !operand.value.is<Variable *>())
    return emit.broadcast(value, shape, operand.span);
  Dims dims = emit.shapes.dimsOf(value);
  bool fits = static_cast<int64_t>(dims.size()) == type.getRank();
  for (size_t i = 0; fits && i < dims.size(); ++i)
    fits = !knownSize(dims[i]) || *knownSize(dims[i]) == type.getDimSize(i);
  if (fits) // sizes that only the run knows are checked by the broadcast
    return emit.broadcast(value, shape, operand.span);
  emit.error(DiagCode::PD0101, operand.span,
             absl::StrCat("expected ", emit.typeText(type), " for ", what, ", found ",
                          emit.typeText(value)));
  return {};
}

//===- Constants -----------------------------------------------------------===//

std::optional<int64_t> Elaborator::knownInt(const Datum &value) {
  if (auto *number = value.get<int64_t>())
    return *number;
  auto *tensor = value.get<Value>();
  if (!tensor || Emitter::dtypeOf(*tensor) == DType::Bool)
    return std::nullopt;
  if (auto known = Emitter::constantInt(*tensor))
    return known;
  return isSizeTensor(tensor->getType()) ? knownSize(emit.shapes.valueOf(*tensor)) : std::nullopt;
}

std::optional<int64_t> Elaborator::constantInt(const Operand &operand, const std::string &what) {
  if (operand.value.isPoison())
    return std::nullopt;
  if (auto known = knownInt(operand.value))
    return known;
  auto *tensor = operand.value.get<Value>();
  if (tensor && isSizeTensor(tensor->getType()))
    emit.error(DiagCode::PD0103, operand.span,
               absl::StrCat(what, " must be known when compiling, but only the run knows it"));
  else
    typeError(operand.span, absl::StrCat("a whole number for ", what), operand.value);
  return std::nullopt;
}

std::optional<double> Elaborator::constantFloat(const Operand &operand, const std::string &what) {
  if (auto *number = operand.value.get<double>())
    return *number;
  if (auto *number = operand.value.get<int64_t>())
    return static_cast<double>(*number);
  if (!operand.value.isPoison())
    typeError(operand.span, absl::StrCat("a number that is known when compiling for ", what),
              operand.value);
  return std::nullopt;
}

std::optional<bool> Elaborator::constantBool(const Datum &value) {
  if (auto *flag = value.get<bool>())
    return *flag;
  auto *tensor = value.get<Value>();
  if (!tensor || Emitter::dtypeOf(*tensor) != DType::Bool)
    return std::nullopt;
  auto known = Emitter::constantInt(*tensor);
  return known ? std::optional(*known != 0) : std::nullopt;
}

Value Elaborator::size(const Operand &operand, const std::string &what) {
  if (operand.value.isPoison())
    return {};
  if (auto *number = operand.value.get<int64_t>())
    return emit.constant(*number, DType::I64, operand.span);
  auto *tensor = operand.value.get<Value>();
  if (tensor && Emitter::rankOf(*tensor) == 0 && isIntTensor(tensor->getType()))
    return emit.cast(*tensor, DType::I64, operand.span);
  typeError(operand.span, absl::StrCat("a whole number for ", what), operand.value);
  return {};
}

std::optional<ShapeArg> Elaborator::shape(const Operand &operand) {
  if (operand.value.isPoison())
    return std::nullopt;
  std::vector<Datum> sizes{operand.value};
  if (auto *sequence = operand.value.get<SequencePtr>())
    sizes = (*sequence)->elements;
  ShapeArg result;
  for (const Datum &each : sizes) {
    if (each.isPoison())
      return std::nullopt;
    if (auto known = knownInt(each)) {
      if (*known < 0) {
        emit.error(DiagCode::PD0101, operand.span,
                   absl::StrCat("expected sizes of at least 0 in a shape, found ", *known));
        return std::nullopt;
      }
      result.shape.push_back(*known);
      continue;
    }
    Value value = size({each, operand.span}, "a size");
    if (!value)
      return std::nullopt;
    result.shape.push_back(ShapedType::kDynamic);
    result.sizes.push_back(value);
  }
  return result;
}

} // namespace pdg
