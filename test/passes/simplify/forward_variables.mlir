// RUN: %pdc-opt --pdg-forward-variables %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.variable <"m"> : tensor<f32> {
  %x = pdg.constant dense<1.0> : tensor<f32>
  pdg.yield %x : tensor<f32>
}

// CHECK-LABEL: pdg.program
pdg.program {
  %yes = pdg.constant dense<true> : tensor<i1>
  // CHECK: %[[M:.*]] = pdg.read <"m">
  %m = pdg.read <"m"> : tensor<f32>
  // CHECK: %[[A:.*]] = pdg.neg %[[M]]
  %a = pdg.neg %m : tensor<f32>
  // Overwritten before anybody reads it.
  // CHECK-NOT: pdg.assign <"m">, %[[A]]
  pdg.assign <"m">, %a : tensor<f32>
  %r = pdg.read <"m"> : tensor<f32>
  // CHECK: %[[B:.*]] = pdg.exp %[[A]]
  %b = pdg.exp %r : tensor<f32>
  // CHECK: pdg.assign <"m">, %[[B]]
  pdg.assign <"m">, %b : tensor<f32>
  // A branch may assign: what was known is not known any more.
  pdg.if %yes {
    pdg.assign <"m">, %a : tensor<f32>
  } else {
  }
  // CHECK: %[[N:.*]] = pdg.read <"m">
  %n = pdg.read <"m"> : tensor<f32>
  // CHECK: pdg.print {{.*}}(%[[N]]
  pdg.print ["", ""] [#pdg.format<>] (%n : tensor<f32>)
  pdg.yield
}
