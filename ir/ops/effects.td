// What a program tells to the outside.
// SPDX-License-Identifier: Apache-2.0
include "ir/attrs.td"

def Pdg_OutsideResource : Resource<"::pdg::OutsideResource">;

def Pdg_PrintOp : Pdg_Op<"print", [DeclareOpInterfaceMethods<LowerableOpInterface>,
    MemoryEffects<[MemWrite<Pdg_OutsideResource>]>]> {
  let summary = "Prints a line: segments with a value between each two";
  let description = [{
    ```mlir
    pdg.print ["x is ", "."] [#pdg.format<precision = 2>] (%x : tensor<f32>)
    ```
  }];
  let arguments = (ins StrArrayAttr:$segments, Pdg_ValueFormats:$formats,
                       Variadic<Pdg_Stored>:$values);
  let assemblyFormat = "$segments $formats (`(` $values^ `:` type($values) `)`)? attr-dict";
  let hasVerifier = 1;
}

def Pdg_FetchOp : Pdg_Op<"fetch", [DeclareOpInterfaceMethods<LowerableOpInterface>,
    MemoryEffects<[MemWrite<Pdg_OutsideResource>]>]> {
  let summary = "Returns a value to whoever runs the program; of one name the last one";
  let description = [{
    ```mlir
    pdg.fetch "loss", %loss : tensor<f32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Pdg_Stored:$value);
  let assemblyFormat = "$name `,` $value `:` type($value) attr-dict";
}

def Pdg_AssertOp : Pdg_Op<"assert", [DeclareOpInterfaceMethods<LowerableOpInterface>,
    MemoryEffects<[MemWrite<Pdg_OutsideResource>]>]> {
  let summary = "Stops the run with a text when the condition is false";
  let description = [{
    ```mlir
    %fine = pdg.lt %x, %limit : tensor<f32>, tensor<f32>
    %y = pdg.not %fine : tensor<i1>
    pdg.assert %y, ["x is ", ""] [#pdg.format<>] (%x : tensor<f32>)
    ```
  }];
  let arguments = (ins Pdg_Condition:$condition, StrArrayAttr:$segments,
                       Pdg_ValueFormats:$formats, Variadic<Pdg_Stored>:$values);
  let assemblyFormat = [{
    $condition `,` $segments $formats (`(` $values^ `:` type($values) `)`)? attr-dict
  }];
  let hasVerifier = 1;
}
