// Convolutions over the last two axes of [examples, channels, height, width].
// SPDX-License-Identifier: Apache-2.0
include "ir/ops/window_class.td"

/// Weights are [filters, channels of a group, height, width]: filter o sees the channels of group
/// o // (filters / groups) only.
class Pdg_ConvolutionOp<string mnemonic, dag operands, list<Trait> traits = []>
    : Pdg_WindowOp<mnemonic, operands, traits #
        [SameOperandsElementType, DeclareOpInterfaceMethods<ConvolveOpInterface>]> {
  let arguments = !con(operands, (ins DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding,
      DenseI64ArrayAttr:$dilation, I64Attr:$groups));
  let results = (outs Pdg_Float:$result);
}

def Pdg_Conv2dOp : Pdg_ConvolutionOp<"conv2d",
    (ins Pdg_Float:$x, Pdg_Float:$w, Optional<Pdg_Float>:$bias, UnitAttr:$relu)> {
  let summary = "Cross-correlation: out[n,o,i,j] = sum x[n,c,i*s+u*d-p,j*s+v*d-p] w[o,c,u,v]";
  let description = [{
    One chain of fused multiply-adds from +0 over (c, u, v), each increasing, where c counts the
    channels of the group; positions outside the picture are zeros. Then `bias[o]` is added, and
    with `relu` the result is `maximum(it, 0)`; each rounds by itself. Pictures, weights: four axes
    (C1); height, width and the sizes of the weights are known when compiling (C2).

    ```mlir
    %y = pdg.conv2d %x, %w bias %b stride [1, 1] padding [2, 2, 2, 2] dilation [1, 1] groups 1
        : tensor<?x3x28x28xf32>, tensor<8x3x5x5xf32>, tensor<8xf32> // tensor<?x8x28x28xf32>
    ```
  }];
  let assemblyFormat = [{
    $x `,` $w (`bias` $bias^)? (`relu` $relu^)? `stride` $stride `padding` $padding
        `dilation` $dilation `groups` $groups attr-dict
        `:` type($x) `,` type($w) (`,` type($bias)^)?
  }];
}

def Pdg_Conv2dInputGradOp : Pdg_ConvolutionOp<"conv2d_input_grad",
    (ins Pdg_Float:$g, Pdg_Float:$w, DenseI64ArrayAttr:$picture)> {
  let summary = "Cotangent of the picture of a conv2d, which is a transposed convolution";
  let description = [{
    `picture` is the height and width of the result. An element is the sum over the window positions
    (u, v), row by row from +0, of chains of fused multiply-adds over the filters of its group from
    +0.

    ```mlir
    %gx = pdg.conv2d_input_grad %g, %w picture [28, 28] stride [1, 1] padding [2, 2, 2, 2]
        dilation [1, 1] groups 1
        : tensor<?x8x28x28xf32>, tensor<8x3x5x5xf32> // tensor<?x3x28x28xf32>
    ```
  }];
  let assemblyFormat = [{
    $g `,` $w `picture` $picture `stride` $stride `padding` $padding `dilation` $dilation
        `groups` $groups attr-dict `:` type($g) `,` type($w)
  }];
}

def Pdg_Conv2dWeightGradOp : Pdg_ConvolutionOp<"conv2d_weight_grad",
    (ins Pdg_Float:$x, Pdg_Float:$g, DenseI64ArrayAttr:$window),
    [DeclareOpInterfaceMethods<LeavesOpInterface>]> {
  let summary = "Cotangent of the weights of a conv2d; window is their height and width";
  let description = [{
    The examples are cut into L(n) leaves; each leaf is a chain of fused multiply-adds from +0 over
    (example, row, column) of the output; a balanced tree joins them, neighbours first.

    ```mlir
    %gw = pdg.conv2d_weight_grad %x, %g window [5, 5] stride [1, 1] padding [2, 2, 2, 2]
        dilation [1, 1] groups 1
        : tensor<?x3x28x28xf32>, tensor<?x8x28x28xf32> // tensor<8x3x5x5xf32>
    ```
  }];
  let assemblyFormat = [{
    $x `,` $g `window` $window `stride` $stride `padding` $padding `dilation` $dilation
        `groups` $groups attr-dict `:` type($x) `,` type($g)
  }];
}

def Pdg_Conv2dWeightLeavesOp : Pdg_ConvolutionOp<"conv2d_weight_leaves",
    (ins Pdg_Float:$x, Pdg_Float:$g, Pdg_Float:$leaves, DenseI64ArrayAttr:$window),
    [DeclareOpInterfaceMethods<UpdateOpInterface>]> {
  let summary = "A `pdg.conv2d_weight_grad` that goes on with the chains of others";
  let description = [{
    As the ops of leaves.td do: `leaves` has an axis of 1, 2, 4, 8 or 16 leaves (C3) before those of
    the weights.

    ```mlir
    %y = pdg.conv2d_weight_leaves %x, %g onto %leaves window [5, 5] stride [1, 1]
        padding [2, 2, 2, 2] dilation [1, 1] groups 1
        : tensor<?x3x28x28xf32>, tensor<?x8x28x28xf32>, tensor<16x8x3x5x5xf32>
    ```
  }];
  let assemblyFormat = [{
    $x `,` $g `onto` $leaves `window` $window `stride` $stride `padding` $padding `dilation`
        $dilation `groups` $groups attr-dict `:` type($x) `,` type($g) `,` type($leaves)
  }];
  let hasVerifier = 1;
}
