// Small facts about syntax tree nodes, and the members that need complete types.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ast.h"

namespace pdg {

TypeSyntax::TypeSyntax() = default;
TypeSyntax::TypeSyntax(TypeSyntax &&) noexcept = default;
TypeSyntax &TypeSyntax::operator=(TypeSyntax &&) noexcept = default;
TypeSyntax::~TypeSyntax() = default;

Body::Body() = default;
Body::Body(Body &&) noexcept = default;
Body &Body::operator=(Body &&) noexcept = default;
Body::~Body() = default;

const char *declKindName(DeclKind kind) {
  switch (kind) {
  case DeclKind::Block:
    return "block";
  case DeclKind::Import:
    return "module";
  case DeclKind::Use:
    return "instance";
  case DeclKind::Param:
    return "param";
  case DeclKind::State:
    return "state";
  case DeclKind::Let:
    return "let";
  case DeclKind::Var:
    return "var";
  case DeclKind::Const:
    return "const";
  case DeclKind::Input:
    return "input";
  case DeclKind::Data:
    return "data source";
  case DeclKind::Arg:
    return "argument";
  case DeclKind::Loop:
    return "loop variable";
  case DeclKind::DimVar:
    return "dimension variable";
  case DeclKind::TypeVar:
    return "type variable";
  }
  return "name";
}

const char *spelling(UnaryOp op) {
  switch (op) {
  case UnaryOp::Neg:
    return "-";
  case UnaryOp::Pos:
    return "+";
  case UnaryOp::Not:
    return "not";
  }
  return "?";
}

const char *spelling(BinaryOp op) {
  static constexpr const char *Spellings[] = {
      "+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "and", "or"};
  return Spellings[static_cast<int>(op)];
}

bool TypeSyntax::isCompileTime() const {
  return name == "int" || name == "float" || name == "string" || name == "type" ||
         name == "block" || (name == "bool" && !hasBrackets);
}

bool BlockStmt::isOptimizer() const {
  return !args.empty() && args.front()->type && args.front()->type->name == "param";
}

} // namespace pdg
