// Attributes of the pdg dialect.
// SPDX-License-Identifier: Apache-2.0
#ifndef PDG_IR_ATTRS_TD
#define PDG_IR_ATTRS_TD

include "ir/dialect.td"
include "mlir/IR/EnumAttr.td"

class Pdg_Attr<string name, string attrMnemonic> : AttrDef<Pdg_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Pdg_NameParameter : AttrParameter<"::pdg::NameAttr", "the name of a variable or value">;
def Pdg_RoleParameter : AttrParameter<"::pdg::RoleAttr", "a role of a cluster">;

def Pdg_NameAttr : Pdg_Attr<"Name", "name"> {
  let summary = "The name of a variable: scope path, optimizer state, slice, replica";
  let description = [{
    `net.hidden.W`, `net.hidden.W/adam.m`, `net.hidden.W[0:128]`, `net.hidden.W@2` are printed forms
    of this attribute. Names are compared as attributes, never as text. An empty `state` is the
    variable itself; an empty `slice` is all of it; replica 0 keeps the true name.
  }];
  let parameters = (ins "::mlir::StringAttr":$path,
      OptionalParameter<"::mlir::StringAttr">:$state,
      OptionalArrayRefParameter<"int64_t">:$slice,
      DefaultValuedParameter<"int64_t", "0">:$replica);
  // Each part but the path may be absent: `<"w", state = "m", slice = [0, 4], replica = 1>`.
  let hasCustomAssemblyFormat = 1;
  let builders = [AttrBuilderWithInferredContext<(ins "::mlir::StringAttr":$path), [{
    return $_get(path.getContext(), path, ::mlir::StringAttr(), ::llvm::ArrayRef<int64_t>(), 0);
  }]>, AttrBuilderWithInferredContext<(ins "::mlir::StringAttr":$path,
                                            "::mlir::StringAttr":$state), [{
    return $_get(path.getContext(), path, state, ::llvm::ArrayRef<int64_t>(), 0);
  }]>];
  let extraClassDeclaration = [{
    /// The printed form, "net.hidden.W/adam.m".
    ::std::string str() const;
  }];
}

def Pdg_ValueFormatAttr : Pdg_Attr<"ValueFormat", "format"> {
  let summary = "How a printed value is laid out";
  let parameters = (ins DefaultValuedParameter<"int64_t", "0">:$width,
      DefaultValuedParameter<"int64_t", "-1">:$precision,
      DefaultValuedParameter<"bool", "false">:$significant);
  let assemblyFormat = "`<` struct(params) `>`";
}
//===- Clusters ------------------------------------------------------------===//

def Pdg_RoleKind : I32EnumAttr<"RoleKind", "what a process of a cluster is", [
    I32EnumAttrCase<"Anywhere", 0, "anywhere">, I32EnumAttrCase<"Trainer", 1, "trainer">,
    I32EnumAttrCase<"Server", 2, "server">]> {
  let cppNamespace = "::pdg";
  let genSpecializedAttr = 0;
}

def Pdg_RoleAttr : Pdg_Attr<"Role", "role"> {
  let summary = "A role of a cluster: all trainers, or one server";
  let description = [{
    `<trainer>` is all trainers, which run one program; `<server, 1>` is server 1. As the place of
    an op (`pdg.place`), `<anywhere>` says that every role that needs the value computes it.
  }];
  let parameters = (ins EnumParameter<Pdg_RoleKind>:$kind,
      DefaultValuedParameter<"int64_t", "0">:$index);
  let assemblyFormat = "`<` $kind (`,` $index^)? `>`";
  let builders = [AttrBuilder<(ins "::pdg::RoleKind":$kind),
                              "return $_get($_ctxt, kind, 0);">];
  let extraClassDeclaration = [{
    bool isTrainer() const { return getKind() == ::pdg::RoleKind::Trainer; }
    bool isServer() const { return getKind() == ::pdg::RoleKind::Server; }
    bool isAnywhere() const { return getKind() == ::pdg::RoleKind::Anywhere; }
    /// "trainer", "server 1".
    ::std::string str() const;
  }];
}

