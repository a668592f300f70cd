// Reading and adding at positions that are values. An index out of range stops the run.
// SPDX-License-Identifier: Apache-2.0
include "ir/dialect.td"
include "ir/placing_interface.td"

def Pdg_GatherOp : Pdg_ElementOp<"gather", [DeclareOpInterfaceMethods<CheckedOpInterface>]> {
  let summary = "Rows of a table: result[i.., j..] = table[ids[i..], j..]";
  let description = [{
    The gradient of the table is a `pdg.scatter_add`.

    ```mlir
    // table = [[1, 2], [3, 4]], ids = [1, 1] -> [[3, 4], [3, 4]]
    %y = pdg.gather %table, %ids : tensor<2x2xf32>, tensor<2xi64>
    ```
  }];
  let arguments = (ins Pdg_Any:$table, Pdg_Int:$ids);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = "$table `,` $ids attr-dict `:` type($table) `,` type($ids)";
}

def Pdg_ScatterAddOp : Pdg_PureOp<"scatter_add", [
    DeclareOpInterfaceMethods<ScatterOpInterface>,
    DeclareOpInterfaceMethods<LeavesOpInterface>,
    DeclareOpInterfaceMethods<PlacingOpInterface>]> {
  let summary = "Zeros of `rows` rows, with rows[i..] added at ids[i..]";
  let description = [{
    Axis 0 of `ids` is cut into L(n) leaves; inside a leaf contributions to a row are added in
    order of their position, starting from +0; the leaves that touch a row are joined by the
    balanced tree, an absent one moves its partner up.

    ```mlir
    // rows = [[1, 2], [3, 4]], ids = [0, 0] -> [[4, 6], [0, 0], [0, 0]]
    %y = pdg.scatter_add %rows at %ids into 3 : tensor<2xi64>, tensor<2x2xf32>
    ```
  }];
  let arguments = (ins Pdg_Int:$ids, Pdg_Float:$rows, I64Attr:$count);
  let results = (outs Pdg_Float:$result);
  let assemblyFormat = "$rows `at` $ids `into` $count attr-dict `:` type($ids) `,` type($rows)";
}

def Pdg_PickOp : Pdg_ElementOp<"pick", [DeclareOpInterfaceMethods<CheckedOpInterface>]> {
  let summary = "One element of the last axis: result[i..] = x[i.., ids[i..]]";
  let description = [{
    The gradient goes to the picked places.

    ```mlir
    // x = [[1, 2], [3, 4]], ids = [1, 0] -> [2, 3]
    %y = pdg.pick %x, %ids : tensor<2x2xf32>, tensor<2xi64>
    ```
  }];
  let arguments = (ins Pdg_Any:$x, Pdg_Int:$ids);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = "$x `,` $ids attr-dict `:` type($x) `,` type($ids)";
}
