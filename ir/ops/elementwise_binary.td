// Element-wise ops with two operands of equal sizes, comparisons, select and casts.
// SPDX-License-Identifier: Apache-2.0
include "ir/ops/elementwise_class.td"

def Pdg_AddOp : Pdg_BinaryOp<"add", "x + y", "g", "g", OnNumbers, "operand", "x + y"> { let summary = "x + y"; }
def Pdg_SubOp : Pdg_BinaryOp<"sub", "x - y", "g", "-g", OnNumbers, "operand", "x - y"> { let summary = "x - y"; }
def Pdg_MulOp : Pdg_BinaryOp<"mul", "x * y", "g * y", "g * x", OnNumbers, "operand", "x * y"> { let summary = "x * y"; }
def Pdg_DivOp : Pdg_BinaryOp<"div", "x / y", "g / y", "-(g * r / y)", OnFloats> {
  let summary = "True division";
}
def Pdg_FloorDivOp : Pdg_BinaryOp<"floordiv", "floorDiv(x, y)", "", "", OnNumbers, "operand",
                                  "x.floorDiv(y)", [DeclareOpInterfaceMethods<CheckedOpInterface>]> {
  let summary = "Division rounded down; an integer divided by 0 stops the run";
}
def Pdg_ModOp : Pdg_BinaryOp<"mod", "floorMod(x, y)", "g", "-(g * floorDiv(x, y))", OnNumbers, "operand",
                             "::pdg::positiveRemainder(x, y)", [DeclareOpInterfaceMethods<CheckedOpInterface>]> {
  let summary = "x - y * floordiv(x, y): has the sign of y";
}
def Pdg_PowOp : Pdg_BinaryOp<"pow", "pow(x, y)", "g * (y * pow(x, y - 1.0))",
    "g * (r * log(x))", OnFloats> {
  let summary = "x to the y";
}
def Pdg_MaximumOp : Pdg_BinaryOp<"maximum", "maximum(x, y)", "select(ge(x, y), g, 0.0)",
    "select(ge(x, y), 0.0, g)"> {
  let summary = "The larger; NaN wins; at a tie the gradient goes to x";
}
def Pdg_MinimumOp : Pdg_BinaryOp<"minimum", "minimum(x, y)", "select(le(x, y), g, 0.0)",
    "select(le(x, y), 0.0, g)"> {
  let summary = "The smaller; NaN wins; at a tie the gradient goes to x";
}
def Pdg_AndOp : Pdg_BinaryOp<"and", "x & y", "", "", OnBools> { let summary = "Logical and"; }
def Pdg_OrOp : Pdg_BinaryOp<"or", "x | y", "", "", OnBools> { let summary = "Logical or"; }
