// What no effect needs.
// RUN: %pdc-opt --pdg-prune %s | FileCheck %s
// RUN: %pdc-opt --pdg-prune=saved=false %s | FileCheck %s --check-prefix=UNSAVED
// SPDX-License-Identifier: Apache-2.0

pdg.source @train "csv" ["a.csv"] batch 64 : [tensor<f32>]
// Parameters, and what optimizers keep for them, stay.
// UNSAVED: pdg.variable <"w">
// UNSAVED: pdg.variable <"w", state = "m">
pdg.variable <"w"> : tensor<f32> param {
  %0 = pdg.constant dense<0.0> : tensor<f32>
  pdg.yield %0 : tensor<f32>
}
pdg.variable <"w", state = "m"> : tensor<f32> {
  %0 = pdg.constant dense<0.0> : tensor<f32>
  pdg.yield %0 : tensor<f32>
}
// Only its own update reads it: it matters if somebody saves it.
// CHECK: pdg.variable <"average">
// UNSAVED-NOT: average
pdg.variable <"average"> : tensor<f32> {
  %0 = pdg.constant dense<0.0> : tensor<f32>
  pdg.yield %0 : tensor<f32>
}

// CHECK-LABEL: pdg.program
// UNSAVED-LABEL: pdg.program
pdg.program {
  %zero = pdg.constant dense<0.0> : tensor<f32>
  %yes = pdg.constant dense<true> : tensor<i1>
  // The second carried value is never looked at, the third only by the loop's end.
  // CHECK: %[[S:.*]]:2 = pdg.for_each @train carry(%{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>) -> tensor<f32>, tensor<f32>
  // UNSAVED: pdg.for_each
  %sums:3 = pdg.for_each @train carry (%zero, %zero, %zero : tensor<f32>, tensor<f32>, tensor<f32>)
      -> tensor<f32>, tensor<f32>, tensor<f32> {
  // CHECK: ^bb0(%{{.*}}: tensor<i64>, %[[X:.*]]: tensor<?xf32>, %[[A:.*]]: tensor<f32>, %[[C:.*]]: tensor<f32>):
  ^bb0(%i: tensor<i64>, %x: tensor<?xf32>, %a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>):
    // CHECK-NOT: pdg.exp
    // UNSAVED-NOT: pdg.cos
    %s = pdg.sum %x axis 0 : tensor<?xf32>
    %e = pdg.exp %s : tensor<f32>
    %t = pdg.tanh %s : tensor<f32>
    %u = pdg.cos %s : tensor<f32>
    // CHECK: pdg.read <"average">
    // CHECK: pdg.assign <"average">
    %average = pdg.read <"average"> : tensor<f32>
    %moved = pdg.add %average, %u : tensor<f32>, tensor<f32>
    pdg.assign <"average">, %moved : tensor<f32>
    // A parameter's update is kept, and the state that it reads.
    // UNSAVED: pdg.assign <"w", state = "m">
    // UNSAVED: pdg.assign <"w">
    %m = pdg.read <"w", state = "m"> : tensor<f32>
    %next = pdg.add %m, %s : tensor<f32>, tensor<f32>
    pdg.assign <"w", state = "m">, %next : tensor<f32>
    pdg.assign <"w">, %next : tensor<f32>
    // Of a condition, too, only what is used.
    // CHECK: pdg.if {{.*}} -> tensor<f32> {
    %both:2 = pdg.if %yes -> tensor<f32>, tensor<f32> {
      pdg.yield %s, %e : tensor<f32>, tensor<f32>
    } else {
      pdg.yield %t, %s : tensor<f32>, tensor<f32>
    }
    %a1 = pdg.add %a, %both#0 : tensor<f32>, tensor<f32>
    %b1 = pdg.add %b, %both#1 : tensor<f32>, tensor<f32>
    %c1 = pdg.add %c, %s : tensor<f32>, tensor<f32>
    %small = pdg.lt %c1, %zero : tensor<f32>, tensor<f32>
    // CHECK: pdg.yield %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32> while
    pdg.yield %a1, %b1, %c1 : tensor<f32>, tensor<f32>, tensor<f32> while %small
  }
  // CHECK: pdg.print {{.*}}(%[[S]]#0
  pdg.print ["", ""] [#pdg.format<>] (%sums#0 : tensor<f32>)
  // A pass over data is one, whoever looks: the next one shuffles otherwise.
  // CHECK: pdg.for_each @train
  pdg.for_each @train {
  ^bb0(%i: tensor<i64>, %x: tensor<?xf32>):
  }
  pdg.yield
}
