// Ops that move elements to other places.
// SPDX-License-Identifier: Apache-2.0
include "ir/dialect.td"

def Pdg_TransposeOp : Pdg_ElementOp<"transpose"> {
  let summary = "Reorders axes: axis k of the result is axis permutation[k] of x";
  let arguments = (ins Pdg_Any:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = "$x $permutation attr-dict `:` type($x)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Pdg_SliceOp : Pdg_ElementOp<"slice"> {
  let summary = "The elements from `offset` on, `size` of them, along one axis";
  let description = [{
    (C1) 0 <= offset and offset + size <= the axis. A size of -1 means up to the end.
  }];
  let arguments = (ins Pdg_Any:$x, I64Attr:$axis, I64Attr:$offset, I64Attr:$size);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = "$x `axis` $axis `from` $offset `size` $size attr-dict `:` type($x)";
}

def Pdg_PadOp : Pdg_ElementOp<"pad"> {
  let summary = "Adds zeros before and after along one axis";
  let arguments = (ins Pdg_Any:$x, I64Attr:$axis, I64Attr:$before, I64Attr:$after);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = "$x `axis` $axis `before` $before `after` $after attr-dict `:` type($x)";
}

def Pdg_ConcatOp : Pdg_ElementOp<"concat", [SameOperandsElementType]> {
  let summary = "The elements of x, then those of y, along one axis";
  let arguments = (ins Pdg_Any:$x, Pdg_Any:$y, I64Attr:$axis);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = "$x `,` $y `axis` $axis attr-dict `:` type($x) `,` type($y)";
}

def Pdg_UpdateRowOp : Pdg_PureOp<"update_row", [DeclareOpInterfaceMethods<UpdateOpInterface>,
    DeclareOpInterfaceMethods<LowerableOpInterface>]> {
  let summary = "x with `row` at position `at` of axis 0";
  let description = [{
    How values of a loop are kept for its gradient. `at` is a scalar i64 in range.
  }];
  let arguments = (ins Pdg_Any:$x, Pdg_Any:$row, Pdg_Size:$at);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = "$x `,` $row `at` $at attr-dict `:` type($x) `,` type($row)";
}
