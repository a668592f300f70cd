// Variables, data sources and inputs: what a program keeps and what it is given.
// SPDX-License-Identifier: Apache-2.0
include "ir/attrs.td"
include "mlir/IR/SymbolInterfaces.td"

def Pdg_VariableResource : Resource<"::pdg::VariableResource">;

def Pdg_VariableOp : Pdg_Op<"variable", [SingleBlock, NoRegionArguments, IsolatedFromAbove,
    HasParent<"::mlir::ModuleOp">]> {
  let summary = "Declares a variable; the region computes its first value";
  let description = [{
    ```mlir
    pdg.variable <"w"> : tensor<2xf32> param {
      %init = pdg.constant dense<[1.0, 2.0]> : tensor<2xf32>
      pdg.yield %init : tensor<2xf32>
    }
    pdg.program {
      pdg.yield
    }
    ```
  }];
  let arguments = (ins Pdg_NameAttr:$name, TypeAttrOf<Pdg_Stored>:$type, UnitAttr:$param);
  let regions = (region SizedRegion<1>:$init);
  let assemblyFormat = "$name `:` $type (`param` $param^)? $init attr-dict";
  let hasVerifier = 1;
}

def Pdg_ReadOp : Pdg_Op<"read", [DeclareOpInterfaceMethods<LowerableOpInterface>,
    MemoryEffects<[MemRead<Pdg_VariableResource>]>]> {
  let summary = "The value of a variable at this place of the program";
  let description = [{
    ```mlir
    pdg.variable <"w"> : tensor<2xf32> param {
      %init = pdg.constant dense<[1.0, 2.0]> : tensor<2xf32>
      pdg.yield %init : tensor<2xf32>
    }
    pdg.program {
      %w = pdg.read <"w"> : tensor<2xf32>
      pdg.fetch "w", %w : tensor<2xf32>
      pdg.yield
    }
    ```
  }];
  let arguments = (ins Pdg_NameAttr:$name);
  let results = (outs Pdg_Stored:$result);
  let assemblyFormat = "$name `:` type($result) attr-dict";
}

def Pdg_AssignOp : Pdg_Op<"assign", [DeclareOpInterfaceMethods<LowerableOpInterface>,
    MemoryEffects<[MemWrite<Pdg_VariableResource>]>]> {
  let summary = "Gives a variable a new value; values read before stay what they are";
  let description = [{
    ```mlir
    pdg.variable <"w"> : tensor<2xf32> param {
      %init = pdg.constant dense<[1.0, 2.0]> : tensor<2xf32>
      pdg.yield %init : tensor<2xf32>
    }
    pdg.program {
      %w = pdg.read <"w"> : tensor<2xf32>
      %less = pdg.neg %w : tensor<2xf32>
      pdg.assign <"w">, %less : tensor<2xf32>
      pdg.yield
    }
    ```
  }];
  let arguments = (ins Pdg_NameAttr:$name, Pdg_Stored:$value);
  let assemblyFormat = "$name `,` $value `:` type($value) attr-dict";
}

def Pdg_SourceOp : Pdg_Op<"source", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "Declares a data source: batches of examples read from files";
  let description = [{
    The attributes are those of the runtime's `SourceInfo`, which says what they mean: of the
    examples in the files those from `skip` on, at most `limit` (-1: all), and of these the share
    [`from`, `to`); shuffled among each other, or inside windows of `window` examples; a pass goes
    `repeat` times through them. `options` are the reader's own: texts, and lists of them.

    ```mlir
    pdg.source @points "csv" ["points.csv"] batch 2 : [tensor<2xf32>]
    pdg.program {
      pdg.yield
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$reader, StrArrayAttr:$files,
                       I64Attr:$batch, UnitAttr:$shuffle,
                       DefaultValuedAttr<I64Attr, "0">:$window,
                       DefaultValuedAttr<I64Attr, "0">:$seed,
                       DefaultValuedAttr<I64Attr, "0">:$skip,
                       DefaultValuedAttr<I64Attr, "-1">:$limit,
                       DefaultValuedAttr<F64Attr, "0.0">:$from,
                       DefaultValuedAttr<F64Attr, "1.0">:$to,
                       DefaultValuedAttr<I64Attr, "1">:$repeat,
                       OptionalAttr<DictionaryAttr>:$options, TypeArrayAttr:$fields);
  let assemblyFormat = [{
    $sym_name $reader $files `batch` $batch (`shuffle` $shuffle^)? `:` $fields attr-dict
  }];
}

def Pdg_SourceSizeOp : Pdg_Op<"source_size", [Pure, DeclareOpInterfaceMethods<LowerableOpInterface>]> {
  let summary = "The number of examples of a data source";
  let description = [{
    ```mlir
    pdg.source @points "csv" ["points.csv"] batch 2 : [tensor<2xf32>]
    pdg.program {
      %n = pdg.source_size @points
      pdg.print ["", ""] [#pdg.format<>] (%n : tensor<i64>)
      pdg.yield
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$source);
  let results = (outs Pdg_Size:$result);
  let assemblyFormat = "$source attr-dict";
}

def Pdg_InputOp : Pdg_Op<"input", [Pure, DeclareOpInterfaceMethods<LowerableOpInterface>]> {
  let summary = "A tensor that is fed from outside, by its name";
  let description = [{
    ```mlir
    pdg.program {
      %x = pdg.input "x" : tensor<3xf32>
      pdg.fetch "x", %x : tensor<3xf32>
      pdg.yield
    }
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs Pdg_Stored:$result);
  let assemblyFormat = "$name `:` type($result) attr-dict";
}