def Pdg_JoinKindEnum : I32EnumAttr<"JoinKind", "how parts are joined", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Min", 2, "min">]> {
  let cppNamespace = "::pdg";
  let genSpecializedAttr = 0;
}
def Pdg_JoinKind : EnumAttr<Pdg_Dialect, Pdg_JoinKindEnum, "join">;

def Pdg_EdgeKind : I32EnumAttr<"EdgeKind", "what an edge between roles carries", [
    I32EnumAttrCase<"Variable", 0, "variable">, I32EnumAttrCase<"Gradient", 1, "gradient">,
    I32EnumAttrCase<"Value", 2, "value">, I32EnumAttrCase<"Joined", 3, "joined">,
    I32EnumAttrCase<"Control", 4, "control">]> {
  let cppNamespace = "::pdg";
  let genSpecializedAttr = 0;
}

def Pdg_EdgeAttr : Pdg_Attr<"Edge", "edge"> {
  let summary = "An edge of the graph that crosses from one role to another";
  let description = [{
    What is carried (the value of a variable, parts of its gradient, another value, the joined parts
    of a value, whether a loop goes on), of which variable or value, and which of several such
    edges. One edge serves all trainers: each of them sends its own message, only the `first` one
    does, or each receives one. Messages of an edge between two processes are numbered from 0; the
    receiver takes them in this order.
  }];
  let parameters = (ins Pdg_NameParameter:$subject, EnumParameter<Pdg_EdgeKind>:$kind,
      DefaultValuedParameter<"int64_t", "0">:$number,
      Pdg_RoleParameter:$from, Pdg_RoleParameter:$to,
      DefaultValuedParameter<"bool", "false">:$first);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// "gradient of net.W", or "gradient 1 of net.W": unlike any other edge's.
    ::std::string str() const;
  }];
}

def Pdg_ClusterMode : I32EnumAttr<"ClusterMode", "how trainers and servers keep step", [
    I32EnumAttrCase<"Sync", 0, "sync">, I32EnumAttrCase<"Async", 1, "async">,
    I32EnumAttrCase<"Bounded", 2, "bounded">, I32EnumAttrCase<"Local", 3, "local">,
    I32EnumAttrCase<"AllReduce", 4, "all_reduce">]> {
  let cppNamespace = "::pdg";
  let genSpecializedAttr = 0;
}

def Pdg_ClusterAttr : Pdg_Attr<"Cluster", "cluster"> {
  let summary = "The cluster that a program is cut for";
  let description = [{
    `#pdg.cluster<trainers = 2, servers = 2>`, the attribute `pdg.cluster` of a module: how many
    processes there are of each kind, how many devices a trainer has, how they keep step. `bound` is
    the K of the modes `bounded` and `local`. A memory of 0 bytes has no limit. In the mode
    `all_reduce` the servers are parts of the trainers' processes.
  }];
  let parameters = (ins "int64_t":$trainers, "int64_t":$servers,
      DefaultValuedParameter<"int64_t", "1">:$devices,
      DefaultValuedParameter<"::pdg::ClusterMode", "::pdg::ClusterMode::Sync">:$mode,
      DefaultValuedParameter<"int64_t", "0">:$bound,
      DefaultValuedParameter<"int64_t", "0">:$trainer_memory,
      DefaultValuedParameter<"int64_t", "0">:$server_memory);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The cluster of `module`, or null: the program runs in one process.
    static ::pdg::ClusterAttr of(::mlir::Operation *module);
  }];
}

def Pdg_ValueFormats : TypedArrayAttrBase<Pdg_ValueFormatAttr, "formats, one a value">;
def Pdg_Names : TypedArrayAttrBase<Pdg_NameAttr, "names of variables">;

#endif // PDG_IR_ATTRS_TD
