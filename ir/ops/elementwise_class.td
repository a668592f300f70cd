// The classes of element-wise ops: the scalar formula is written once, and used by the interpreter
// (on plain numbers) and by code generation (on values and vectors of values).
// SPDX-License-Identifier: Apache-2.0
#ifndef PDG_IR_OPS_ELEMENTWISE_CLASS_TD
#define PDG_IR_OPS_ELEMENTWISE_CLASS_TD

include "ir/dialect.td"

/// The element types an op takes: the constraint, and the list of types for the interpreter.
class Pdg_Domain<Type t, string types, string one> {
  Type type = t;
  string cpp = types;
  string example = one; ///< One of the types, for the manual.
}
def OnFloats : Pdg_Domain<Pdg_Float, "::pdg::Floats", "f32">;
def OnNumbers : Pdg_Domain<Pdg_Number, "::pdg::Numbers", "f32">;
def OnInts : Pdg_Domain<Pdg_Int, "::pdg::Ints", "i64">;
def OnBools : Pdg_Domain<Pdg_Bool, "::pdg::Bools", "i1">;
def OnAnyType : Pdg_Domain<Pdg_Any, "::pdg::AnyType", "f32">;

/// All operands and the result have equal sizes (the front end inserts `pdg.broadcast`).
/// `scalar` is the formula of one element in the parameters; `vjpCode` sends cotangents back;
/// `element` is the type of the result's elements; `example` is shown in the manual.
class Pdg_ElementwiseOp<string mnemonic, string parameters, string scalar, string vjpCode,
                        string element, Pdg_Domain domain, list<Trait> traits, string example,
                        string more = "">
    : Pdg_PureOp<mnemonic, traits # [DeclareOpInterfaceMethods<ElementOpInterface,
                                     ["emitElement", "isPointwise"]>]> {
  let results = (outs Pdg_Any:$result);
  let description = "Of each element: `" # scalar # "`.\n\n```mlir\n" # example # "\n```\n";
  let extraClassDefinition = shapeDefinition # [{
    ::mlir::FailureOr<::pdg::Dims> $cppClass::dimsOf(Adaptor op, ::llvm::ArrayRef<::pdg::Dims> dims,
                                                     ::pdg::ShapeRule &rule) {
      return ::pdg::sameDims(dims, rule);
    }
    ::mlir::Type $cppClass::elementOf(Adaptor op) {
      [[maybe_unused]] ::mlir::Type operand =
          ::mlir::getElementTypeOrSelf(op.getOperands().back());
      return }] # element # [{;
    }
    ::pdg::ShardingRule $cppClass::getShardingRule() { return ::pdg::elementwiseSharding(*this); }
    bool $cppClass::isPointwise() { return true; }
    ::mlir::Value $cppClass::emitElement(::pdg::ElementContext &context,
                                         ::llvm::ArrayRef<::pdg::AxisIndex> index) {
      return ::pdg::emitElementwise(*this, context, index, []( }] # parameters # [{ ) {
        return }] # scalar # [{;
      });
    }
    ::mlir::LogicalResult $cppClass::evaluate(::pdg::Evaluation &eval) {
      return ::pdg::evaluateElementwise<}] # domain.cpp # [{>(eval, []( }] # parameters # [{ ) {
        return }] # scalar # [{;
      });
    }
    ::mlir::LogicalResult $cppClass::vjp(::mlir::OpBuilder &b, ::pdg::Reverse &reverse) {
      }] # vjpCode # [{
      return ::mlir::success();
    }
  }] # more;
}

/// One operand `x`. `vjp` is its cotangent in g (the result's), x and r (the result); empty: none.
class Pdg_UnaryOp<string mnemonic, string scalar, string vjp, Pdg_Domain domain = OnNumbers,
                  string element = "operand">
    : Pdg_ElementwiseOp<mnemonic, "auto x", scalar,
        !if(!empty(vjp), "",
            "::pdg::sendUnary(*this, b, reverse, [](auto g, auto x, auto r) { return " # vjp
            # "; });"), element, domain, [],
        "%r = pdg." # mnemonic # " %x : tensor<3x" # domain.example # ">"> {
  let arguments = (ins domain.type:$x);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

/// Two operands. `vjpX` and `vjpY` are their cotangents in g, x, y and r; empty: none.
/// `size` is the value of scalar operands that are sizes, as an affine expression of x and y.
class Pdg_BinaryOp<string mnemonic, string scalar, string vjpX, string vjpY,
                   Pdg_Domain domain = OnNumbers, string element = "operand",
                   string size = "::mlir::AffineExpr()", list<Trait> traits = []>
    : Pdg_ElementwiseOp<mnemonic, "auto x, auto y", scalar,
        !if(!empty(vjpX), "",
            "::pdg::sendBinary(*this, b, reverse, 0, [](auto g, auto x, auto y, auto r) { return "
            # vjpX # "; });")
        # !if(!empty(vjpY), "",
            "::pdg::sendBinary(*this, b, reverse, 1, [](auto g, auto x, auto y, auto r) { return "
            # vjpY # "; });"), element, domain,
        traits # [SameOperandsElementType, DeclareOpInterfaceMethods<SizeOpInterface>],
        "%r = pdg." # mnemonic # " %x, %y : tensor<3x" # domain.example # ">, tensor<3x"
        # domain.example # ">", [{
    ::mlir::AffineExpr $cppClass::inferValue(::llvm::ArrayRef<::mlir::AffineExpr> values,
                                             ::llvm::ArrayRef<::pdg::Dims>) {
      ::mlir::AffineExpr x = values[0], y = values[1];
      (void)x, (void)y;
      return }] # size # [{;
    }
  }]> {
  let arguments = (ins domain.type:$x, domain.type:$y);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x) `,` type($y)";
}

/// A comparison: its elements are bools and nothing flows back.
class Pdg_CompareOp<string mnemonic, string scalar>
    : Pdg_BinaryOp<mnemonic, scalar, "", "", OnAnyType,
                   "::mlir::IntegerType::get(op.getX().getContext(), 1)">;

#endif // PDG_IR_OPS_ELEMENTWISE_CLASS_TD
