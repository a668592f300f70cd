// R5: asynchronous trainers take whole batches in turn; what no loop changes is run by everybody.
// RUN: %pdc-opt --pdg-share-batches=trainers=3 %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.source @d "csv" ["d.csv"] batch 4 : [tensor<f32>]
pdg.variable <"w"> : tensor<f32> {
  %one = pdg.constant dense<1.0> : tensor<f32>
  pdg.yield %one : tensor<f32>
}
// CHECK: pdg.program {
// CHECK-NEXT: %[[R:.*]] = pdg.replica
pdg.program {
  %zero = pdg.constant dense<0.0> : tensor<f32>
  // CHECK: pdg.for_each @d carry(%{{.*}}) -> tensor<f32> {
  // CHECK-NEXT: ^bb0(%[[STEP:.*]]: tensor<i64>, %[[X:.*]]: tensor<?xf32>, %[[C:.*]]: tensor<f32>):
  // CHECK-NEXT: %[[T:.*]] = pdg.constant dense<3> : tensor<i64>
  // CHECK-NEXT: %[[TURN:.*]] = pdg.mod %[[STEP]], %[[T]]
  // CHECK-NEXT: %[[MINE:.*]] = pdg.eq %[[TURN]], %[[R]]
  // CHECK-NEXT: %[[OUT:.*]]:2 = pdg.if %[[MINE]] -> tensor<f32>, tensor<i1> {
  // CHECK: pdg.assign <"w">
  // CHECK: pdg.yield %{{.*}}, %[[GO:.*]] : tensor<f32>, tensor<i1>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: %[[YES:.*]] = pdg.constant dense<true>
  // CHECK-NEXT: pdg.yield %[[C]], %[[YES]] : tensor<f32>, tensor<i1>
  // CHECK: pdg.yield %[[OUT]]#0 : tensor<f32> while %[[OUT]]#1
  %last = pdg.for_each @d carry (%zero : tensor<f32>) -> tensor<f32> {
  ^bb0(%step: tensor<i64>, %x: tensor<?xf32>, %carried: tensor<f32>):
    %s = pdg.sum %x axis 0 : tensor<?xf32>
    %next = pdg.add %carried, %s : tensor<f32>, tensor<f32>
    pdg.assign <"w">, %next : tensor<f32>
    %goes_on = pdg.lt %next, %zero : tensor<f32>, tensor<f32>
    pdg.yield %next : tensor<f32> while %goes_on
  }
  // CHECK: pdg.for_each @d carry
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: pdg.sum
  %total = pdg.for_each @d carry (%last : tensor<f32>) -> tensor<f32> {
  ^bb0(%step: tensor<i64>, %x: tensor<?xf32>, %carried: tensor<f32>):
    %s = pdg.sum %x axis 0 : tensor<?xf32>
    %next = pdg.add %carried, %s : tensor<f32>, tensor<f32>
    pdg.yield %next : tensor<f32>
  }
  pdg.fetch "total", %total : tensor<f32>
  pdg.yield
}
