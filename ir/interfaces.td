// The questions that passes, the interpreter and the code generators ask of an op.
// SPDX-License-Identifier: Apache-2.0
#ifndef PDG_IR_INTERFACES_TD
#define PDG_IR_INTERFACES_TD

include "mlir/IR/OpBase.td"

def DimsOpInterface : OpInterface<"DimsOpInterface"> {
  let cppNamespace = "::pdg";
  let description = "Answers the sizes of the result as expressions of the operands' sizes.";
  let methods = [InterfaceMethod<[{
      Sizes of the (single) result, given the sizes of each operand. Sizes are affine expressions;
      those that only the run knows are symbols. Mismatches are reported to `rule`, which also
      collects the equalities that only the run can check.
    }], "::mlir::FailureOr<::pdg::Dims>", "inferDims",
    (ins "::llvm::ArrayRef<::pdg::Dims>":$operandDims, "::pdg::ShapeRule &":$rule)>];
}

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::pdg";
  let description = "Answers how a cotangent passes backwards through the op.";
  let methods = [InterfaceMethod<[{
      Vector-Jacobian product: reads the cotangents of the results from `reverse` and adds those of
      the operands to it, building ops with `b`. An op without a gradient reports it and fails.
    }], "::mlir::LogicalResult", "vjp",
    (ins "::mlir::OpBuilder &":$b, "::pdg::Reverse &":$reverse)>];
}

def ShardableOpInterface : OpInterface<"ShardableOpInterface"> {
  let cppNamespace = "::pdg";
  let description = "Answers how slices of the operands give slices of the results.";
  let methods = [InterfaceMethod<[{
      The factors that the axes of operands and results share, and what joins a factor that is
      split. An empty rule says: gather the operands first.
    }], "::pdg::ShardingRule", "getShardingRule", (ins)>];
}

def EvaluableOpInterface : OpInterface<"EvaluableOpInterface"> {
  let cppNamespace = "::pdg";
  let description = "Answers what the op means: the reference interpreter runs it.";
  let methods = [InterfaceMethod<[{
      Computes the results from the operands, plainly and in the order of rounding that the op
      promises. Fails with the error recorded in `eval`.
    }], "::mlir::LogicalResult", "evaluate", (ins "::pdg::Evaluation &":$eval)>];
}

def ElementOpInterface : OpInterface<"ElementOpInterface"> {
  let cppNamespace = "::pdg";
  let description = "Answers one element of the result, or a vector of neighbours: fusible ops.";
  let methods = [InterfaceMethod<[{
      Builds the value of the result at `index`, reading operands through `context`. When an axis
      of `index` stands for lanes, the value is a vector of that many neighbours.
    }], "::mlir::Value", "emitElement",
    (ins "::pdg::ElementContext &":$context, "::llvm::ArrayRef<::pdg::AxisIndex>":$index)>,
    InterfaceMethod<[{
      True if every operand is read at the index of the result only. Such ops may be computed in
      place and over flattened axes.
    }], "bool", "isPointwise", (ins), "", "return false;">,
    InterfaceMethod<[{
      True if all elements of the result are the same.
    }], "bool", "isUniform", (ins), "", "return false;">,
    InterfaceMethod<[{
      True if the op is better computed again at each use than kept in memory.
    }], "bool", "isCheap", (ins), "", "return false;">];
}

def LowerableOpInterface : OpInterface<"LowerableOpInterface"> {
  let cppNamespace = "::pdg";
  let description = "An op that steers the program or talks to the outside: lowers itself.";
  let methods = [InterfaceMethod<[{
      Builds the op's code in the function of the program.
    }], "::mlir::LogicalResult", "lower", (ins "::pdg::Lowering &":$lowering)>];
}

def ScatterOpInterface : OpInterface<"ScatterOpInterface"> {
  let cppNamespace = "::pdg";
  let description = "Adds rows (operand 1) at indices (operand 0) into zeros.";
}

def ReductionOpInterface : OpInterface<"ReductionOpInterface"> {
  let cppNamespace = "::pdg";
  let description = "A fold of one axis of the only operand; the axis vanishes.";
  let methods = [
    InterfaceMethod<"The axis that is folded.", "int64_t", "getReducedAxis", (ins)>,
    InterfaceMethod<"What joins two elements.", "::pdg::ReductionKind", "getReductionKind", (ins)>
  ];
}

def LeavesOpInterface : OpInterface<"LeavesOpInterface"> {
  let cppNamespace = "::pdg";
  let description = [{
    A sum whose chains others may go on with, so that contributions of many iterations of a loop
    are joined once: the leaves stay apart, as axis 0 of a tensor, until `pdg.join_leaves`.
  }];
  let methods = [
    InterfaceMethod<[{
      How many leaves there can be: L(n), or 16 if only the run knows n; 1 for a sum that is not
      cut. 0: the op has no such form.
    }], "int64_t", "getLeafBound", (ins)>,
    InterfaceMethod<[{
      Builds the op that goes on with the chains in `leaves`, [bound, sizes of the result...].
      From zeros, and joined, it is this op.
    }], "::mlir::Value", "addToLeaves", (ins "::mlir::OpBuilder &":$b, "::mlir::Value":$leaves)>
  ];
}

