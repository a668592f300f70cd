// Constants, sizes, and ops with a shape among their arguments.
// SPDX-License-Identifier: Apache-2.0
include "ir/attrs.td"
include "ir/placing_interface.td"

def Pdg_ConstantOp : Pdg_Op<"constant", [Pure, ConstantLike,
    AllTypesMatch<["value", "result"]>]> {
  let summary = "A value known when compiling";
  let description = [{
    ```mlir
    // -> [1.5, 2.5]
    %x = pdg.constant dense<[1.5, 2.5]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Pdg_DimOp : Pdg_PureOp<"dim", [DeclareOpInterfaceMethods<SizeOpInterface>,
    DeclareOpInterfaceMethods<LowerableOpInterface>]> {
  let summary = "The size of one axis, a scalar i64";
  let description = [{
    ```mlir
    // [[1, 2]] -> 2
    %n = pdg.dim %x axis 1 : tensor<1x2xf32>
    ```
  }];
  let arguments = (ins Pdg_Stored:$x, I64Attr:$axis);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = "$x `axis` $axis attr-dict `:` type($x)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

/// An op with a shape among its arguments: `[%n, 784]`, sizes known when compiling as numbers.
class Pdg_ShapeArgOp<string mnemonic, dag operands, list<Trait> traits = []>
    : Pdg_PureOp<mnemonic, traits> {
  let arguments = !con(operands, (ins Variadic<Pdg_Size>:$sizes, DenseI64ArrayAttr:$shape));
  let results = (outs Pdg_Stored:$result);
}

def Pdg_ReshapeOp : Pdg_ShapeArgOp<"reshape", (ins Pdg_Stored:$x),
    [DeclareOpInterfaceMethods<ViewOpInterface>,
     DeclareOpInterfaceMethods<PlacingOpInterface, ["isRearranged"]>]> {
  let summary = "The same elements, in the same order, in another shape";
  let description = [{
    The number of elements stays. No data moves.

    ```mlir
    %y = pdg.reshape %x to [%n, 784] : tensor<?x28x28xf32>
    ```
  }];
  let assemblyFormat = [{
    $x `to` custom<DynamicIndexList>($sizes, $shape) attr-dict `:` type($x)
  }];
  let hasFolder = 1;
}

def Pdg_BroadcastOp : Pdg_ShapeArgOp<"broadcast", (ins Pdg_Stored:$x), [
    DeclareOpInterfaceMethods<ElementOpInterface, ["emitElement", "isCheap", "isUniform"]>]> {
  let summary = "Repeats elements along axes that are missing or have size 1";
  let description = [{
    NumPy's rule: axes are matched from the last; a missing axis, or one whose size is 1 when
    compiling, is repeated. Any other must be equal.

    ```mlir
    // [1, 2] -> [[1, 2], [1, 2]]
    %y = pdg.broadcast %x to [2, 2] : tensor<2xf32>
    ```
  }];
  let assemblyFormat = [{
    $x `to` custom<DynamicIndexList>($sizes, $shape) attr-dict `:` type($x)
  }];
  let hasFolder = 1;
}

def Pdg_IotaOp : Pdg_ShapeArgOp<"iota", (ins TypeAttr:$element, I64Attr:$axis), [
    DeclareOpInterfaceMethods<ElementOpInterface, ["emitElement", "isCheap"]>]> {
  let summary = "The position along one axis";
  let description = [{
    (C1) The element type is i64.

    ```mlir
    // -> [[0, 1, 2], [0, 1, 2]]
    %y = pdg.iota i64 axis 1 to [2, 3]
    ```
  }];
  let assemblyFormat =
      "$element `axis` $axis `to` custom<DynamicIndexList>($sizes, $shape) attr-dict";
}
