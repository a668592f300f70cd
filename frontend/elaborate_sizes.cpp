// Sizes of written types: binding of dimension variables, and checks of sizes against them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ast_walk.h"
#include "frontend/elaborator.h"
#include "ir/ops/compare.h"
#include "ir/ops/effects.h"
#include "ir/ops/shape.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

/// The dimension variable that stands alone at `expr`, or null.
static const Decl *dimVariable(const Expr &expr) {
  auto *name = dynAs<NameExpr>(&expr);
  return name && name->decl && name->decl->kind == DeclKind::DimVar ? name->decl : nullptr;
}

size_t Elaborator::countFree(const Expr &expr) const {
  const Decl *variable = dimVariable(expr);
  size_t count = variable && !frame_->dims.contains(variable);
  forEachOperand(expr, [&](const Expr *each) { count += each ? countFree(*each) : 0; });
  return count;
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

Value Elaborator::sizeOf(const BoundDim &dim, Span span) {
  return dim.scalar ? dim.scalar : emit.sizeOf(dim.tensor, dim.axis, span);
}

void Elaborator::bindSizes(const TypeSyntax &type, Value value, Span span) {
  Dims dims = emit.shapes.dimsOf(value);
  for (size_t i = 0; i < dims.size(); ++i) {
    const Decl *variable = dimVariable(*type.dims[i]);
    if (!variable || frame_->dims.contains(variable))
      continue;
    frame_->dims[variable] = {dims[i], value, static_cast<int64_t>(i), {}, span};
    emit.nameSize(dims[i], variable->name);
  }
}

//===- Sizes that are solved for a variable --------------------------------===//

/// True if sums, differences and products lead to the one free variable in `expr`.
bool Elaborator::isSolvable(const Expr &expr) const {
  if (dimVariable(expr))
    return true;
  auto *binary = dynAs<BinaryExpr>(&expr);
  if (!binary ||
      (binary->op != BinaryOp::Add && binary->op != BinaryOp::Sub && binary->op != BinaryOp::Mul))
    return false;
  return isSolvable(countFree(*binary->lhs) ? *binary->lhs : *binary->rhs);
}

/// What the free variable in `expr`, which is solvable, must be so that `expr` is `size`; binds it.
/// False if there is no such size. Of a division that only the run can make, the check of the type
/// finds the remainder.
bool Elaborator::solveSize(const Expr &expr, Operand size, Span span) {
  if (const Decl *variable = dimVariable(expr)) {
    auto known = knownInt(size.value);
    Value scalar = known ? Value() : this->size(size, "a size");
    if (known ? *known < 0 : !scalar)
      return false;
    AffineExpr value = known ? emit.b.getAffineConstantExpr(*known) : emit.shapes.valueOf(scalar);
    frame_->dims[variable] = {value, {}, 0, scalar, span};
    emit.nameSize(value, variable->name);
    return true;
  }
  const auto &sum = as<BinaryExpr>(expr);
  bool isLeft = countFree(*sum.lhs) > 0;
  const Expr &unknown = isLeft ? *sum.lhs : *sum.rhs;
  Operand other = evalOperand(isLeft ? *sum.rhs : *sum.lhs);
  auto factor = knownInt(other.value), product = knownInt(size.value);
  Datum rest;
  if (sum.op == BinaryOp::Add) {
    rest = binary(BinaryOp::Sub, size, other, span);
  } else if (sum.op == BinaryOp::Sub) {
    rest = isLeft ? binary(BinaryOp::Add, size, other, span)
                  : binary(BinaryOp::Sub, other, size, span);
  } else {
    if (!factor || *factor <= 0 || (product && *product % *factor != 0))
      return false;
    rest = binary(BinaryOp::FloorDiv, size, other, span);
  }
  return !rest.isPoison() && solveSize(unknown, {rest, span}, span);
}

bool Elaborator::solveSizes(const TypeCheck &check) {
  Dims dims = emit.shapes.dimsOf(check.value);
  if (check.type.dims.size() != dims.size())
    return true; // checkType reports it
  for (size_t i = 0; i < dims.size(); ++i) {
    const Expr &written = *check.type.dims[i];
    if (dimVariable(written) || countFree(written) != 1 || !isSolvable(written))
      continue;
    auto known = knownSize(dims[i]);
    Datum found = known ? Datum(*known) : Datum(emit.sizeOf(check.value, i, check.span));
    size_t before = diagnostics_.count();
    if (solveSize(written, {found, check.span}, check.span))
      continue;
    if (known && diagnostics_.count() == before)
      reportMisfit(check,
                   absl::StrCat("a size of the form ", emit.textOf(written.span), " on axis ", i));
    else if (diagnostics_.count() == before)
      continue; // The check of the size says which variable is not known.
    return false;
  }
  return true;
}

//===- Checks --------------------------------------------------------------===//

/// Gives axis `axis` of `value` the size that a check found it to have.
static Value withKnownSize(Emitter &emit, Value value, int64_t axis, int64_t size, Span span) {
  ShapeArg shape = emit.shapeOf(value, span);
  size_t dynamic = llvm::count_if(ArrayRef(shape.shape).take_front(axis), ShapedType::isDynamic);
  if (ShapedType::isDynamic(shape.shape[axis]))
    shape.sizes.erase(shape.sizes.begin() + dynamic);
  shape.shape[axis] = size;
  return emit.make<BroadcastOp>(span, value, shape.sizes, shape.shape);
}

/// A check that only the run can make.
static void assertSize(Emitter &emit, Value found, Value expected, const std::string &axis,
                       Span span) {
  Value equal = emit.make<EqOp>(span, found, expected);
  Builder &b = emit.b;
  std::string begin = axis + " has size ", middle = ", expected ";
  StringRef segments[] = {begin, middle, ""};
  Attribute format = ValueFormatAttr::get(b.getContext(), 0, -1, false);
  AssertOp::create(emit.b, emit.loc(span), equal, b.getStrArrayAttr(segments),
                   b.getArrayAttr({format, format}), ValueRange{found, expected});
}

bool Elaborator::checkSize(TypeCheck &check, size_t axis) {
  const Expr &written = *check.type.dims[axis];
  AffineExpr expected = writtenSize(written);
  AffineExpr found = emit.shapes.dimsOf(check.value)[axis];
  if (!expected || expected == found)
    return static_cast<bool>(expected);
  const Decl *variable = dimVariable(written);
  auto known = knownSize(expected);
  if (known && knownSize(found)) {
    Diagnostic &error = reportMisfit(
        check, absl::StrCat("size ", *known, variable ? " (" + variable->name + ")" : "",
                            " on axis ", axis));
    if (variable && !(frame_->dims[variable].span == check.span))
      error.withSecondary(frame_->dims[variable].span,
                          absl::StrCat("'", variable->name, "' comes from here"));
    return false;
  }
  Value size = this->size(evalOperand(written), "a size");
  Value foundSize = emit.sizeOf(check.value, axis, check.span);
  if (variable)
    emit.nameSize(found, variable->name);
  assertSize(emit, foundSize, size, absl::StrCat("axis ", axis, " of ", check.what), check.span);
  if (known)
    check.value = withKnownSize(emit, check.value, axis, *known, check.span);
  return true;
}

} // namespace pdg
