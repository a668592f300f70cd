// Convolutions and pooling over the last two axes of [examples, channels, height, width].
// SPDX-License-Identifier: Apache-2.0
include "ir/dialect.td"

/// The attributes of a window that moves over a picture.
class Pdg_WindowOp<string mnemonic, dag operands, list<Trait> traits = []>
    : Pdg_PureOp<mnemonic, traits> {
  let arguments = !con(operands, (ins DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding));
}

def Pdg_Conv2dOp : Pdg_WindowOp<"conv2d", (ins Pdg_Float:$x, Pdg_Float:$w),
    [SameOperandsElementType, DeclareOpInterfaceMethods<ConvolutionOpInterface>]> {
  let summary = "Cross-correlation: out[n,o,i,j] = sum x[n,c,i*s+u-p,j*s+v-p] w[o,c,u,v]";
  let description = [{
    One chain of fused multiply-adds from +0 over (c, u, v), each increasing; positions outside the
    picture are zeros. (C1) Both operands have four axes, `stride` and `padding` two numbers.
  }];
  let results = (outs Pdg_Float:$result);
  let assemblyFormat =
      "$x `,` $w `stride` $stride `padding` $padding attr-dict `:` type($x) `,` type($w)";
}

def Pdg_Conv2dInputGradOp : Pdg_WindowOp<"conv2d_input_grad",
    (ins Pdg_Float:$g, Pdg_Float:$w, Pdg_Float:$x),
    [SameOperandsElementType, DeclareOpInterfaceMethods<ConvolutionOpInterface>]> {
  let summary = "Cotangent of the picture of a conv2d; x gives the sizes";
  let description = [{
    The sum over the window positions (u, v), row by row from +0, of chains of fused multiply-adds
    over the output channels from +0.
  }];
  let results = (outs Pdg_Float:$result);
  let assemblyFormat = [{
    $g `,` $w `like` $x `stride` $stride `padding` $padding attr-dict
        `:` type($g) `,` type($w) `,` type($x)
  }];
}

def Pdg_Conv2dWeightGradOp : Pdg_WindowOp<"conv2d_weight_grad",
    (ins Pdg_Float:$x, Pdg_Float:$g, Pdg_Float:$w),
    [SameOperandsElementType, DeclareOpInterfaceMethods<ConvolutionOpInterface>]> {
  let summary = "Cotangent of the weights of a conv2d; w gives the sizes";
  let description = [{
    The examples are cut into L(n) leaves; each leaf is a chain of fused multiply-adds from +0 over
    (example, row, column) of the output; a balanced tree joins them, neighbours first.
  }];
  let results = (outs Pdg_Float:$result);
  let assemblyFormat = [{
    $x `,` $g `like` $w `stride` $stride `padding` $padding attr-dict
        `:` type($x) `,` type($g) `,` type($w)
  }];
}

def Pdg_MaxPool2dOp : Pdg_WindowOp<"max_pool2d",
    (ins Pdg_Float:$x, DenseI64ArrayAttr:$window),
    [DeclareOpInterfaceMethods<ElementOpInterface, ["emitElement"]>]> {
  let summary = "Largest element of each window; NaN wins; padding never wins";
  let results = (outs Pdg_Float:$result);
  let assemblyFormat = [{
    $x `window` $window `stride` $stride `padding` $padding attr-dict `:` type($x)
  }];
}

def Pdg_MaxPool2dGradOp : Pdg_WindowOp<"max_pool2d_grad",
    (ins Pdg_Float:$g, Pdg_Float:$x, DenseI64ArrayAttr:$window),
    [SameOperandsElementType, DeclareOpInterfaceMethods<ElementOpInterface, ["emitElement"]>]> {
  let summary = "Cotangent of the picture of a max_pool2d: to the first largest of each window";
  let description = [{
    Where windows overlap, an element sums its windows in the order of the output, from +0.
  }];
  let results = (outs Pdg_Float:$result);
  let assemblyFormat = [{
    $g `,` $x `window` $window `stride` $stride `padding` $padding attr-dict
        `:` type($g) `,` type($x)
  }];
}
