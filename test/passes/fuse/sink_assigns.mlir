// RUN: %pdc-opt --pdg-sink-assigns %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.variable <"m"> : tensor<f32> {
  %x = pdg.constant dense<1.0> : tensor<f32>
  pdg.yield %x : tensor<f32>
}

// CHECK-LABEL: pdg.program
pdg.program {
  %m = pdg.read <"m"> : tensor<f32>
  // CHECK: pdg.neg
  // CHECK-NEXT: %[[E:.*]] = pdg.exp
  // CHECK-NEXT: pdg.assign <"m">
  // CHECK-NEXT: pdg.read <"m">
  %a = pdg.neg %m : tensor<f32>
  pdg.assign <"m">, %a : tensor<f32>
  %b = pdg.exp %a : tensor<f32>
  // The next read keeps it from sinking further.
  %c = pdg.read <"m"> : tensor<f32>
  pdg.print ["", " ", ""] [#pdg.format<>, #pdg.format<>] (%b, %c : tensor<f32>, tensor<f32>)
  pdg.yield
}
