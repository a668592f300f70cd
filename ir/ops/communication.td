// What crosses from one process of a cluster to another: messages between roles, values that all
// trainers join, and queues. Made by the passes of passes/distribute.
// SPDX-License-Identifier: Apache-2.0
include "ir/attrs.td"

def Pdg_ExchangeResource : Resource<"::pdg::ExchangeResource">;

def Pdg_ReplicaOp : Pdg_Op<"replica", [Pure, DeclareOpInterfaceMethods<LowerableOpInterface>]> {
  let summary = "The number of this process among those of its role";
  let description = [{
    Inputs: none. Outputs: a number from 0 on, the same as long as the process lives.

    ```mlir
    // -> 0
    %r = pdg.replica
    ```
  }];
  let results = (outs Pdg_Size:$result);
  let assemblyFormat = "attr-dict";
}

//===- Among all trainers --------------------------------------------------===//

/// An op of all trainers together: each gives an operand of its own, and the result is computed
/// from those of all. Exists before the graph is cut; becomes messages.
class Pdg_CollectiveOp<string mnemonic, list<Trait> traits = []>
    : Pdg_Op<mnemonic, traits # [Pure, DeclareOpInterfaceMethods<CollectiveOpInterface>,
        DeclareOpInterfaceMethods<DimsOpInterface>]> {
  let hasVerifier = 1;
}

def Pdg_AllReduceOp : Pdg_CollectiveOp<"all_reduce", [AllTypesMatch<["x", "result"]>]> {
  let summary = "The values of all trainers, joined element by element as a tree";
  let description = [{
    Inputs: a tensor of each of `of` trainers, equal in type and sizes. Outputs: on each trainer,
    their sum, or the exact maximum or minimum: neighbours are joined first, an odd one moves up.

    (C1) 1 <= of <= 65536.

    ```mlir
    %y = pdg.all_reduce %x sum of 2 : tensor<3xf32>
    ```
  }];
  let arguments = (ins Pdg_Number:$x, Pdg_JoinKind:$kind, I64Attr:$of);
  let results = (outs Pdg_Number:$result);
  let assemblyFormat = "$x $kind `of` $of attr-dict `:` type($x)";
}

def Pdg_AllGatherOp : Pdg_CollectiveOp<"all_gather"> {
  let summary = "The values of all trainers, one behind the other";
  let description = [{
    Inputs: a tensor of each of `of` trainers, which may differ in the size of one axis; and the
    shape of the result. Outputs: on each trainer, these tensors in the order of the trainers, one
    behind the other along that axis.

    (C1) 1 <= of <= 65536. (C2) The operand has the axis, and the result its rank and elements.

    ```mlir
    %y = pdg.all_gather %x axis 0 of 2 to [%n, 3] : tensor<?x3xf32> -> tensor<?x3xf32>
    ```
  }];
  let arguments = (ins Pdg_Stored:$x, I64Attr:$axis, I64Attr:$of, Variadic<Pdg_Size>:$sizes,
                       DenseI64ArrayAttr:$shape);
  let results = (outs Pdg_Stored:$result);
  let assemblyFormat = [{
    $x `axis` $axis `of` $of `to` custom<DynamicIndexList>($sizes, $shape) attr-dict
        `:` type($x) `->` type($result)
  }];
}

def Pdg_ReduceScatterOp : Pdg_CollectiveOp<"reduce_scatter"> {
  let summary = "Of the joined values of all trainers, each gets its part";
  let description = [{
    Inputs: a tensor of each of `of` trainers, equal in type and sizes. Outputs: on trainer r, part
    r of `of` parts of axis 0 (as `pdg.part_begin` counts) of what `pdg.all_reduce` gives.

    (C1) 1 <= of <= 65536. (C2) The operand has an axis, and the result its rank and elements.

    ```mlir
    %y = pdg.reduce_scatter %x sum of 2 : tensor<4xf32> -> tensor<2xf32>
    ```
  }];
  let arguments = (ins Pdg_Number:$x, Pdg_JoinKind:$kind, I64Attr:$of);
  let results = (outs Pdg_Number:$result);
  let assemblyFormat = "$x $kind `of` $of attr-dict `:` type($x) `->` type($result)";
}

