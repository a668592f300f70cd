// The interfaces of ops whose window moves over pictures: convolutions and pooling.
// SPDX-License-Identifier: Apache-2.0
#ifndef PDG_IR_WINDOW_INTERFACES_TD
#define PDG_IR_WINDOW_INTERFACES_TD

include "mlir/IR/OpBase.td"

def ConvolveOpInterface : OpInterface<"ConvolveOpInterface"> {
  let cppNamespace = "::pdg";
  let description = "A 2-D cross-correlation or one of its gradients.";
  let methods = [InterfaceMethod<"Which of the three, and how the window moves.",
                                 "::pdg::ConvolutionRule", "getConvolutionRule", (ins)>];
}

def PoolOpInterface : OpInterface<"PoolOpInterface"> {
  let cppNamespace = "::pdg";
  let description = "What is made of each window of a picture, or sent back to its elements.";
  let methods = [InterfaceMethod<"What, and how the window moves.", "::pdg::PoolingRule",
                                 "getPoolingRule", (ins)>];
}

#endif // PDG_IR_WINDOW_INTERFACES_TD
