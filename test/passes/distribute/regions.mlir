// Slices through loops and conditions.
// RUN: %pdc-opt --pdg-split-batch=replicas=2 %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.source @train "csv" ["a.csv"] batch 64 : [tensor<3xf32>]

// CHECK-LABEL: pdg.program
pdg.program {
  %zero = pdg.constant dense<0> : tensor<i64>
  %four = pdg.constant dense<4> : tensor<i64>
  %begin = pdg.constant dense<0.0> : tensor<f32>
  // A value that is no slice is carried as it is.
  // CHECK: pdg.for_each @train carry(%{{[0-9]+}} : tensor<f32>) -> tensor<f32>
  %total = pdg.for_each @train carry (%begin : tensor<f32>) -> tensor<f32> {
  ^bb0(%step: tensor<i64>, %x: tensor<?x3xf32>, %sum: tensor<f32>):
    // A loop carries the slices, in place of the whole.
    // CHECK: %[[H:.*]]:2 = pdg.for {{.*}} -> tensor<?x3xf32>, tensor<?x3xf32>
    // CHECK: ^bb0(%{{.*}}: tensor<i64>, %[[H0:.*]]: tensor<?x3xf32>, %[[H1:.*]]: tensor<?x3xf32>):
    // CHECK: %[[E0:.*]] = pdg.exp %[[H0]]
    // CHECK: %[[E1:.*]] = pdg.exp %[[H1]]
    // CHECK: pdg.yield %[[E0]], %[[E1]]
    %h = pdg.for %zero to %four carry (%x : tensor<?x3xf32>) -> tensor<?x3xf32> {
    ^bb0(%t: tensor<i64>, %state: tensor<?x3xf32>):
      %e = pdg.exp %state : tensor<?x3xf32>
      pdg.yield %e : tensor<?x3xf32>
    }
    %is_first = pdg.eq %step, %zero : tensor<i64>, tensor<i64>
    // CHECK: %[[C:.*]]:2 = pdg.if
    // CHECK: pdg.yield %[[H]]#0, %[[H]]#1
    // CHECK: pdg.yield
    %c = pdg.if %is_first -> tensor<?x3xf32> {
      pdg.yield %h : tensor<?x3xf32>
    } else {
      pdg.yield %x : tensor<?x3xf32>
    }
    // CHECK: pdg.sum %[[C]]#0 axis 0
    // CHECK: pdg.sum %[[C]]#1 axis 0
    %columns = pdg.sum %c axis 0 : tensor<?x3xf32>
    %all = pdg.sum %columns axis 0 : tensor<3xf32>
    %next = pdg.add %sum, %all : tensor<f32>, tensor<f32>
    pdg.yield %next : tensor<f32>
  }
  pdg.print ["", ""] [#pdg.format<>] (%total : tensor<f32>)
  pdg.yield
}