def Pdg_BroadcastFromOp : Pdg_CollectiveOp<"broadcast_from", [AllTypesMatch<["x", "result"]>]> {
  let summary = "The value of one trainer, on all of them";
  let description = [{
    Inputs: a tensor of each of `of` trainers, equal in type. Outputs: on each trainer, the one of
    trainer `replica`. (`pdg.broadcast` repeats elements inside a tensor.)

    (C1) 1 <= of <= 65536. (C2) 0 <= replica < of.

    ```mlir
    %y = pdg.broadcast_from %x replica 0 of 2 : tensor<3xf32>
    ```
  }];
  let arguments = (ins Pdg_Stored:$x, I64Attr:$replica, I64Attr:$of);
  let results = (outs Pdg_Stored:$result);
  let assemblyFormat = "$x `replica` $replica `of` $of attr-dict `:` type($x)";
}

//===- From role to role ---------------------------------------------------===//

/// An op at one end of an edge.
class Pdg_EdgeOp<string mnemonic, list<Trait> traits = []>
    : Pdg_Op<mnemonic, traits # [DeclareOpInterfaceMethods<LowerableOpInterface>,
        DeclareOpInterfaceMethods<EdgeOpInterface>,
        MemoryEffects<[MemRead<Pdg_ExchangeResource>, MemWrite<Pdg_ExchangeResource>]>]>;

def Pdg_SendOp : Pdg_EdgeOp<"send"> {
  let summary = "Hands a tensor to the transport, and goes on";
  let description = [{
    Inputs: a tensor; the edge, which says where it goes: to one server, or to every trainer.
    Outputs: none. The tensor's memory is free again when the op is done. Each trainer that runs it
    sends a message of its own; on an edge of the `first` trainer only, the others do nothing. A
    send waits only while the edge already holds as many messages as its queue may.

    ```mlir
    pdg.send %x, <subject = <"w">, kind = gradient, from = <trainer>, to = <server>> : tensor<3xf32>
    ```
  }];
  let arguments = (ins Pdg_Stored:$x, Pdg_EdgeAttr:$edge);
  let assemblyFormat = "$x `,` $edge attr-dict `:` type($x)";
}

