// Folds of one axis. A sum over several axes is a reshape that joins neighbouring axes, and one op
// for each group, axis 0 last.
// SPDX-License-Identifier: Apache-2.0
include "ir/dialect.td"

/// Folds axis `axis` of `x`. `kind` is an enumerator of ReductionKind.
class Pdg_ReductionOp<string mnemonic, string kind, TypeConstraint type, string element,
                      list<Trait> traits = []>
    : Pdg_PureOp<mnemonic, traits # [DeclareOpInterfaceMethods<ReductionOpInterface>]> {
  let arguments = (ins type:$x, I64Attr:$axis);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = "$x `axis` $axis attr-dict `:` type($x)";
  let extraClassDefinition = shapeDefinition # [{
    ::mlir::FailureOr<::pdg::Dims> $cppClass::dimsOf(Adaptor op, ::llvm::ArrayRef<::pdg::Dims> dims,
                                                     ::pdg::ShapeRule &rule) {
      return ::pdg::dropAxis(dims[0], op.getAxis(), rule);
    }
    ::mlir::Type $cppClass::elementOf(Adaptor op) {
      [[maybe_unused]] ::mlir::Type operand = ::mlir::getElementTypeOrSelf(op.getX());
      return }] # element # [{;
    }
    ::pdg::ShardingRule $cppClass::getShardingRule() { return ::pdg::reductionSharding(*this); }
    int64_t $cppClass::getReducedAxis() { return getAxis(); }
    ::pdg::ReductionKind $cppClass::getReductionKind() { return ::pdg::ReductionKind::}] # kind # [{; }
    ::mlir::LogicalResult $cppClass::evaluate(::pdg::Evaluation &eval) {
      return ::pdg::evaluateReduction(*this, eval);
    }
  }];
}

def Pdg_SumOp : Pdg_ReductionOp<"sum", "Sum", Pdg_Number, "operand",
    [DeclareOpInterfaceMethods<LeavesOpInterface>]> {
  let summary = "Sum over one axis";
  let description = [{
    Seen as [outer, n, inner]. Axis 0: L(n) leaves of equal length joined by a balanced tree,
    neighbours first; each leaf is a chain, of a vector (no other axes) 16 lanes. The last axis:
    element i goes to lane i mod 16, the lanes are joined as a balanced tree, blocks of 4096
    elements are joined in order. Other axes: a chain. Chains start at +0; an empty sum is +0.

    ```mlir
    // [[1, 2], [3, 4]] -> [4, 6]
    %y = pdg.sum %x axis 0 : tensor<2x2xf32>
    ```
  }];
}
def Pdg_ReduceMaxOp : Pdg_ReductionOp<"reduce_max", "Max", Pdg_Number, "operand"> {
  let summary = "Largest element over one axis; NaN wins; all of the gradient goes to the first";
  let description = [{
    Of no elements: the lowest number, -inf for floats.

    ```mlir
    // [[1, 2], [3, 4]] -> [2, 4]
    %y = pdg.reduce_max %x axis 1 : tensor<2x2xf32>
    ```
  }];
}
def Pdg_ReduceMinOp : Pdg_ReductionOp<"reduce_min", "Min", Pdg_Number, "operand"> {
  let summary = "Smallest element over one axis; NaN wins; all of the gradient goes to the first";
  let description = [{
    Of no elements: the highest number, +inf for floats.

    ```mlir
    // [[1, 2], [3, 4]] -> [1, 3]
    %y = pdg.reduce_min %x axis 1 : tensor<2x2xf32>
    ```
  }];
}
def Pdg_ArgMaxOp : Pdg_ReductionOp<"argmax", "ArgMax", Pdg_Number,
    "::mlir::IntegerType::get(op.getX().getContext(), 64)"> {
  let summary = "Index of the largest element over one axis: the least such index; NaN wins";
  let description = [{
    Of no elements: 0.

    ```mlir
    // [1, 5, 5] -> 1
    %y = pdg.argmax %x axis 0 : tensor<3xf32>
    ```
  }];
}
def Pdg_ArgMinOp : Pdg_ReductionOp<"argmin", "ArgMin", Pdg_Number,
    "::mlir::IntegerType::get(op.getX().getContext(), 64)"> {
  let summary = "Index of the smallest element over one axis: the least such index; NaN wins";
  let description = [{
    Of no elements: 0.

    ```mlir
    // [5, 1, 1] -> 1
    %y = pdg.argmin %x axis 0 : tensor<3xf32>
    ```
  }];
}
