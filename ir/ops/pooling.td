// Pooling over the last two axes of [examples, channels, height, width].
// SPDX-License-Identifier: Apache-2.0
include "ir/ops/window_class.td"

/// Sizes and numbers are known when compiling, but for examples and channels; padding is smaller
/// than the window.
class Pdg_PoolingOp<string mnemonic, dag operands>
    : Pdg_WindowOp<mnemonic, operands,
        [SameOperandsElementType, DeclareOpInterfaceMethods<PoolOpInterface>]> {
  let results = (outs Pdg_Float:$result);
}

def Pdg_MaxPool2dOp : Pdg_PoolingOp<"max_pool2d",
    (ins Pdg_Float:$x, DenseI64ArrayAttr:$window)> {
  let summary = "Largest element of each window; NaN wins; padding never wins";
  let description = [{
    ```mlir
    %y = pdg.max_pool2d %x window [2, 2] stride [2, 2] padding [0, 0, 0, 0]
        : tensor<?x3x28x28xf32> // tensor<?x3x14x14xf32>
    ```
  }];
  let assemblyFormat = [{
    $x `window` $window `stride` $stride `padding` $padding attr-dict `:` type($x)
  }];
}

def Pdg_MaxPool2dAtOp : Pdg_PoolingOp<"max_pool2d_at",
    (ins Pdg_Float:$x, Pdg_Float:$y, DenseI64ArrayAttr:$window)> {
  let summary = "The element of y at the place of the largest element of each window of x";
  let description = [{
    The first one of equal elements, row by row; the first NaN, if there is one.

    ```mlir
    %z = pdg.max_pool2d_at %x, %y window [2, 2] stride [2, 2] padding [0, 0, 0, 0]
        : tensor<?x3x28x28xf32>, tensor<?x3x28x28xf32> // tensor<?x3x14x14xf32>
    ```
  }];
  let assemblyFormat = [{
    $x `,` $y `window` $window `stride` $stride `padding` $padding attr-dict
        `:` type($x) `,` type($y)
  }];
}

def Pdg_MaxPool2dGradOp : Pdg_PoolingOp<"max_pool2d_grad",
    (ins Pdg_Float:$g, Pdg_Float:$x, DenseI64ArrayAttr:$window)> {
  let summary = "Cotangent of the picture of a max_pool2d: to the first largest of each window";
  let description = [{
    Where windows overlap, an element sums its windows in the order of the output, from +0.

    ```mlir
    %gx = pdg.max_pool2d_grad %g, %x window [2, 2] stride [2, 2] padding [0, 0, 0, 0]
        : tensor<?x3x14x14xf32>, tensor<?x3x28x28xf32> // tensor<?x3x28x28xf32>
    ```
  }];
  let assemblyFormat = [{
    $g `,` $x `window` $window `stride` $stride `padding` $padding attr-dict
        `:` type($g) `,` type($x)
  }];
}

def Pdg_SumPool2dOp : Pdg_PoolingOp<"sum_pool2d",
    (ins Pdg_Float:$x, DenseI64ArrayAttr:$window)> {
  let summary = "Sum of each window, row by row from +0; padding counts as 0";
  let description = [{
    ```mlir
    %y = pdg.sum_pool2d %x window [2, 2] stride [2, 2] padding [0, 0, 0, 0]
        : tensor<?x3x28x28xf32> // tensor<?x3x14x14xf32>
    ```
  }];
  let assemblyFormat = [{
    $x `window` $window `stride` $stride `padding` $padding attr-dict `:` type($x)
  }];
}

def Pdg_SumPool2dGradOp : Pdg_PoolingOp<"sum_pool2d_grad",
    (ins Pdg_Float:$g, DenseI64ArrayAttr:$picture, DenseI64ArrayAttr:$window)> {
  let summary = "Cotangent of the picture of a sum_pool2d: each element sums its windows";
  let description = [{
    `picture` is the height and width of the result. The windows come in the order of the output,
    from +0.

    ```mlir
    %gx = pdg.sum_pool2d_grad %g picture [28, 28] window [2, 2] stride [2, 2] padding [0, 0, 0, 0]
        : tensor<?x3x14x14xf32> // tensor<?x3x28x28xf32>
    ```
  }];
  let assemblyFormat = [{
    $g `picture` $picture `window` $window `stride` $stride `padding` $padding attr-dict
        `:` type($g)
  }];
}
