// Written types: element types and type variables, and checks of values against written types.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborator.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

std::optional<DType> Elaborator::elementType(const TypeSyntax &type, std::optional<DType> found) {
  if (!type.decl)
    return parseDType(type.name);
  if (type.decl->kind == DeclKind::Arg) {
    Datum value = lookup(*type.decl, type.nameSpan);
    auto *dtype = value.get<DType>();
    return dtype ? std::optional(*dtype) : std::nullopt;
  }
  if (auto bound = frame_->types.find(type.decl); bound != frame_->types.end())
    return bound->second;
  if (found)
    frame_->types[type.decl] = *found;
  return found;
}

bool Elaborator::bindType(const TypeSyntax &type, Value value, Span span) {
  elementType(type, Emitter::dtypeOf(value));
  if (type.dims.size() == static_cast<size_t>(Emitter::rankOf(value)))
    bindSizes(type, value, span);
  return true; // checkType reports what does not fit
}

Diagnostic &Elaborator::reportMisfit(const TypeCheck &check, const std::string &expected) {
  return emit
      .error(DiagCode::PD0101, check.span,
             absl::StrCat("expected ", expected, " for ", check.what, ", found ",
                          emit.typeText(check.value)))
      .withSecondary(check.type.span, "expected because of this type");
}

Value Elaborator::checkType(const TypeSyntax &type, Value value, Span span,
                            const std::string &what) {
  TypeCheck check{type, value, span, what};
  DType found = Emitter::dtypeOf(value);
  auto dtype = elementType(type, found);
  if (!dtype)
    return {};
  if (*dtype != found) {
    std::string name(nameOf(*dtype));
    reportMisfit(check, absl::StrCat("element type ", name))
        .withHint(what.starts_with("the input ")
                      ? absl::StrCat("declare it with the type of the file, ",
                                     std::string(nameOf(found)), ", and convert it then: ", name,
                                     "(x)")
                      : absl::StrCat("convert it with ", name, "(...)"));
    return {};
  }
  size_t rank = Emitter::rankOf(value);
  if (type.dims.size() != rank) {
    Diagnostic &error = reportMisfit(
        check, type.dims.empty()
                   ? "a scalar"
                   : absl::StrCat(type.dims.size(), type.dims.size() == 1 ? " axis" : " axes"));
    if (type.dims.empty())
      error.withHint(absl::StrCat(
          "a type without sizes is a scalar; a tensor with axes is written ", type.name, "[N, 3]"));
    return {};
  }
  bool isGood = solveSizes(check);
  for (size_t i = 0; isGood && i < rank; ++i)
    isGood = checkSize(check, i);
  return isGood ? check.value : Value();
}

RankedTensorType Elaborator::staticType(const TypeSyntax &type, const std::string &what) {
  auto dtype = elementType(type, std::nullopt);
  if (!dtype) {
    emit.error(DiagCode::PD0103, type.nameSpan,
               absl::StrCat("the element type '", type.name, "' is not known here"))
        .withHint("a type variable is bound by the type of an argument");
    return {};
  }
  SmallVector<int64_t> shape;
  for (const ExprPtr &dim : type.dims) {
    Operand size = evalOperand(*dim);
    auto known = constantInt(size, absl::StrCat("a size of ", what));
    if (!known)
      return {};
    if (*known < 0) {
      emit.error(DiagCode::PD0101, dim->span,
                 absl::StrCat("expected a size of at least 0, found ", *known));
      return {};
    }
    shape.push_back(*known);
  }
  if (isTooManyElements(shape)) {
    emit.error(DiagCode::PD0101, type.span, absl::StrCat(what, " has too many elements"));
    return {};
  }
  return RankedTensorType::get(shape, emit.elementOf(*dtype));
}

} // namespace pdg
