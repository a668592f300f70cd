// Two graphs that compute the same become the same text.
// RUN: split-file %s %t
// RUN: %pdc-opt --pdg-normalize %t/one.mlir > %t/one.txt
// RUN: %pdc-opt --pdg-normalize %t/other.mlir | diff %t/one.txt -
// RUN: %pdc-opt --pdg-normalize %t/different.mlir | not diff %t/one.txt - > /dev/null
// SPDX-License-Identifier: Apache-2.0

//--- one.mlir
pdg.variable <"a"> : tensor<f32> {
  %0 = pdg.constant dense<0.0> : tensor<f32>
  pdg.yield %0 : tensor<f32>
}
pdg.variable <"b"> : tensor<f32> {
  %0 = pdg.constant dense<0.0> : tensor<f32>
  pdg.yield %0 : tensor<f32>
}
pdg.program {
  %x = pdg.input "x" : tensor<f32>
  %yes = pdg.input "yes" : tensor<i1>
  %e = pdg.exp %x : tensor<f32>
  %s = pdg.sin %x : tensor<f32>
  pdg.if %yes {
    pdg.assign <"a">, %e : tensor<f32>
    pdg.assign <"b">, %s : tensor<f32>
    pdg.print ["set"] []
  } else {
  }
  %a = pdg.read <"a"> : tensor<f32>
  pdg.print ["", ""] [#pdg.format<>] (%a : tensor<f32>)
  pdg.yield
}

//--- other.mlir
pdg.variable <"b"> : tensor<f32> {
  %0 = pdg.constant dense<0.0> : tensor<f32>
  pdg.yield %0 : tensor<f32>
}
pdg.variable <"a"> : tensor<f32> {
  %0 = pdg.constant dense<0.0> : tensor<f32>
  pdg.yield %0 : tensor<f32>
} {pdg.home = #pdg.role<server>}
pdg.program {
  %yes = pdg.input "yes" : tensor<i1>
  %x = pdg.input "x" : tensor<f32>
  %s = pdg.sin %x {pdg.place = #pdg.role<trainer>} : tensor<f32>
  %e = pdg.exp %x : tensor<f32>
  pdg.if %yes {
    pdg.print ["set"] []
    pdg.assign <"b">, %s : tensor<f32>
    pdg.assign <"a">, %e : tensor<f32>
  } else {
  }
  %a = pdg.read <"a"> : tensor<f32>
  pdg.print ["", ""] [#pdg.format<>] (%a : tensor<f32>)
  pdg.yield
}

// The variable is read before it is assigned.
//--- different.mlir
pdg.variable <"a"> : tensor<f32> {
  %0 = pdg.constant dense<0.0> : tensor<f32>
  pdg.yield %0 : tensor<f32>
}
pdg.variable <"b"> : tensor<f32> {
  %0 = pdg.constant dense<0.0> : tensor<f32>
  pdg.yield %0 : tensor<f32>
}
pdg.program {
  %x = pdg.input "x" : tensor<f32>
  %yes = pdg.input "yes" : tensor<i1>
  %e = pdg.exp %x : tensor<f32>
  %s = pdg.sin %x : tensor<f32>
  %a = pdg.read <"a"> : tensor<f32>
  pdg.if %yes {
    pdg.assign <"a">, %e : tensor<f32>
    pdg.assign <"b">, %s : tensor<f32>
    pdg.print ["set"] []
  } else {
  }
  pdg.print ["", ""] [#pdg.format<>] (%a : tensor<f32>)
  pdg.yield
}
