// Ops that move elements to other places.
// SPDX-License-Identifier: Apache-2.0
include "ir/dialect.td"
include "ir/placing_interface.td"

def Pdg_TransposeOp : Pdg_ElementOp<"transpose", [
    DeclareOpInterfaceMethods<PlacingOpInterface, ["isRearranged"]>]> {
  let summary = "Reorders axes: axis k of the result is axis permutation[k] of x";
  let description = [{
    No axis is named twice.

    ```mlir
    %y = pdg.transpose %x [2, 0, 1] : tensor<2x3x4xf32> // tensor<4x2x3xf32>
    ```
  }];
  let arguments = (ins Pdg_Any:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = "$x $permutation attr-dict `:` type($x)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Pdg_SliceOp : Pdg_ElementOp<"slice"> {
  let summary = "Every step-th element from `offset` on, `size` of them, along one axis";
  let description = [{
    (C1) 0 <= offset and all positions are inside the axis. (C2) step > 0. A size of -1 means up to
    the end.

    ```mlir
    // [0, 1, 2, 3, 4] -> [1, 3]
    %y = pdg.slice %x axis 0 from 1 size 2 step 2 : tensor<5xf32>
    ```
  }];
  let arguments = (ins Pdg_Any:$x, I64Attr:$axis, I64Attr:$offset, I64Attr:$size,
                       DefaultValuedAttr<I64Attr, "1">:$step);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = [{
    $x `axis` $axis `from` $offset `size` $size (`step` $step^)? attr-dict `:` type($x)
  }];
  let hasFolder = 1;
}

def Pdg_PadOp : Pdg_ElementOp<"pad", [DeclareOpInterfaceMethods<PlacingOpInterface>]> {
  let summary = "Adds zeros before and after along one axis";
  let description = [{
    The elements are `step` apart, with zeros between them. (C1) Numbers of zeros are not negative.
    (C2) step > 0, and a size that only the run knows has a step of 1.

    ```mlir
    // [1, 2] -> [0, 1, 2, 0, 0]
    %y = pdg.pad %x axis 0 before 1 after 2 : tensor<2xf32>
    // [1, 2] -> [1, 0, 0, 2]
    %z = pdg.pad %x axis 0 before 0 after 0 step 3 : tensor<2xf32>
    ```
  }];
  let arguments = (ins Pdg_Any:$x, I64Attr:$axis, I64Attr:$before, I64Attr:$after,
                       DefaultValuedAttr<I64Attr, "1">:$step);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = [{
    $x `axis` $axis `before` $before `after` $after (`step` $step^)? attr-dict `:` type($x)
  }];
  let hasFolder = 1;
}

def Pdg_FlipOp : Pdg_PureOp<"flip", [
    DeclareOpInterfaceMethods<ElementOpInterface, ["emitElement", "isCheap"]>]> {
  let summary = "The elements in reverse order along one axis";
  let description = [{
    ```mlir
    // [1, 2, 3] -> [3, 2, 1]
    %y = pdg.flip %x axis 0 : tensor<3xf32>
    ```
  }];
  let arguments = (ins Pdg_Any:$x, I64Attr:$axis);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = "$x `axis` $axis attr-dict `:` type($x)";
  let hasFolder = 1;
}

def Pdg_ConcatOp : Pdg_ElementOp<"concat", [SameOperandsElementType]> {
  let summary = "The elements of x, then those of y, along one axis";
  let description = [{
    The other sizes are equal.

    ```mlir
    // [1, 2], [3] -> [1, 2, 3]
    %z = pdg.concat %x, %y axis 0 : tensor<2xf32>, tensor<1xf32>
    ```
  }];
  let arguments = (ins Pdg_Any:$x, Pdg_Any:$y, I64Attr:$axis);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = "$x `,` $y `axis` $axis attr-dict `:` type($x) `,` type($y)";
}

def Pdg_UpdateRowOp : Pdg_PureOp<"update_row", [DeclareOpInterfaceMethods<UpdateOpInterface>,
    DeclareOpInterfaceMethods<LowerableOpInterface>]> {
  let summary = "x with `row` at position `at` of axis 0";
  let description = [{
    How values of a loop are kept for its gradient. `at` is a scalar i64 in range.

    ```mlir
    %one = pdg.constant dense<1> : tensor<i64>
    // x = [[1, 2], [3, 4]], row = [5, 6] -> [[1, 2], [5, 6]]
    %y = pdg.update_row %x, %row at %one : tensor<2x2xf32>, tensor<2xf32>
    ```
  }];
  let arguments = (ins Pdg_Any:$x, Pdg_Any:$row, Pdg_Size:$at);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = "$x `,` $row `at` $at attr-dict `:` type($x) `,` type($row)";
}
