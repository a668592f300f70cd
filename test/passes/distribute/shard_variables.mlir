// R10: a large variable is split over servers if what updates it is proved to be element-wise.
// RUN: split-file %s %t
// RUN: %pdc-opt --pdg-shard-variables=min-bytes=1 %t/split.mlir | FileCheck %t/split.mlir
// RUN: %pdc-opt --pdg-shard-variables %t/split.mlir | FileCheck %t/split.mlir --check-prefix=SMALL
// RUN: %pdc-opt --pdg-shard-variables=min-bytes=1 --pdg-place-variables %t/split.mlir \
// RUN:     | FileCheck %t/split.mlir --check-prefix=PLACED
// RUN: %pdc-opt --pdg-shard-variables=min-bytes=1 %t/whole.mlir | FileCheck %t/whole.mlir
// RUN: %pdc-opt --pdg-shard-variables %t/refused.mlir --split-input-file --verify-diagnostics
// SPDX-License-Identifier: Apache-2.0

//--- split.mlir
// SMALL-NOT: slice
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 2>} {
  // CHECK: pdg.variable <"w", slice = [0, 32]> : tensor<32xf32> param {
  // CHECK: %[[W:.*]] = pdg.slice {{.*}} axis 0 from 0 size 32
  // CHECK: pdg.yield %[[W]] : tensor<32xf32>
  // CHECK: pdg.variable <"w", slice = [32, 64]> : tensor<32xf32> param {
  // CHECK: pdg.slice {{.*}} axis 0 from 32 size 32
  // PLACED: pdg.variable <"w", slice = [0, 32]>
  // PLACED: } {pdg.home = #pdg.role<server>,
  // PLACED: pdg.variable <"w", slice = [32, 64]>
  // PLACED: } {pdg.home = #pdg.role<server, 1>,
  pdg.variable <"w"> : tensor<64xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<f32>
    %1 = pdg.broadcast %0 to [64] : tensor<f32>
    pdg.yield %1 : tensor<64xf32>
  }
  // The number of steps stays whole.
  // CHECK: pdg.variable <"w", state = "t"> : tensor<i64>
  pdg.variable <"w", state = "t"> : tensor<i64> {
    %0 = pdg.constant dense<0> : tensor<i64>
    pdg.yield %0 : tensor<i64>
  }
  // CHECK: pdg.program
  // PLACED: pdg.program
  pdg.program {
    %one = pdg.constant dense<1> : tensor<i64>
    %r = pdg.replica
    // Trainers put together what they read, and send slices of what they have.
    // CHECK: %[[W0:.*]] = pdg.read <"w", slice = [0, 32]>
    // CHECK: %[[W1:.*]] = pdg.read <"w", slice = [32, 64]>
    // CHECK: pdg.concat %[[W0]], %[[W1]] axis 0 {pdg.place = #pdg.role<trainer>}
    %w = pdg.read <"w"> : tensor<64xf32>
    %f = pdg.cast %r to f32 : tensor<i64>
    %all = pdg.broadcast %f to [64] : tensor<f32>
    // CHECK: %[[P:.*]] = pdg.mul
    // CHECK: %[[P0:.*]] = pdg.slice %[[P]] axis 0 from 0 size 32
    // CHECK: %[[P1:.*]] = pdg.slice %[[P]] axis 0 from 32 size 32
    // CHECK: %[[G0:.*]] = pdg.all_reduce %[[P0]] sum of 2 : tensor<32xf32>
    // CHECK: %[[G1:.*]] = pdg.all_reduce %[[P1]] sum of 2 : tensor<32xf32>
    // CHECK-NOT: pdg.all_reduce
    %part = pdg.mul %w, %all : tensor<64xf32>, tensor<64xf32>
    %g = pdg.all_reduce %part sum of 2 : tensor<64xf32>
    // The norm: two of the four leaves on each server, joined as the tree of the whole sum.
    // CHECK-DAG: %[[S0:.*]] = pdg.mul %[[G0]], %[[G0]] : tensor<32xf32>
    // CHECK-DAG: %[[S1:.*]] = pdg.mul %[[G1]], %[[G1]] : tensor<32xf32>
    // CHECK-DAG: %[[R0:.*]] = pdg.reshape %[[S0]] to [2, 16]
    // CHECK-DAG: %[[R1:.*]] = pdg.reshape %[[S1]] to [2, 16]
    // CHECK-DAG: %[[L0:.*]] = pdg.sum %[[R0]] axis 1
    // CHECK-DAG: %[[L1:.*]] = pdg.sum %[[R1]] axis 1
    // CHECK: %[[L:.*]] = pdg.concat %[[L0]], %[[L1]] axis 0
    // CHECK: %[[N:.*]] = pdg.join_leaves %[[L]]
    // CHECK: pdg.sqrt %[[N]]
    // PLACED: pdg.reshape {{.*}}<server>
    // PLACED: pdg.sum {{.*}}<server>
    // PLACED: pdg.reshape {{.*}}<server, 1>
    // PLACED: pdg.sum {{.*}}<server, 1>
    // PLACED: pdg.join_leaves {{.*}}<server>
    %square = pdg.mul %g, %g : tensor<64xf32>, tensor<64xf32>
    %sum = pdg.sum %square axis 0 : tensor<64xf32>
    %norm = pdg.sqrt %sum : tensor<f32>
    %t = pdg.read <"w", state = "t"> : tensor<i64>
    %t1 = pdg.add %t, %one : tensor<i64>, tensor<i64>
    pdg.assign <"w", state = "t">, %t1 : tensor<i64>
    %t2 = pdg.cast %t1 to f32 : tensor<i64>
    %scale = pdg.mul %norm, %t2 : tensor<f32>, tensor<f32>
    %scales = pdg.broadcast %scale to [64] : tensor<f32>
    // CHECK: pdg.broadcast {{.*}} to [32]
    // CHECK: pdg.broadcast {{.*}} to [32]
    // CHECK: pdg.assign <"w", slice = [0, 32]>, {{.*}} : tensor<32xf32>
    // CHECK: pdg.assign <"w", slice = [32, 64]>, {{.*}} : tensor<32xf32>
    // CHECK-NOT: pdg.assign
    // PLACED: pdg.assign <"w", slice = [0, 32]>, {{.*}}<server>
    // PLACED: pdg.assign <"w", slice = [32, 64]>, {{.*}}<server, 1>
    %step = pdg.mul %g, %scales : tensor<64xf32>, tensor<64xf32>
    %next = pdg.sub %w, %step : tensor<64xf32>, tensor<64xf32>
    pdg.assign <"w">, %next : tensor<64xf32>
    pdg.yield
  }
}

