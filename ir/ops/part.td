// Parts of an axis: what the slices of a batch are made of.
// SPDX-License-Identifier: Apache-2.0
include "ir/dialect.td"

def Pdg_PartBeginOp : Pdg_PureOp<"part_begin", [DeclareOpInterfaceMethods<LowerableOpInterface>]> {
  let summary = "Where part `part` of `of` parts of `n` elements begins";
  let description = [{
    Part r has the elements from floor(r n / of) up to where part r + 1 begins. With `leaves` it has
    whole leaves of a sum over the n elements: those from floor(r L(n) / of) on, perhaps none.
    Part `of` begins at n. With `plus %k` it is part `part` + k, where k is known when the program
    runs: each trainer has a part of its own.

    (C1) 0 <= part <= of <= 65536, and there is a part. A negative n counts as 0, a part after the
    last as `of`.

    ```mlir
    // n = 64: the second of two halves begins at 32
    %begin = pdg.part_begin %n part 1 of 2 leaves
    ```
  }];
  let arguments = (ins Pdg_Size:$n, I64Attr:$part, Optional<Pdg_Size>:$plus, I64Attr:$of,
                       UnitAttr:$leaves);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = [{
    $n `part` $part (`plus` $plus^)? `of` $of (`leaves` $leaves^)? attr-dict
  }];
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Pdg_PartOp : Pdg_ElementOp<"part"> {
  let summary = "`size` elements from `begin` on along one axis, known when the program runs";
  let description = [{
    Both are not negative, and all positions are inside the axis; otherwise the run stops.

    ```mlir
    // [0, 1, 2, 3], begin = 1, size = 2 -> [1, 2]
    %y = pdg.part %x axis 0 from %begin size %size : tensor<4xf32>
    ```
  }];
  let arguments = (ins Pdg_Stored:$x, Pdg_Size:$begin, Pdg_Size:$size, I64Attr:$axis);
  let results = (outs Pdg_Stored:$result);
  let assemblyFormat = "$x `axis` $axis `from` $begin `size` $size attr-dict `:` type($x)";
}
