// Sums of products by an index rule.
// SPDX-License-Identifier: Apache-2.0
include "ir/dialect.td"

def Pdg_ContractOp : Pdg_PureOp<"contract",
    [SameOperandsElementType, DeclareOpInterfaceMethods<ContractionOpInterface>,
     DeclareOpInterfaceMethods<LeavesOpInterface>]> {
  let summary = "Sum of products of two tensors, by an index rule";
  let description = [{
    `pdg.contract "ik,kj->ij" %a, %b` is the matrix product: a letter names an axis, letters that
    are not in the result are summed, letters in both operands and the result are batches.

    Each result element is one chain of fused multiply-adds from +0, over the summed indices in the
    order of the first operand's axes, each increasing. With `leaves` the first summed index, of
    size n, is cut into L(n) chains that a balanced tree joins, neighbours first. The builder sets
    it when that index is axis 0 of both operands; no pass changes it, but batches may be moved
    before that index.

    (C1) Every operand's letters are distinct; result letters occur in an operand.
    (C2) Every letter occurs in two of the three: none is summed inside one operand alone.
    (C3) As many letters as axes.

    ```mlir
    // a = [[1, 2]], b = [[3], [4]] -> [[11]]
    %y = pdg.contract "ik,kj->ij" %a, %b : tensor<1x2xf32>, tensor<2x1xf32>
    ```
  }];
  let arguments = (ins StrAttr:$rule, Pdg_Float:$lhs, Pdg_Float:$rhs, UnitAttr:$leaves);
  let results = (outs Pdg_Float:$result);
  let assemblyFormat =
      "$rule $lhs `,` $rhs (`leaves` $leaves^)? attr-dict `:` type($lhs) `,` type($rhs)";
  let hasVerifier = 1;
}
