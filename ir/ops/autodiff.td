// Gradients as the front end writes them; pdg-differentiate replaces them.
// SPDX-License-Identifier: Apache-2.0
include "ir/attrs.td"
include "ir/ops/elementwise_class.td"

def Pdg_GradientOp : Pdg_Op<"gradient", [Pure]> {
  let summary = "The gradient of a scalar for variables and values";
  let description = [{
    One result for each name in `names` (in all the reads that the loss depends on), then one for
    each value in `wrt`.

    ```mlir
    %x = pdg.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %square = pdg.mul %x, %x : tensor<2xf32>, tensor<2xf32>
    %loss = pdg.sum %square axis 0 : tensor<2xf32>
    // -> [2, 4]
    %g = pdg.gradient %loss of [] %x : tensor<2xf32> : tensor<f32> -> tensor<2xf32>
    ```
  }];
  let arguments = (ins Pdg_Float:$loss, Pdg_Names:$names, Variadic<Pdg_Any>:$wrt);
  let results = (outs Variadic<Pdg_Any>:$results);
  let assemblyFormat = [{
    $loss `of` $names ($wrt^ `:` type($wrt))? attr-dict `:` type($loss) `->` type($results)
  }];
  let hasVerifier = 1;
}

def Pdg_StopGradientOp : Pdg_PureOp<"stop_gradient",
    [DeclareOpInterfaceMethods<ViewOpInterface>]> {
  let summary = "x; nothing flows back through it";
  let description = [{
    ```mlir
    // [1, 2] -> [1, 2]
    %y = pdg.stop_gradient %x : tensor<2xf32>
    ```
  }];
  let arguments = (ins Pdg_Any:$x);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def Pdg_ContributeOp : Pdg_BinaryOp<"contribute", "x + y", "g", "g", OnFloats> {
  let summary = "x + y: what uses contribute to a gradient";
  let description = [{
    The reverse of a loop has one for each use of a value from outside: x is carried, from zeros.
    When all gradients are taken, pdg-differentiate lets the contributions of all iterations share
    leaves (`LeavesOpInterface`), and makes additions of what is left.

    ```mlir
    // [1, 2], [3, 4] -> [4, 6]
    %z = pdg.contribute %x, %y : tensor<2xf32>, tensor<2xf32>
    ```
  }];
}
