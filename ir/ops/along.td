// Reading and writing at indices along one axis: all operands have the axes of x, and their sizes
// but for that of the axis. An index out of range stops the run.
// SPDX-License-Identifier: Apache-2.0
include "ir/dialect.td"
include "ir/order_interfaces.td"

def Pdg_TakeAlongOp : Pdg_ElementOp<"take_along", [DeclareOpInterfaceMethods<CheckedOpInterface>]> {
  let summary = "result[.., i, ..] = x[.., ids[.., i, ..], ..] along an axis";
  let description = [{
    The gradient is a `pdg.add_along`: indices may occur more than once.

    ```mlir
    // x = [[1, 2, 3]], ids = [[2, 2]] -> [[3, 3]]
    %y = pdg.take_along %x, %ids axis 1 : tensor<1x3xf32>, tensor<1x2xi64>
    ```
  }];
  let arguments = (ins Pdg_Any:$x, Pdg_Int:$ids, I64Attr:$axis);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = "$x `,` $ids `axis` $axis attr-dict `:` type($x) `,` type($ids)";
}

class Pdg_PlaceOp<string mnemonic, TypeConstraint type, string adds>
    : Pdg_PureOp<mnemonic, [DeclareOpInterfaceMethods<CheckedOpInterface>,
                            PlaceOpInterface]> {
  let arguments = (ins type:$x, Pdg_Int:$ids, type:$values, I64Attr:$axis);
  let results = (outs Pdg_Any:$result);
  let assemblyFormat = [{
    $x `,` $ids `,` $values `axis` $axis attr-dict `:` type($x) `,` type($ids) `,` type($values)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = shapeDeclaration # [{
    ::pdg::PlaceForm getPlaceForm() { return {static_cast<int64_t>(getAxis()), }] # adds # [{}; }
  }];
  let extraClassDefinition = shapeDefinition # [{
    ::mlir::FailureOr<::pdg::Dims> $cppClass::dimsOf(Adaptor op, ::llvm::ArrayRef<::pdg::Dims> dims,
                                                     ::pdg::ShapeRule &rule) {
      return ::pdg::placeDims(op.getAxis(), dims, rule);
    }
    ::mlir::Type $cppClass::elementOf(Adaptor op) {
      return ::mlir::getElementTypeOrSelf(op.getX());
    }
    ::mlir::LogicalResult $cppClass::verify() { return ::pdg::verifyPlace(*this); }
    ::std::optional<::pdg::RunCheck> $cppClass::getRunCheck() {
      return ::pdg::RunCheck{::pdg::RunCheck::IndexInRange, 1, 0, static_cast<int64_t>(getAxis())};
    }
    ::pdg::ShardingRule $cppClass::getShardingRule() {
      return ::pdg::placeSharding(*this, getAxis());
    }
    ::mlir::LogicalResult $cppClass::evaluate(::pdg::Evaluation &eval) {
      return ::pdg::evaluatePlace(getPlaceForm(), eval);
    }
  }];
}

def Pdg_PutAlongOp : Pdg_PlaceOp<"put_along", Pdg_Any, "false"> {
  let summary = "x with result[.., ids[.., i, ..], ..] = values[.., i, ..] along an axis";
  let description = [{
    Of values for the same place the last one stays. (C1) x and values have the same element type.

    ```mlir
    // x = [0, 0, 0], ids = [2, 0], values = [5, 6] -> [6, 0, 5]
    %y = pdg.put_along %x, %ids, %values axis 0 : tensor<3xf32>, tensor<2xi64>, tensor<2xf32>
    ```
  }];
}

def Pdg_AddAlongOp : Pdg_PlaceOp<"add_along", Pdg_Number, "true"> {
  let summary = "x with values[.., i, ..] added to result[.., ids[.., i, ..], ..] along an axis";
  let description = [{
    A chain for each place: x, then the values in increasing i. (C1) x and values have the same
    element type.

    ```mlir
    // x = [0, 0, 1], ids = [2, 2], values = [5, 6] -> [0, 0, 12]
    %y = pdg.add_along %x, %ids, %values axis 0 : tensor<3xf32>, tensor<2xi64>, tensor<2xf32>
    ```
  }];
}