//--- whole.mlir
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 2>} {
  // CHECK: pdg.variable <"w">
  // CHECK: "pdg.why-whole" = "in its update 'contract' needs all of it
  pdg.variable <"w"> : tensor<4x4xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<4x4xf32>
    pdg.yield %0 : tensor<4x4xf32>
  }
  pdg.program {
    %r = pdg.replica
    %f = pdg.cast %r to f32 : tensor<i64>
    %part = pdg.broadcast %f to [4, 4] : tensor<f32>
    %g = pdg.all_reduce %part sum of 2 : tensor<4x4xf32>
    %turned = pdg.contract "ik,kj->ij" %g, %g : tensor<4x4xf32>, tensor<4x4xf32>
    %w = pdg.read <"w"> : tensor<4x4xf32>
    %next = pdg.sub %w, %turned : tensor<4x4xf32>, tensor<4x4xf32>
    pdg.assign <"w">, %next : tensor<4x4xf32>
    pdg.yield
  }
}

//--- refused.mlir
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 2>} {
  // expected-error@+1 {{PD0206: expected a variable that can be split along axis 0 (@shard); 'w' cannot: 'sum' is a sum of 17 terms in one chain}}
  pdg.variable <"w"> : tensor<17xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<17xf32>
    pdg.yield %0 : tensor<17xf32>
  } {pdg.shard = 0 : i64}
  pdg.program {
    %r = pdg.replica
    %f = pdg.cast %r to f32 : tensor<i64>
    %part = pdg.broadcast %f to [17] : tensor<f32>
    %g = pdg.all_reduce %part sum of 2 : tensor<17xf32>
    // expected-note@+1 {{in its update}}
    %sum = pdg.sum %g axis 0 : tensor<17xf32>
    %norms = pdg.broadcast %sum to [17] : tensor<f32>
    %w = pdg.read <"w"> : tensor<17xf32>
    %step = pdg.mul %g, %norms : tensor<17xf32>, tensor<17xf32>
    %next = pdg.sub %w, %step : tensor<17xf32>, tensor<17xf32>
    pdg.assign <"w">, %next : tensor<17xf32>
    pdg.yield
  }
}
