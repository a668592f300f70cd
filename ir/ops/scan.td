// Folds of an axis that keep every step.
// SPDX-License-Identifier: Apache-2.0
include "ir/dialect.td"
include "ir/order_interfaces.td"

class Pdg_ScanOp<string mnemonic, list<Trait> traits = []>
    : Pdg_PureOp<mnemonic, traits # [ScanOpInterface]> {
  let results = (outs Pdg_Any:$result);
  let extraClassDefinition = shapeDefinition # [{
    ::mlir::FailureOr<::pdg::Dims> $cppClass::dimsOf(Adaptor op, ::llvm::ArrayRef<::pdg::Dims> dims,
                                                     ::pdg::ShapeRule &rule) {
      if (failed(::pdg::checkAxis(op.getAxis(), dims[0].size(), rule)))
        return ::mlir::failure();
      return ::pdg::sameDims(dims, rule);
    }
    ::mlir::Type $cppClass::elementOf(Adaptor op) {
      return ::mlir::getElementTypeOrSelf(op.getOperands().front());
    }
    ::pdg::ShardingRule $cppClass::getShardingRule() {
      ::pdg::ShardingRule rule = ::pdg::elementwiseSharding(*this);
      rule.kinds[getAxis()] = ::pdg::FactorKind::Whole;
      return rule;
    }
    ::mlir::LogicalResult $cppClass::evaluate(::pdg::Evaluation &eval) {
      return ::pdg::evaluateScan(getScanForm(), eval);
    }
  }];
}

/// A scan of one operand. `kind` is an enumerator of ScanForm::Kind.
class Pdg_CumulativeOp<string mnemonic, string kind> : Pdg_ScanOp<mnemonic> {
  let arguments = (ins Pdg_Number:$x, I64Attr:$axis, UnitAttr:$exclusive, UnitAttr:$reverse);
  let assemblyFormat = [{
    $x `axis` $axis (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict `:` type($x)
  }];
  let extraClassDeclaration = shapeDeclaration # [{
    ::pdg::ScanForm getScanForm() {
      return {::pdg::ScanForm::}] # kind # [{, static_cast<int64_t>(getAxis()), getExclusive(),
              getReverse()};
    }
  }];
}

def Pdg_CumsumOp : Pdg_CumulativeOp<"cumsum", "Sum"> {
  let summary = "Sums of the elements up to each one along an axis";
  let description = [{
    A chain in increasing position from +0 (`reverse`: in decreasing position): the result at i is
    the chain's value after x[i], with `exclusive` before it. Integers wrap.

    ```mlir
    // [1, 2, 3] -> [1, 3, 6], exclusive [0, 1, 3], reverse [6, 5, 3]
    %y = pdg.cumsum %x axis 0 : tensor<3xi64>
    ```
  }];
}

def Pdg_CumprodOp : Pdg_CumulativeOp<"cumprod", "Prod"> {
  let summary = "Products of the elements up to each one along an axis";
  let description = [{
    A chain in increasing position from 1 (`reverse`: in decreasing position); `exclusive` leaves
    out the element itself. The gradient divides by nothing, so zeros are no exception.

    ```mlir
    // [1, 2, 3] -> [1, 2, 6], exclusive [1, 1, 2]
    %y = pdg.cumprod %x axis 0 : tensor<3xf32>
    ```
  }];
}

def Pdg_LinearScanOp : Pdg_ScanOp<"linear_scan", [SameOperandsElementType]> {
  let summary = "y[i] = a[i] * y[i-1] + b[i] along an axis";
  let description = [{
    The first is b[0]; a[0] is not read. Product and sum are rounded each. With `reverse` the walk
    starts at the end: y[i] = a[i] * y[i+1] + b[i].

    ```mlir
    // a = [9, 2, 2], b = [1, 1, 1] -> [1, 3, 7]
    %y = pdg.linear_scan %a, %b axis 0 : tensor<3xf32>, tensor<3xf32>
    ```
  }];
  let arguments = (ins Pdg_Number:$a, Pdg_Number:$b, I64Attr:$axis, UnitAttr:$reverse);
  let assemblyFormat = [{
    $a `,` $b `axis` $axis (`reverse` $reverse^)? attr-dict `:` type($a) `,` type($b)
  }];
  let extraClassDeclaration = shapeDeclaration # [{
    ::pdg::ScanForm getScanForm() {
      return {::pdg::ScanForm::Linear, static_cast<int64_t>(getAxis()), false, getReverse()};
    }
  }];
}
