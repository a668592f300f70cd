// The interfaces of ops that walk an axis in order: scans, sorting, writing at indices.
// SPDX-License-Identifier: Apache-2.0
#ifndef PDG_IR_ORDER_INTERFACES_TD
#define PDG_IR_ORDER_INTERFACES_TD

include "mlir/IR/OpBase.td"

def ScanOpInterface : OpInterface<"ScanOpInterface"> {
  let cppNamespace = "::pdg";
  let description = "Each element of the result folds those before it along one axis.";
  let methods = [InterfaceMethod<"What is folded, along which axis.", "::pdg::ScanForm",
                                 "getScanForm", (ins)>];
}

def SortOpInterface : OpInterface<"SortOpInterface"> {
  let cppNamespace = "::pdg";
  let description = "The positions of the only operand's elements in sorted order, along one axis.";
  let methods = [InterfaceMethod<"Along which axis, and which way.", "::pdg::SortForm",
                                 "getSortForm", (ins)>];
}

def PlaceOpInterface : OpInterface<"PlaceOpInterface"> {
  let cppNamespace = "::pdg";
  let description = [{
    Operand 0 with the elements of operand 2 written, or added, at the positions of operand 1
    along one axis, in increasing order of their own position.
  }];
  let methods = [InterfaceMethod<"Along which axis, and how.", "::pdg::PlaceForm", "getPlaceForm",
                                 (ins)>];
}

#endif // PDG_IR_ORDER_INTERFACES_TD
