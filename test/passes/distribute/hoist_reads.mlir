// Reads of variables that a loop does not assign.
// RUN: %pdc-opt --pdg-hoist-reads %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.source @train "csv" ["a.csv"] batch 64 : [tensor<f32>]
pdg.source @test "csv" ["a.csv"] batch 64 : [tensor<f32>]
pdg.variable <"w"> : tensor<f32> param {
  %0 = pdg.constant dense<0.0> : tensor<f32>
  pdg.yield %0 : tensor<f32>
}
pdg.variable <"still"> : tensor<f32> {
  %0 = pdg.constant dense<0.0> : tensor<f32>
  pdg.yield %0 : tensor<f32>
}

// CHECK-LABEL: pdg.program
pdg.program {
  %yes = pdg.constant dense<true> : tensor<i1>
  // Nobody assigns it: read once, before everything that reads it.
  // CHECK: %[[STILL:.*]] = pdg.read <"still">
  // CHECK-NOT: pdg.read <"still">
  // CHECK: pdg.for_each @train
  pdg.for_each @train {
  ^bb0(%i: tensor<i64>, %x: tensor<?xf32>):
    // CHECK: %[[W:.*]] = pdg.read <"w">
    %w = pdg.read <"w"> : tensor<f32>
    %same = pdg.read <"w"> : tensor<f32>
    %still = pdg.read <"still"> : tensor<f32>
    %next = pdg.add %same, %still : tensor<f32>, tensor<f32>
    // CHECK: pdg.add %[[W]], %[[STILL]]
    // A condition finds what was read before it.
    // CHECK: pdg.if
    // CHECK-NOT: pdg.read
    // CHECK: pdg.print {{.*}}(%[[W]]
    pdg.if %yes {
      %again = pdg.read <"w"> : tensor<f32>
      pdg.print ["", ""] [#pdg.format<>] (%again : tensor<f32>)
    } else {
    }
    pdg.assign <"w">, %next : tensor<f32>
    // The loop over tests does not assign w: read once for it, but again after the assignment.
    // CHECK: pdg.assign
    // CHECK: %[[NEW:.*]] = pdg.read <"w">
    // CHECK: pdg.for_each @test
    // CHECK-NOT: pdg.read
    // CHECK: pdg.print {{.*}}(%[[NEW]]
    // CHECK: pdg.print {{.*}}(%[[STILL]]
    pdg.for_each @test {
    ^bb0(%j: tensor<i64>, %y: tensor<?xf32>):
      %inner = pdg.read <"w"> : tensor<f32>
      pdg.print ["", ""] [#pdg.format<>] (%inner : tensor<f32>)
      pdg.if %yes {
        %deep = pdg.read <"still"> : tensor<f32>
        pdg.print ["", ""] [#pdg.format<>] (%deep : tensor<f32>)
      } else {
      }
    }
    pdg.yield
  }
  // The loop has assigned it.
  // CHECK: %[[END:.*]] = pdg.read <"w">
  // CHECK: pdg.fetch "w", %[[END]]
  %end = pdg.read <"w"> : tensor<f32>
  pdg.fetch "w", %end : tensor<f32>
  pdg.yield
}
