// RUN: %pdc-opt --pdg-differentiate %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.variable <"w"> : tensor<f32> param {
  %x = pdg.constant dense<2.0> : tensor<f32>
  pdg.yield %x : tensor<f32>
}

// CHECK-LABEL: pdg.program
pdg.program {
  // A value that is used twice: its cotangents are added in program order.
  // CHECK: %[[W:.*]] = pdg.read <"w">
  %w = pdg.read <"w"> : tensor<f32>
  // CHECK: %[[S:.*]] = pdg.mul %[[W]], %[[W]]
  %s = pdg.mul %w, %w : tensor<f32>, tensor<f32>
  // CHECK: %[[ONE:.*]] = pdg.constant dense<1.000000e+00>
  // CHECK: %[[A:.*]] = pdg.mul %[[ONE]], %[[W]]
  // CHECK: %[[B:.*]] = pdg.mul %[[ONE]], %[[W]]
  // CHECK: %[[G:.*]] = pdg.add %[[A]], %[[B]]
  %g = pdg.gradient %s of [#pdg.name<"w">] : tensor<f32> -> tensor<f32>
  // CHECK: pdg.print {{.*}}(%[[G]]
  pdg.print ["", ""] [#pdg.format<>] (%g : tensor<f32>)

  // A loss that does not depend on the variable has the gradient 0.
  // CHECK: pdg.constant dense<0.000000e+00>
  %c = pdg.constant dense<3.0> : tensor<f32>
  %z = pdg.gradient %c of [#pdg.name<"w">] : tensor<f32> -> tensor<f32>
  pdg.print ["", ""] [#pdg.format<>] (%z : tensor<f32>)

  // A condition runs again for its gradient, in both branches.
  // CHECK: pdg.if
  // CHECK: pdg.if
  // CHECK-NOT: pdg.gradient
  %p = pdg.constant dense<0.0> : tensor<f32>
  %t = pdg.gt %w, %p : tensor<f32>, tensor<f32>
  %y = pdg.if %t -> tensor<f32> {
    %e = pdg.exp %w : tensor<f32>
    pdg.yield %e : tensor<f32>
  } else {
    %n = pdg.neg %w : tensor<f32>
    pdg.yield %n : tensor<f32>
  }
  %h = pdg.gradient %y of [#pdg.name<"w">] : tensor<f32> -> tensor<f32>
  pdg.print ["", ""] [#pdg.format<>] (%h : tensor<f32>)
  pdg.yield
}
