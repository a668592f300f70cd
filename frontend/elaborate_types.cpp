// Written types: binding of dimension and type variables, and checks of values against them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborator.h"
#include "ir/ops/compare.h"
#include "ir/ops/effects.h"
#include "ir/ops/shape.h"

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

/// The dimension variable that stands alone at `expr`, or null.
static const Decl *dimVariable(const Expr &expr) {
  auto *name = dynAs<NameExpr>(&expr);
  return name && name->decl && name->decl->kind == DeclKind::DimVar ? name->decl : nullptr;
}

/// The size that is written at `expr`; null after an error. Builds no op if that can be avoided.
AffineExpr Elaborator::writtenSize(const Expr &expr) {
  const Decl *variable = dimVariable(expr);
  if (variable && frame_->dims.contains(variable))
    return frame_->dims[variable].size;
  Operand operand = evalOperand(expr);
  if (auto known = knownInt(operand.value))
    return emit.b.getAffineConstantExpr(*known);
  Value size = this->size(operand, "a size");
  return size ? emit.shapes.valueOf(size) : AffineExpr();
}

bool Elaborator::bindType(const TypeSyntax &type, Value value, Span span) {
  DType found = Emitter::dtypeOf(value);
  elementType(type, found);
  if (type.dims.size() != static_cast<size_t>(Emitter::rankOf(value)))
    return true; // checkType reports it
  Dims dims = emit.shapes.dimsOf(value);
  for (size_t i = 0; i < dims.size(); ++i) {
    const Decl *variable = dimVariable(*type.dims[i]);
    if (!variable || frame_->dims.contains(variable))
      continue;
    frame_->dims[variable] = {dims[i], value, static_cast<int64_t>(i), span};
    emit.nameSize(dims[i], variable->name);
  }
  return true;
}

Value Elaborator::checkType(const TypeSyntax &type, Value value, Span span,
                            const std::string &what) {
  auto dtype = elementType(type, Emitter::dtypeOf(value));
  if (!dtype)
    return {};
  Dims dims = emit.shapes.dimsOf(value);
  auto mismatch = [&](const std::string &expected) -> Diagnostic & {
    return emit
        .error(DiagCode::PD0101, span,
               absl::StrCat("expected ", expected, " for ", what, ", found ", emit.typeText(value)))
        .withSecondary(type.span, "expected because of this type");
  };
  if (*dtype != Emitter::dtypeOf(value)) {
    std::string name(nameOf(*dtype));
    mismatch(absl::StrCat("element type ", name))
        .withHint(what.starts_with("the input ")
                      ? absl::StrCat("declare it with the type of the file, ",
                                     std::string(nameOf(Emitter::dtypeOf(value))),
                                     ", and convert it then: ", name, "(x)")
                      : absl::StrCat("convert it with ", name, "(...)"));
    return {};
  }
  if (type.dims.size() != dims.size()) {
    Diagnostic &error =
        mismatch(type.dims.empty()
                     ? "a scalar"
                     : absl::StrCat(type.dims.size(), type.dims.size() == 1 ? " axis" : " axes"));
    if (type.dims.empty())
      error.withHint(absl::StrCat(
          "a type without sizes is a scalar; a tensor with axes is written ", type.name, "[N, 3]"));
    return {};
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    AffineExpr expected = writtenSize(*type.dims[i]);
    if (!expected)
      return {};
    if (expected == dims[i])
      continue;
    if (knownSize(expected) && knownSize(dims[i])) {
      const Decl *variable = dimVariable(*type.dims[i]);
      Diagnostic &diagnostic =
          mismatch(absl::StrCat("size ", *knownSize(expected),
                                variable ? " (" + variable->name + ")" : "", " on axis ", i));
      if (variable && !(frame_->dims[variable].span == span))
        diagnostic.withSecondary(frame_->dims[variable].span,
                                 absl::StrCat("'", variable->name, "' comes from here"));
      return {};
    }
    // Only the run can tell.
    Value size = this->size(evalOperand(*type.dims[i]), "a size");
    Value found = emit.sizeOf(value, i, span);
    if (const Decl *variable = dimVariable(*type.dims[i]))
      emit.nameSize(dims[i], variable->name);
    Value equal = emit.make<EqOp>(span, found, size);
    Builder &b = emit.b;
    SmallVector<StringRef> segments;
    std::string begin = absl::StrCat("axis ", i, " of ", what, " has size "),
                middle = ", expected ";
    segments = {begin, middle, ""};
    Attribute format = ValueFormatAttr::get(b.getContext(), 0, -1, false);
    AssertOp::create(emit.b, emit.loc(span), equal, b.getStrArrayAttr(segments),
                     b.getArrayAttr({format, format}), ValueRange{found, size});
    // The value goes on with the size that was checked.
    ShapeArg shape = emit.shapeOf(value, span);
    if (auto known = knownSize(expected)) {
      size_t dynamic = llvm::count_if(ArrayRef(shape.shape).take_front(i), ShapedType::isDynamic);
      if (ShapedType::isDynamic(shape.shape[i]))
        shape.sizes.erase(shape.sizes.begin() + dynamic);
      shape.shape[i] = *known;
      value = emit.make<BroadcastOp>(span, value, shape.sizes, shape.shape);
      dims = emit.shapes.dimsOf(value);
    }
  }
  return value;
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
