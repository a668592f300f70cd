// The pdg dialect and the classes that its ops are made of.
// SPDX-License-Identifier: Apache-2.0
#ifndef PDG_IR_DIALECT_TD
#define PDG_IR_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "ir/interfaces.td"

def Pdg_Dialect : Dialect {
  let name = "pdg";
  let cppNamespace = "::pdg";
  let summary = "Graphs of tensors: what a .pdg script means, in the global view";
  let description = [{
    Values are builtin ranked tensors; a scalar is a tensor without axes. A `bool` is `i1`, a `u8`
    is `ui8`. A program is a module with variables, data sources and one `pdg.program`. Loops and
    conditions are ops with regions; blocks of the language are inlined before this dialect.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    /// Adds the ops of one group (ir/ops/<group>.td).
    template <class... Ops> void addGroup() { addOperations<Ops...>(); }
    void registerAttributes();
  }];
}

//===- Types ---------------------------------------------------------------===//

def Pdg_Float : Type<CPred<"::pdg::isFloatTensor($_self)">, "tensor of floats">;
def Pdg_Number : Type<CPred<"::pdg::isNumberTensor($_self)">, "tensor of numbers">;
def Pdg_Int : Type<CPred<"::pdg::isIntTensor($_self)">, "tensor of integers">;
def Pdg_Bool : Type<CPred<"::pdg::isBoolTensor($_self)">, "tensor of bool">;
/// What ops compute with: all element types but bf16, f16 and i8.
def Pdg_Any : Type<CPred<"::pdg::isPdgTensor($_self)">, "tensor of a pdg type">;
/// What variables, files and casts may hold: also bf16, f16 and i8.
def Pdg_Stored : Type<CPred<"::llvm::isa<::mlir::RankedTensorType>($_self) && "
                            "::pdg::toDType($_self).has_value()">,
                      "tensor of a pdg type, perhaps bf16, f16 or i8">;

/// A run-time size or counter: a scalar i64.
def Pdg_Size : Type<CPred<"::pdg::isSizeTensor($_self)">, "scalar i64 tensor">,
    BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI64Type())">;
/// A run-time condition: a scalar bool.
def Pdg_Condition : Type<CPred<"::pdg::isConditionTensor($_self)">, "scalar bool tensor">,
    BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI1Type())">;

//===- Op classes ----------------------------------------------------------===//

/// Every op answers: its gradient, its sharding rule, and what it means (the interpreter).
class Pdg_Op<string mnemonic, list<Trait> traits = []>
    : Op<Pdg_Dialect, mnemonic, traits # [
        DeclareOpInterfaceMethods<DifferentiableOpInterface, ["vjp"]>,
        DeclareOpInterfaceMethods<ShardableOpInterface, ["getShardingRule"]>,
        DeclareOpInterfaceMethods<EvaluableOpInterface, ["evaluate"]>]>;

/// An op on tensors without effects: the sizes of its results follow from its operands'.
class Pdg_PureOp<string mnemonic, list<Trait> traits = []>
    : Pdg_Op<mnemonic, traits # [Pure, InferTypeOpAdaptor,
        DeclareOpInterfaceMethods<DimsOpInterface, ["inferDims"]>]> {
  /// The code of `dimsOf` and `elementOf`, the op's shape rule, is in the op's class or .cpp.
  code shapeDeclaration = [{
    /// Sizes of the result from the sizes of the operands; reports mismatches to `rule`.
    static ::mlir::FailureOr<::pdg::Dims> dimsOf(Adaptor op, ::llvm::ArrayRef<::pdg::Dims> dims,
                                                 ::pdg::ShapeRule &rule);
    /// Element type of the result.
    static ::mlir::Type elementOf(Adaptor op);
  }];
  code shapeDefinition = [{
    ::mlir::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> loc, Adaptor op,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::pdg::inferFromDims<$cppClass>(context, loc, op, types);
    }
    ::mlir::FailureOr<::pdg::Dims> $cppClass::inferDims(::llvm::ArrayRef<::pdg::Dims> dims,
                                                        ::pdg::ShapeRule &rule) {
      return dimsOf(Adaptor(*this), dims, rule);
    }
  }];
  let extraClassDeclaration = shapeDeclaration;
  let extraClassDefinition = shapeDefinition;
}

/// An op whose result element at an index is computed from operand elements at known indices. Such
/// ops are fused: the code generator asks for one element, or a vector of neighbours, at a time.
class Pdg_ElementOp<string mnemonic, list<Trait> traits = []>
    : Pdg_PureOp<mnemonic, traits # [
        DeclareOpInterfaceMethods<ElementOpInterface, ["emitElement"]>]>;

#endif // PDG_IR_DIALECT_TD