def Pdg_RecvOp : Pdg_EdgeOp<"recv", [DeclareOpInterfaceMethods<DimsOpInterface>]> {
  let summary = "The next tensor of an edge from one process; waits until it is there";
  let description = [{
    Inputs: the edge, from a server or from the `first` trainer; the sizes that only the run knows.
    Outputs: the tensor. Only what depends on it waits. A message of another type or size stops the
    run.

    (C1) Edges from all trainers are read by `pdg.accumulate` or `pdg.collect`.

    ```mlir
    %x = pdg.recv <subject = <"w">, kind = variable, from = <server>, to = <trainer>> to [3]
        : tensor<3xf32>
    ```
  }];
  let arguments = (ins Pdg_EdgeAttr:$edge, Variadic<Pdg_Size>:$sizes, DenseI64ArrayAttr:$shape);
  let results = (outs Pdg_Stored:$result);
  let assemblyFormat = [{
    $edge `to` custom<DynamicIndexList>($sizes, $shape) attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Pdg_AccumulateOp : Pdg_EdgeOp<"accumulate", [DeclareOpInterfaceMethods<DimsOpInterface>]> {
  let summary = "The next tensors of an edge from all trainers, joined as a tree";
  let description = [{
    Inputs: the edge; how many contributions there are: those of all trainers (synchronous), or one
    (asynchronous: that of the trainer whose turn it is); the sizes that only the run knows.
    Outputs: their sum, maximum or minimum: neighbours are joined first, an odd one moves up.

    (C1) 1 <= of <= 65536. (C2) The edge comes from all trainers.

    ```mlir
    %g = pdg.accumulate <subject = <"w">, kind = gradient, from = <trainer>, to = <server>> sum of 2
        to [3] : tensor<3xf32>
    ```
  }];
  let arguments = (ins Pdg_EdgeAttr:$edge, Pdg_JoinKind:$kind, I64Attr:$of,
                       Variadic<Pdg_Size>:$sizes, DenseI64ArrayAttr:$shape);
  let results = (outs Pdg_Number:$result);
  let assemblyFormat = [{
    $edge $kind `of` $of `to` custom<DynamicIndexList>($sizes, $shape) attr-dict
        `:` type($result)
  }];
  let hasVerifier = 1;
}

def Pdg_CollectOp : Pdg_EdgeOp<"collect", [DeclareOpInterfaceMethods<DimsOpInterface>]> {
  let summary = "The next tensors of an edge from all trainers, one behind the other";
  let description = [{
    Inputs: the edge; the number of trainers; the axis along which their tensors may differ in size;
    the sizes of the result that only the run knows. Outputs: the tensors in the order of the
    trainers, one behind the other along that axis.

    (C1) 1 <= of <= 65536. (C2) The edge comes from all trainers. (C3) The result has the axis.

    ```mlir
    %all = pdg.collect <subject = <"x">, kind = value, from = <trainer>, to = <server>> axis 0 of 2
        to [%n, 3] : tensor<?x3xf32>
    ```
  }];
  let arguments = (ins Pdg_EdgeAttr:$edge, I64Attr:$axis, I64Attr:$of, Variadic<Pdg_Size>:$sizes,
                       DenseI64ArrayAttr:$shape);
  let results = (outs Pdg_Stored:$result);
  let assemblyFormat = [{
    $edge `axis` $axis `of` $of `to` custom<DynamicIndexList>($sizes, $shape) attr-dict
        `:` type($result)
  }];
  let hasVerifier = 1;
}

//===- Queues --------------------------------------------------------------===//

def Pdg_EnqueueOp : Pdg_EdgeOp<"enqueue"> {
  let summary = "Puts a tensor into a queue of this process; waits while it is full";
  let description = [{
    Inputs: a tensor; the queue; how many tensors it holds. Outputs: none. What a Send does to the
    queue of its edge.

    (C1) 1 <= capacity.

    ```mlir
    pdg.program {
      %x = pdg.constant dense<3> : tensor<i64>
      pdg.enqueue %x, <subject = <"x">, kind = value, from = <server>, to = <server>> capacity 1
          : tensor<i64>
      %y = pdg.dequeue <subject = <"x">, kind = value, from = <server>, to = <server>> to []
          : tensor<i64>
      pdg.fetch "y", %y : tensor<i64>
      pdg.yield
    }
    ```
  }];
  let arguments = (ins Pdg_Stored:$x, Pdg_EdgeAttr:$edge, I64Attr:$capacity);
  let assemblyFormat = "$x `,` $edge `capacity` $capacity attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def Pdg_DequeueOp : Pdg_EdgeOp<"dequeue", [DeclareOpInterfaceMethods<DimsOpInterface>]> {
  let summary = "Takes the first tensor of a queue of this process; waits while it is empty";
  let description = [{
    Inputs: the queue; the sizes that only the run knows. Outputs: the tensor.

    ```mlir
    pdg.program {
      %x = pdg.constant dense<3> : tensor<i64>
      pdg.enqueue %x, <subject = <"x">, kind = value, from = <server>, to = <server>> capacity 1
          : tensor<i64>
      %y = pdg.dequeue <subject = <"x">, kind = value, from = <server>, to = <server>> to []
          : tensor<i64>
      pdg.fetch "y", %y : tensor<i64>
      pdg.yield
    }
    ```
  }];
  let arguments = (ins Pdg_EdgeAttr:$edge, Variadic<Pdg_Size>:$sizes, DenseI64ArrayAttr:$shape);
  let results = (outs Pdg_Stored:$result);
  let assemblyFormat = [{
    $edge `to` custom<DynamicIndexList>($sizes, $shape) attr-dict `:` type($result)
  }];
}
