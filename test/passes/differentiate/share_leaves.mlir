// What iterations contribute to one value is summed with common leaves, through transposes; any
// other contribution is added.
// RUN: %pdc-opt --pdg-differentiate --canonicalize %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

// CHECK-LABEL: pdg.program
pdg.program {
  %w = pdg.input "w" : tensor<3x4xf32>
  %scale = pdg.input "scale" : tensor<f32>
  %x = pdg.input "x" : tensor<32x3xf32>
  %zero = pdg.constant dense<0> : tensor<i64>
  %n = pdg.constant dense<5> : tensor<i64>
  %none = pdg.constant dense<0.0> : tensor<f32>
  %loss = pdg.for %zero to %n carry (%none : tensor<f32>) -> tensor<f32> {
  ^bb0(%i: tensor<i64>, %sum: tensor<f32>):
    %t = pdg.transpose %w [1, 0] : tensor<3x4xf32>
    %p = pdg.contract "nk,jk->nj" %x, %t : tensor<32x3xf32>, tensor<4x3xf32>
    %rows = pdg.sum %p axis 1 : tensor<32x4xf32>
    %all = pdg.sum %rows axis 0 : tensor<32xf32>
    %scaled = pdg.mul %all, %scale : tensor<f32>, tensor<f32>
    %next = pdg.add %sum, %scaled : tensor<f32>, tensor<f32>
    pdg.yield %next : tensor<f32>
  }
  // Nothing that the loop carries is needed backwards.
  // CHECK-NOT: pdg.update_row
  // CHECK: %[[BACK:.*]]:3 = pdg.for
  // CHECK: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<f32>, %[[L:.*]]: tensor<2x4x3xf32>, %[[S:.*]]: tensor<f32>)
  // CHECK-DAG: %[[NEXT:.*]] = pdg.contract_leaves {{.*}} cut onto %[[L]]
  // CHECK-DAG: %[[ADDED:.*]] = pdg.add %[[S]],
  // CHECK: pdg.yield %{{.*}}, %[[NEXT]], %[[ADDED]]
  // CHECK: %[[J:.*]] = pdg.join_leaves %[[BACK]]#1
  // CHECK: pdg.transpose %[[J]] [1, 0]
  // CHECK-NOT: pdg.contribute
  %gw, %gs = pdg.gradient %loss of [] %w, %scale : tensor<3x4xf32>, tensor<f32>
      : tensor<f32> -> tensor<3x4xf32>, tensor<f32>
  pdg.fetch "w", %gw : tensor<3x4xf32>
  pdg.fetch "scale", %gs : tensor<f32>
  pdg.yield
}
