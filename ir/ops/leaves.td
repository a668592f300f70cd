// Sums over a first axis whose leaves stay apart, so that many sums go on with the same chains and
// are joined once. pdg-differentiate makes them of what the iterations of a loop contribute to a
// gradient.
// SPDX-License-Identifier: Apache-2.0
include "ir/dialect.td"

/// Goes on with the chains in `leaves`, [leaves, sizes of the sum...]. Leaf l of the n terms begins
/// with what `leaves` has at l. There are min(L(n), size of axis 0) leaves; later ones stay as they
/// are. (C1) Axis 0 of `leaves` has 1, 2, 4, 8 or 16 elements.
class Pdg_LeavesOp<string mnemonic, dag operands, int updated, list<Trait> traits = []>
    : Pdg_PureOp<mnemonic, traits # [DeclareOpInterfaceMethods<UpdateOpInterface>]> {
  let arguments = !con(operands, (ins Pdg_Float:$leaves));
  let results = (outs Pdg_Float:$result);
  let hasVerifier = 1;
  let extraClassDefinition = shapeDefinition # [{
    unsigned $cppClass::getUpdatedOperand() { return }] # updated # [{; }
    ::mlir::Type $cppClass::elementOf(Adaptor op) {
      return ::mlir::getElementTypeOrSelf(op.getLeaves().getType());
    }
    ::mlir::LogicalResult $cppClass::vjp(::mlir::OpBuilder &, ::pdg::Reverse &) {
      return emitOpError("is made after gradients are taken");
    }
  }];
}

def Pdg_ContractLeavesOp : Pdg_LeavesOp<"contract_leaves",
    (ins StrAttr:$rule, Pdg_Float:$lhs, Pdg_Float:$rhs, UnitAttr:$isCut), 2,
    [SameOperandsElementType, DeclareOpInterfaceMethods<ContractionOpInterface>]> {
  let summary = "A `pdg.contract` that goes on with the chains of others";
  let description = [{
    With `cut` the first summed index is axis 0 of both operands (only batches may be before it) and
    is cut into leaves (C2); without it all terms go to leaf 0.

    ```mlir
    // lhs = [[1], [2]], rhs = [[3], [4]], leaves = [[[10]]] -> [[[21]]]
    %y = pdg.contract_leaves "nk,nj->kj" %lhs, %rhs cut onto %leaves
        : tensor<2x1xf32>, tensor<2x1xf32>, tensor<1x1x1xf32>
    ```
  }];
  let assemblyFormat = [{
    $rule $lhs `,` $rhs (`cut` $isCut^)? `onto` $leaves attr-dict
        `:` type($lhs) `,` type($rhs) `,` type($leaves)
  }];
}

def Pdg_SumLeavesOp : Pdg_LeavesOp<"sum_leaves", (ins Pdg_Float:$x), 1,
    [SameOperandsElementType, DeclareOpInterfaceMethods<ReductionOpInterface>]> {
  let summary = "A `pdg.sum` over axis 0 that goes on with the chains of others";
  let description = [{
    A leaf of a vector (no other axes) is summed by 16 lanes, and their sum is one term of its
    chain.

    ```mlir
    // x = [[1, 2], [3, 4]], leaves = [[10, 20]] -> [[14, 26]]
    %y = pdg.sum_leaves %x onto %leaves : tensor<2x2xf32>, tensor<1x2xf32>
    ```
  }];
  let assemblyFormat = "$x `onto` $leaves attr-dict `:` type($x) `,` type($leaves)";
}

def Pdg_ScatterLeavesOp : Pdg_LeavesOp<"scatter_leaves", (ins Pdg_Int:$ids, Pdg_Float:$rows), 2,
    [DeclareOpInterfaceMethods<ScatterOpInterface>]> {
  let summary = "A `pdg.scatter_add` that goes on with the chains of others";
  let description = [{
    A row that a leaf does not touch stays as it is. No chain of additions from +0 is ever -0, so a
    row of zeros joins like an absent one.

    ```mlir
    // ids = [1, 1], rows = [[2], [3]], leaves = [[[0], [10]]] -> [[[0], [15]]]
    %y = pdg.scatter_leaves %rows at %ids onto %leaves
        : tensor<2xi64>, tensor<2x1xf32>, tensor<1x2x1xf32>
    ```
  }];
  let assemblyFormat = [{
    $rows `at` $ids `onto` $leaves attr-dict `:` type($ids) `,` type($rows) `,` type($leaves)
  }];
}

def Pdg_TakeRowOp : Pdg_ElementOp<"take_row", [DeclareOpInterfaceMethods<CheckedOpInterface>]> {
  let summary = "The elements at position `at` of an axis, which vanishes: leaves of one row";
  let description = [{
    An index out of range stops the run.

    ```mlir
    %one = pdg.constant dense<1> : tensor<i64>
    // [[1, 2], [3, 4]] -> [2, 4]
    %y = pdg.take_row %x at %one axis 1 : tensor<2x2xf32>, tensor<i64>
    ```
  }];
  let arguments = (ins Pdg_Any:$x, Pdg_Int:$at, I64Attr:$axis);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = "$x `at` $at `axis` $axis attr-dict `:` type($x) `,` type($at)";
  let hasVerifier = 1;
}

def Pdg_PutSliceOp : Pdg_PureOp<"put_slice", [DeclareOpInterfaceMethods<UpdateOpInterface>,
    DeclareOpInterfaceMethods<LowerableOpInterface>]> {
  let summary = "x with `part` at the positions `begin`, `begin` + `step`, ... of an axis";
  let description = [{
    How leaves of a part go back to those of the whole. (C1) step > 0, x and part have the same
    element type. `begin` is in range.

    ```mlir
    %one = pdg.constant dense<1> : tensor<i64>
    // x = [[1, 2, 3]], part = [[8, 9]] -> [[1, 8, 9]]
    %y = pdg.put_slice %x, %part at %one axis 1 : tensor<1x3xf32>, tensor<1x2xf32>
    ```
  }];
  let arguments = (ins Pdg_Any:$x, Pdg_Any:$part, Pdg_Size:$begin, I64Attr:$axis,
                       DefaultValuedAttr<I64Attr, "1">:$step);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = [{
    $x `,` $part `at` $begin `axis` $axis (`step` $step^)? attr-dict `:` type($x) `,` type($part)
  }];
  let hasVerifier = 1;
}

def Pdg_JoinLeavesOp : Pdg_ElementOp<"join_leaves"> {
  let summary = "The sum of leaves, [leaves, ...] to [...]: a balanced tree, neighbours first";
  let description = [{
    The sum is added to +0, so that leaves of zeros may be absent: the result is never -0.
    (C1) Axis 0 has 1, 2, 4, 8 or 16 elements.

    ```mlir
    // [[1, 2], [3, 4]] -> [4, 6]
    %y = pdg.join_leaves %x : tensor<2x2xf32>
    ```
  }];
  let arguments = (ins Pdg_Float:$x);
  let results = (outs Pdg_Float:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 1;
}
