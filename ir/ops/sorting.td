// Order of elements.
// SPDX-License-Identifier: Apache-2.0
include "ir/dialect.td"
include "ir/order_interfaces.td"

def Pdg_ArgSortOp : Pdg_PureOp<"argsort", [SortOpInterface]> {
  let summary = "Positions of the elements in sorted order, along an axis";
  let description = [{
    result[.., i, ..] is the position of the i-th smallest element, with `descending` of the i-th
    largest. Equal elements (-0 and +0 are equal) keep their order; NaN comes last in both
    directions. Sorted values are a `pdg.take_along` at these positions.

    ```mlir
    // [3, 1, 2] -> [1, 2, 0]
    %order = pdg.argsort %x axis 0 : tensor<3xf32>
    ```
  }];
  let arguments = (ins Pdg_Any:$x, I64Attr:$axis, UnitAttr:$descending);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = "$x `axis` $axis (`descending` $descending^)? attr-dict `:` type($x)";
  let extraClassDeclaration = shapeDeclaration # [{
    ::pdg::SortForm getSortForm() { return {static_cast<int64_t>(getAxis()), getDescending()}; }
  }];
}
