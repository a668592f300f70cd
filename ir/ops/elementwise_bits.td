// Element-wise ops on bits, and the angle of a point.
// SPDX-License-Identifier: Apache-2.0
include "ir/ops/elementwise_class.td"

def OnBits : Pdg_Domain<AnyTypeOf<[Pdg_Int, Pdg_Bool], "tensor of integers or bools">,
                        "::pdg::Bits", "i64">;

def Pdg_BitAndOp : Pdg_BinaryOp<"bit_and", "x & y", "", "", OnInts> { let summary = "Bits in both"; }
def Pdg_BitOrOp : Pdg_BinaryOp<"bit_or", "x | y", "", "", OnInts> { let summary = "Bits in one"; }
def Pdg_XorOp : Pdg_BinaryOp<"xor", "x ^ y", "", "", OnBits> {
  let summary = "Bits, or bools, in exactly one";
}
def Pdg_BitNotOp : Pdg_UnaryOp<"bit_not", "~x", "", OnInts> { let summary = "All bits inverted"; }
def Pdg_ShiftLeftOp : Pdg_BinaryOp<"shift_left", "shiftLeft(x, y)", "", "", OnInts> {
  let summary = "x * 2^y, wrapping; 0 for y not in [0, width)";
}
def Pdg_ShiftRightOp : Pdg_BinaryOp<"shift_right", "shiftRight(x, y)", "", "", OnInts> {
  let summary = "floor(x / 2^y); for y not in [0, width) what is left is the sign: 0 or -1";
}
def Pdg_Atan2Op : Pdg_BinaryOp<"atan2", "atan2(x, y)", "g * y / (x * x + y * y)",
                               "-(g * x / (x * x + y * y))", OnFloats> {
  let summary = "Angle of the point (y, x) in [-pi, pi]: atan2 of C, whose first operand is the height";
}
