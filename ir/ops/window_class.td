// Ops of windows that move over the last two axes of [examples, channels, height, width].
// SPDX-License-Identifier: Apache-2.0
#ifndef PDG_IR_OPS_WINDOW_CLASS_TD
#define PDG_IR_OPS_WINDOW_CLASS_TD

include "ir/dialect.td"
include "ir/window_interfaces.td"

/// `stride` has a number for each axis, `padding` those at the top, bottom, left and right.
class Pdg_WindowOp<string mnemonic, dag operands, list<Trait> traits = []>
    : Pdg_PureOp<mnemonic, traits> {
  let arguments = !con(operands, (ins DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding));
}

#endif // PDG_IR_OPS_WINDOW_CLASS_TD
