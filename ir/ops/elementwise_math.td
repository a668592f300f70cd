// Further elementary functions of one operand.
// SPDX-License-Identifier: Apache-2.0
include "ir/ops/elementwise_class.td"

def Pdg_Log1pOp : Pdg_UnaryOp<"log1p", "log1p(x)", "g / (x + 1.0)", OnFloats> {
  let summary = "log(1 + x), precise near 0";
}
def Pdg_Expm1Op : Pdg_UnaryOp<"expm1", "expm1(x)", "g * (r + 1.0)", OnFloats> {
  let summary = "exp(x) - 1, precise near 0";
}
def Pdg_Log2Op : Pdg_UnaryOp<"log2", "log2(x)", "g / (x * 0.6931471805599453)", OnFloats> {
  let summary = "Logarithm for base 2";
}
def Pdg_Log10Op : Pdg_UnaryOp<"log10", "log10(x)", "g / (x * 2.302585092994046)", OnFloats> {
  let summary = "Logarithm for base 10";
}
def Pdg_Exp2Op : Pdg_UnaryOp<"exp2", "exp2(x)", "g * (r * 0.6931471805599453)", OnFloats> {
  let summary = "2 to the x";
}
def Pdg_TanOp : Pdg_UnaryOp<"tan", "tan(x)", "g * (r * r + 1.0)", OnFloats> {
  let summary = "Tangent";
}
def Pdg_AsinOp : Pdg_UnaryOp<"asin", "asin(x)", "g / sqrt((1.0 - x) * (x + 1.0))", OnFloats> {
  let summary = "Arc sine; NaN beyond 1";
}
def Pdg_AcosOp : Pdg_UnaryOp<"acos", "acos(x)", "-(g / sqrt((1.0 - x) * (x + 1.0)))", OnFloats> {
  let summary = "Arc cosine; NaN beyond 1";
}
def Pdg_AtanOp : Pdg_UnaryOp<"atan", "atan(x)", "g / (x * x + 1.0)", OnFloats> {
  let summary = "Arc tangent";
}
def Pdg_SinhOp : Pdg_UnaryOp<"sinh", "sinh(x)", "g * cosh(x)", OnFloats> {
  let summary = "Hyperbolic sine";
}
def Pdg_CoshOp : Pdg_UnaryOp<"cosh", "cosh(x)", "g * sinh(x)", OnFloats> {
  let summary = "Hyperbolic cosine";
}
def Pdg_AsinhOp : Pdg_UnaryOp<"asinh", "asinh(x)", "g / sqrt(x * x + 1.0)", OnFloats> {
  let summary = "Inverse hyperbolic sine";
}
def Pdg_AcoshOp : Pdg_UnaryOp<"acosh", "acosh(x)", "g / sqrt((x - 1.0) * (x + 1.0))", OnFloats> {
  let summary = "Inverse hyperbolic cosine; NaN below 1";
}
def Pdg_AtanhOp : Pdg_UnaryOp<"atanh", "atanh(x)", "g / ((1.0 - x) * (x + 1.0))", OnFloats> {
  let summary = "Inverse hyperbolic tangent; NaN beyond 1";
}
def Pdg_TruncOp : Pdg_UnaryOp<"trunc", "trunc(x)", "", OnFloats> {
  let summary = "Rounds towards zero";
}
def Pdg_RoundOp : Pdg_UnaryOp<"round", "roundEven(x)", "", OnFloats> {
  let summary = "Rounds to the nearest whole number, halves to the even one";
}
