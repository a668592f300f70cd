// Attributes of the pdg dialect.
// SPDX-License-Identifier: Apache-2.0
#ifndef PDG_IR_ATTRS_TD
#define PDG_IR_ATTRS_TD

include "ir/dialect.td"

class Pdg_Attr<string name, string attrMnemonic> : AttrDef<Pdg_Dialect, name> {
  let mnemonic = attrMnemonic;
}

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
  let assemblyFormat = [{
    `<` $path (`,` `state` `=` $state^)? (`,` `slice` `=` `[` $slice^ `]`)?
        (`,` `replica` `=` $replica^)? `>`
  }];
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
def Pdg_ValueFormats : TypedArrayAttrBase<Pdg_ValueFormatAttr, "formats, one a value">;
def Pdg_Names : TypedArrayAttrBase<Pdg_NameAttr, "names of variables">;

#endif // PDG_IR_ATTRS_TD
