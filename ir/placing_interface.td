// The interface of ops that put elements at other places.
// SPDX-License-Identifier: Apache-2.0
#ifndef PDG_IR_PLACING_INTERFACE_TD
#define PDG_IR_PLACING_INTERFACE_TD

include "mlir/IR/OpBase.td"

def PlacingOpInterface : OpInterface<"PlacingOpInterface"> {
  let cppNamespace = "::pdg";
  let description = [{
    The elements of one operand at other places, and zeros elsewhere: what comes back to a value of
    which a part was used. A sum that is placed goes on with chains in a part of the value's leaves.
  }];
  let methods =
      [InterfaceMethod<"The operand, if its sizes and places are known well enough; else null.",
                       "::mlir::Value", "getPlaced", (ins)>,
       InterfaceMethod<[{
      Whether all elements are in the result, and nothing else: no zeros.
    }],
                       "bool", "isRearranged", (ins), "", "return false;">,
       InterfaceMethod<[{
      Builds what of `leaves`, [leaves, sizes of the result...], is at the operand's places:
      [leaves, sizes of the operand...].
    }],
                       "::mlir::Value", "takeLeaves",
                       (ins "::mlir::OpBuilder &":$b, "::mlir::Value":$leaves)>,
       InterfaceMethod<"Builds `leaves` with `taken`, the leaves of the operand, in these places.",
                       "::mlir::Value", "putLeaves",
                       (ins "::mlir::OpBuilder &":$b, "::mlir::Value":$leaves,
                           "::mlir::Value":$taken)>];
}

#endif // PDG_IR_PLACING_INTERFACE_TD