def UpdateOpInterface : OpInterface<"UpdateOpInterface"> {
  let cppNamespace = "::pdg";
  let description = [{
    The result is an operand, some elements of it changed: in the operand's memory when nobody
    needs the old ones any more, else in a copy.
  }];
  let methods = [InterfaceMethod<"Which operand.", "unsigned", "getUpdatedOperand", (ins)>];
}

def ContractionOpInterface : OpInterface<"ContractionOpInterface"> {
  let cppNamespace = "::pdg";
  let description = "A sum of products of two operands, by an index rule.";
  let methods = [
    InterfaceMethod<"Which index each axis has.", "::pdg::ContractionRule", "getContractionRule",
                    (ins)>
  ];
}

def CheckedOpInterface : OpInterface<"CheckedOpInterface"> {
  let cppNamespace = "::pdg";
  let description = "An op that stops the run when an operand's elements are not what it needs.";
  let methods = [InterfaceMethod<"What must hold before the op runs; nothing for some types.",
                                 "::std::optional<::pdg::RunCheck>", "getRunCheck", (ins)>];
}

def SizeOpInterface : OpInterface<"SizeOpInterface"> {
  let cppNamespace = "::pdg";
  let description = "A scalar i64 that may be a size: answers it as an expression of sizes.";
  let methods = [InterfaceMethod<[{
      The value as an affine expression, from the values of scalar i64 operands and the sizes of
      all; null when there is none.
    }], "::mlir::AffineExpr", "inferValue",
    (ins "::llvm::ArrayRef<::mlir::AffineExpr>":$values, "::llvm::ArrayRef<::pdg::Dims>":$dims)>];
}

def LoopOpInterface : OpInterface<"LoopOpInterface"> {
  let cppNamespace = "::pdg";
  let description = [{
    Runs its only region again and again. The last operands are the first carried values, the last
    arguments of the region those of a round, the results those of the end.
  }];
  let methods = [
    InterfaceMethod<"Whether the first argument counts the rounds.", "bool", "countsRounds", (ins)>,
    InterfaceMethod<[{
      How many arguments behind the counter are fields of a batch: memory of the runtime.
    }], "unsigned", "getNumFields", (ins), "", "return 0;">
  ];
  let extraClassDeclaration = [{
    /// How many arguments of the region come before the carried ones.
    unsigned getNumLeading() { return countsRounds() + getNumFields(); }
    /// The carried value of result `index`, where it begins and in a round.
    ::mlir::Value getInit(unsigned index);
    ::mlir::BlockArgument getCarried(unsigned index);
  }];
}

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::pdg";
  let description = [{
    An op of all trainers together, from a value of each, operand 0. Before it was cut into
    messages, a graph has such ops; they say what the parts become, in one process and in many.
  }];
  let methods = [
    InterfaceMethod<"The number of trainers.", "int64_t", "getCount", (ins)>,
    InterfaceMethod<"Builds the result in one process, from the values of all trainers.",
                    "::mlir::Value", "joinParts",
                    (ins "::mlir::OpBuilder &":$b, "::mlir::ValueRange":$parts)>,
    InterfaceMethod<[{
      Builds the receiving op of an edge from all trainers to one process, which gives the result
      there; null if the result differs among trainers, or is that of one.
    }], "::mlir::Value", "receiveParts",
                    (ins "::mlir::OpBuilder &":$b, "::mlir::Attribute":$edge)>
  ];
}

def EdgeOpInterface : OpInterface<"EdgeOpInterface"> {
  let cppNamespace = "::pdg";
  let description = "An op at one end of an edge between roles, or of a queue: attribute `edge`.";
  let methods = [
    InterfaceMethod<"The edge, an EdgeAttr.", "::mlir::Attribute", "getEdgeName", (ins)>,
    InterfaceMethod<"Whether messages come in here (or go out).", "bool", "isReceiver", (ins)>,
    InterfaceMethod<"The type of a message; sizes in which messages differ are unknown.",
                    "::mlir::Type", "getMessageType", (ins)>,
    InterfaceMethod<"How many messages one run of the op takes: one of each of so many processes.",
                    "int64_t", "getMessageCount", (ins)>
  ];
}

def ViewOpInterface : OpInterface<"ViewOpInterface"> {
  let cppNamespace = "::pdg";
  let description = "The result is the first operand's elements in the same order: no data moves.";
}

#endif // PDG_IR_INTERFACES_TD
