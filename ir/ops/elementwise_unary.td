// Element-wise ops with one operand.
// SPDX-License-Identifier: Apache-2.0
include "ir/ops/elementwise_class.td"

def Pdg_NegOp : Pdg_UnaryOp<"neg", "-x", "-g"> { let summary = "-x"; }
def Pdg_AbsOp : Pdg_UnaryOp<"abs", "abs(x)", "g * sign(x)"> {
  let summary = "Absolute value; the gradient at 0 is 0";
}
def Pdg_SignOp : Pdg_UnaryOp<"sign", "select(x > 0, x.like(1), select(x < 0, x.like(-1), x))", ""> { let summary = "-1, 0 or 1; NaN stays"; }
def Pdg_ExpOp : Pdg_UnaryOp<"exp", "exp(x)", "g * r", OnFloats> { let summary = "e to the x"; }
def Pdg_LogOp : Pdg_UnaryOp<"log", "log(x)", "g / x", OnFloats> { let summary = "Natural logarithm"; }
def Pdg_SqrtOp : Pdg_UnaryOp<"sqrt", "sqrt(x)", "g * 0.5 / r", OnFloats> {
  let summary = "Square root, rounded once";
}
def Pdg_RsqrtOp : Pdg_UnaryOp<"rsqrt", "rsqrt(x)", "g * -0.5 * r / x", OnFloats> {
  let summary = "1 / sqrt(x)";
}
def Pdg_TanhOp : Pdg_UnaryOp<"tanh", "tanh(x)", "g * (1.0 - r * r)", OnFloats> {
  let summary = "Hyperbolic tangent";
}
def Pdg_SigmoidOp : Pdg_UnaryOp<"sigmoid", "sigmoid(x)", "g * (r * (1.0 - r))", OnFloats> {
  let summary = "1 / (1 + exp(-x))";
}
def Pdg_ErfOp : Pdg_UnaryOp<"erf", "erf(x)",
    "g * (1.1283791670955126 * exp(-(x * x)))", OnFloats> {
  let summary = "Error function; the factor of the gradient is 2 / sqrt(pi)";
}
def Pdg_SinOp : Pdg_UnaryOp<"sin", "sin(x)", "g * cos(x)", OnFloats> { let summary = "Sine"; }
def Pdg_CosOp : Pdg_UnaryOp<"cos", "cos(x)", "-(g * sin(x))", OnFloats> { let summary = "Cosine"; }
def Pdg_ReluOp : Pdg_UnaryOp<"relu", "maximum(x, x.like(0))",
    "select(gt(r, 0.0), g, 0.0)"> {
  let summary = "maximum(x, 0); the gradient at 0 is 0";
}
def Pdg_FloorOp : Pdg_UnaryOp<"floor", "floor(x)", "", OnFloats> { let summary = "Rounds down"; }
def Pdg_CeilOp : Pdg_UnaryOp<"ceil", "ceil(x)", "", OnFloats> { let summary = "Rounds up"; }
def Pdg_NotOp : Pdg_UnaryOp<"not", "!x", "", OnBools> { let summary = "Logical not"; }
