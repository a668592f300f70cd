// Comparisons, select and casts.
// SPDX-License-Identifier: Apache-2.0
include "ir/ops/elementwise_class.td"

def Pdg_EqOp : Pdg_CompareOp<"eq", "x == y"> { let summary = "x == y; false if one is NaN"; }
def Pdg_NeOp : Pdg_CompareOp<"ne", "x != y"> { let summary = "x != y; true if one is NaN"; }
def Pdg_LtOp : Pdg_CompareOp<"lt", "x < y"> { let summary = "x < y"; }
def Pdg_LeOp : Pdg_CompareOp<"le", "x <= y"> { let summary = "x <= y"; }
def Pdg_GtOp : Pdg_CompareOp<"gt", "x > y"> { let summary = "x > y"; }
def Pdg_GeOp : Pdg_CompareOp<"ge", "x >= y"> { let summary = "x >= y"; }

def Pdg_SelectOp : Pdg_ElementwiseOp<"select", "auto c, auto x, auto y", "select(c, x, y)", [{
      ::pdg::sendSelect(*this, b, reverse);
    }], "operand", OnAnyType, [],
    "%r = pdg.select %c, %x, %y : tensor<3xi1>, tensor<3xf32>, tensor<3xf32>"> {
  let summary = "x where c holds, else y";
  let arguments = (ins Pdg_Bool:$condition, Pdg_Any:$x, Pdg_Any:$y);
  let assemblyFormat =
      "$condition `,` $x `,` $y attr-dict `:` type($condition) `,` type($x) `,` type($y)";
}

def Pdg_CastOp : Pdg_PureOp<"cast",
    [DeclareOpInterfaceMethods<ElementOpInterface, ["emitElement", "isPointwise"]>]> {
  let summary = "Converts elements to another type";
  let description = [{
    Integers to floats round to nearest even; floats to integers truncate and saturate, NaN gives 0;
    to fewer bits wraps; to bool: not zero. The gradient is cast back, and flows between floats only.
    The only op on bf16, f16 (nearest, ties to even) and i8; no gradient flows through these.

    ```mlir
    // [1.5, -300.0] -> [1, -300]
    %y = pdg.cast %x to i64 : tensor<2xf32>
    ```
  }];
  let arguments = (ins Pdg_Stored:$x, TypeAttr:$element);
  let results = (outs Pdg_Stored:$result);
  let assemblyFormat = "$x `to` $element attr-dict `:` type($x)";
  let extraClassDefinition = shapeDefinition # [{
    ::mlir::FailureOr<::pdg::Dims> $cppClass::dimsOf(Adaptor op, ::llvm::ArrayRef<::pdg::Dims> dims,
                                                     ::pdg::ShapeRule &rule) {
      return ::pdg::sameDims(dims, rule);
    }
    ::mlir::Type $cppClass::elementOf(Adaptor op) { return op.getElement(); }
    ::pdg::ShardingRule $cppClass::getShardingRule() { return ::pdg::elementwiseSharding(*this); }
    bool $cppClass::isPointwise() { return true; }
  }];
}
