// R8, R9: where variables and ops are is decided when compiling; an update is with its variable.
// RUN: %pdc-opt --pdg-place-variables %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 2>} {
  pdg.source @train "csv" ["a.csv"] batch 64 : [tensor<8xf32>]
  // An optimizer's state, found by def-use and not by its name, is with its parameter.
  // CHECK: pdg.variable <"w">
  // CHECK: } {pdg.home = #pdg.role<server>, pdg.why = "server 0 had the least to do
  pdg.variable <"w"> : tensor<8xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<8xf32>
    pdg.yield %0 : tensor<8xf32>
  }
  // CHECK: pdg.variable <"other">
  // CHECK: } {pdg.home = #pdg.role<server>, pdg.why = "with w: one update works on both"}
  pdg.variable <"other"> : tensor<8xf32> {
    %0 = pdg.constant dense<0.0> : tensor<8xf32>
    pdg.yield %0 : tensor<8xf32>
  }
  // CHECK: pdg.variable <"steps">
  // CHECK: } {pdg.home = #pdg.role<server>, pdg.why = "with w: one update works on both"}
  pdg.variable <"steps"> : tensor<i64> {
    %0 = pdg.constant dense<0> : tensor<i64>
    pdg.yield %0 : tensor<i64>
  }
  // A moving average of a statistic of the batch has a home too.
  // CHECK: pdg.variable <"mean">
  // CHECK: } {pdg.home = #pdg.role<server, 1>, pdg.why = "server 1 had the least to do
  pdg.variable <"mean"> : tensor<8xf32> {
    %0 = pdg.constant dense<0.0> : tensor<8xf32>
    pdg.yield %0 : tensor<8xf32>
  }

  // CHECK: pdg.program
  pdg.program {
    // CHECK: pdg.constant {pdg.place = #pdg.role<anywhere>}
    %one = pdg.constant dense<1> : tensor<i64>
    %rate = pdg.constant dense<0.1> : tensor<8xf32>
    // CHECK: pdg.replica {pdg.place = #pdg.role<trainer>}
    %r = pdg.replica
    // CHECK: pdg.for_each
    // CHECK-NOT: pdg.place
    // CHECK-NEXT: ^bb0
    %steps = pdg.for_each @train carry(%one : tensor<i64>) -> tensor<i64> {
    ^bb0(%i: tensor<i64>, %x: tensor<?x8xf32>, %passed: tensor<i64>):
      // CHECK-NEXT: pdg.dim {{.*}}<trainer>
      %n = pdg.dim %x axis 0 : tensor<?x8xf32>
      %begin = pdg.part_begin %n part 0 plus %r of 2 leaves
      %end = pdg.part_begin %n part 1 plus %r of 2 leaves
      %size = pdg.sub %end, %begin : tensor<i64>, tensor<i64>
      %part = pdg.part %x axis 0 from %begin size %size : tensor<?x8xf32>
      // CHECK: pdg.sum {{.*}}<trainer>
      %sum = pdg.sum %part axis 0 : tensor<?x8xf32>
      // CHECK-NEXT: pdg.read <"w"> {{.*}}<server>
      %w = pdg.read <"w"> : tensor<8xf32>
      // CHECK-NEXT: pdg.mul {{.*}}<trainer>
      %g = pdg.mul %sum, %w : tensor<8xf32>, tensor<8xf32>
      // CHECK-NEXT: pdg.all_reduce {{.*}}<trainer>
      %joined = pdg.all_reduce %g sum of 2 : tensor<8xf32>
      // The momentum and the number of steps.
      // CHECK-NEXT: pdg.read <"other"> {{.*}}<server>
      // CHECK-NEXT: pdg.add {{.*}}<server>
      // CHECK-NEXT: pdg.assign {{.*}}<server>
      %m = pdg.read <"other"> : tensor<8xf32>
      %m1 = pdg.add %m, %joined : tensor<8xf32>, tensor<8xf32>
      pdg.assign <"other">, %m1 : tensor<8xf32>
      // CHECK-NEXT: pdg.read <"steps"> {{.*}}<server>
      // CHECK-NEXT: pdg.add {{.*}}<server>
      // CHECK-NEXT: pdg.assign {{.*}}<server>
      // CHECK-NEXT: pdg.cast {{.*}}<server>
      %t = pdg.read <"steps"> : tensor<i64>
      %t1 = pdg.add %t, %one : tensor<i64>, tensor<i64>
      pdg.assign <"steps">, %t1 : tensor<i64>
      %t2 = pdg.cast %t1 to f32 : tensor<i64>
      %t3 = pdg.broadcast %t2 to [8] : tensor<f32>
      %m2 = pdg.div %m1, %t3 : tensor<8xf32>, tensor<8xf32>
      // The rate depends on nothing but a constant; the parameter is an input of its own update.
      // CHECK: pdg.mul {{.*}}<server>
      // CHECK-NEXT: pdg.sub {{.*}}<server>
      // CHECK-NEXT: pdg.assign {{.*}}<server>
      %step = pdg.mul %m2, %rate : tensor<8xf32>, tensor<8xf32>
      %next = pdg.sub %w, %step : tensor<8xf32>, tensor<8xf32>
      pdg.assign <"w">, %next : tensor<8xf32>
      // CHECK-NEXT: pdg.all_reduce {{.*}}<trainer>
      // CHECK-NEXT: pdg.read <"mean"> {{.*}}<server, 1>
      // CHECK-NEXT: pdg.mul {{.*}}<server, 1>
      // CHECK-NEXT: pdg.assign {{.*}}<server, 1>
      %all = pdg.all_reduce %sum sum of 2 : tensor<8xf32>
      %mean = pdg.read <"mean"> : tensor<8xf32>
      %mean1 = pdg.mul %mean, %all : tensor<8xf32>, tensor<8xf32>
      pdg.assign <"mean">, %mean1 : tensor<8xf32>
      // CHECK-NEXT: pdg.add {{.*}}<anywhere>
      %passed1 = pdg.add %passed, %one : tensor<i64>, tensor<i64>
      pdg.yield %passed1 : tensor<i64>
    // CHECK: } {pdg.places = [#pdg.role<anywhere>]}
    }
    // CHECK: pdg.print {{.*}}<trainer>
    pdg.print ["", ""] [#pdg.format<>] (%steps : tensor<i64>)
    pdg.yield
  }
}
