// Random values: pure functions of the run's seed, the place in the script, the counters of the
// enclosing loops and the position of the element (ir/math/random.h).
// SPDX-License-Identifier: Apache-2.0
include "ir/dialect.td"

class Pdg_RandomOp<string mnemonic>
    : Pdg_ElementOp<mnemonic, [AttrSizedOperandSegments]> {
  let arguments = (ins StrAttr:$path, TypeAttr:$element, Pdg_Size:$seed,
                       Variadic<Pdg_Size>:$counters, Variadic<Pdg_Size>:$sizes,
                       DenseI64ArrayAttr:$shape);
  let results = (outs Pdg_Float:$result);
  let description = [{
    `path` names the place in the script, `counters` are those of the loops around it.

    ```mlir
    %seed = pdg.seed
    %y = pdg.}] # mnemonic # [{ "dropout" seed %seed f32 to [3, 4]
    ```
  }];
  let assemblyFormat = [{
    $path `seed` $seed (`counters` `(` $counters^ `)`)? $element `to`
        custom<DynamicIndexList>($sizes, $shape) attr-dict
  }];
}

def Pdg_RandomUniformOp : Pdg_RandomOp<"random_uniform"> { let summary = "Uniform in [0, 1)"; }
def Pdg_RandomNormalOp : Pdg_RandomOp<"random_normal"> { let summary = "Normal, mean 0, deviation 1"; }

def Pdg_SeedOp : Pdg_Op<"seed", [Pure, DeclareOpInterfaceMethods<LowerableOpInterface>]> {
  let summary = "The seed of the run";
  let description = [{
    ```mlir
    %seed = pdg.seed
    ```
  }];
  let results = (outs Pdg_Size:$result);
  let assemblyFormat = "attr-dict";
}
