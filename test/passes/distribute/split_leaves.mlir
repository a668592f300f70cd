// Leaves that a loop carries: a slice has its share of them.
// RUN: split-file %s %t
// RUN: %pdc-opt --pdg-split-batch=replicas=2 %t/joined.mlir | FileCheck %s
// RUN: %pdc-opt --pdg-split-batch=replicas=3 %t/joined.mlir | FileCheck %s --check-prefix=THREE
// RUN: %pdc-opt --pdg-split-batch=replicas=2 %t/rows.mlir | FileCheck %s --check-prefix=ROWS
// RUN: %pdc-opt --pdg-split-batch=replicas=2 %t/seen.mlir | FileCheck %s --check-prefix=SEEN
// SPDX-License-Identifier: Apache-2.0

// CHECK: %[[NONE:.*]] = pdg.broadcast %{{.*}} to [8, 3]
// CHECK: %[[ALSO:.*]] = pdg.broadcast %{{.*}} to [8, 3]
// CHECK: %[[L:.*]]:2 = pdg.for {{.*}} carry(%[[NONE]], %[[ALSO]] : tensor<8x3xf32>, tensor<8x3xf32>)
// CHECK: ^bb0(%{{.*}}: tensor<i64>, %[[A:.*]]: tensor<8x3xf32>, %[[B:.*]]: tensor<8x3xf32>):
// CHECK: %[[A1:.*]] = pdg.sum_leaves %{{.*}} onto %[[A]]
// CHECK: %[[B1:.*]] = pdg.sum_leaves %{{.*}} onto %[[B]]
// CHECK: pdg.yield %[[A1]], %[[B1]]
// CHECK: %[[S0:.*]] = pdg.join_leaves %[[L]]#0
// CHECK: %[[S1:.*]] = pdg.join_leaves %[[L]]#1
// CHECK: pdg.add %[[S0]], %[[S1]]

// Slices that are no whole leaves are summed with as many leaves as they like.
// THREE: pdg.for {{.*}} : tensor<16x3xf32>, tensor<16x3xf32>, tensor<16x3xf32>)
// THREE-COUNT-3: pdg.sum_leaves
// THREE-COUNT-3: pdg.join_leaves

// Rounds that go on with a row of a table each.
// ROWS-COUNT-2: pdg.take_row %{{.*}} axis 1 : tensor<8x4x3xf32>
// ROWS-COUNT-2: pdg.sum_leaves
// ROWS-COUNT-2: pdg.reshape %{{.*}} to [8, 1, 3]
// ROWS-COUNT-2: pdg.put_slice %{{.*}} : tensor<8x4x3xf32>, tensor<8x1x3xf32>
// ROWS-COUNT-2: pdg.join_leaves %{{.*}} : tensor<8x4x3xf32>

// There is no whole of leaves that slices have: the terms are put together instead. Other leaves of
// the same program are split.
// SEEN: pdg.for {{.*}} carry(%{{.*}} : tensor<16x3xf32>)
// SEEN: %[[X:.*]] = pdg.concat
// SEEN: pdg.sum_leaves %[[X]] onto

//--- joined.mlir
pdg.source @train "csv" ["a.csv"] batch 64 : [tensor<3xf32>]
pdg.program {
  %zero = pdg.constant dense<0> : tensor<i64>
  %four = pdg.constant dense<4> : tensor<i64>
  %nothing = pdg.constant dense<0.0> : tensor<f32>
  pdg.for_each @train {
  ^bb0(%step: tensor<i64>, %x: tensor<?x3xf32>):
    %none = pdg.broadcast %nothing to [16, 3] : tensor<f32>
    %leaves = pdg.for %zero to %four carry (%none : tensor<16x3xf32>) -> tensor<16x3xf32> {
    ^bb0(%i: tensor<i64>, %l: tensor<16x3xf32>):
      %e = pdg.exp %x : tensor<?x3xf32>
      %next = pdg.sum_leaves %e onto %l : tensor<?x3xf32>, tensor<16x3xf32>
      pdg.yield %next : tensor<16x3xf32>
    }
    %sum = pdg.join_leaves %leaves : tensor<16x3xf32>
    pdg.fetch "sum", %sum : tensor<3xf32>
  }
  pdg.yield
}
//--- rows.mlir
pdg.source @train "csv" ["a.csv"] batch 64 : [tensor<3xf32>]
pdg.program {
  %zero = pdg.constant dense<0> : tensor<i64>
  %four = pdg.constant dense<4> : tensor<i64>
  %nothing = pdg.constant dense<0.0> : tensor<f32>
  pdg.for_each @train {
  ^bb0(%step: tensor<i64>, %x: tensor<?x3xf32>):
    %none = pdg.broadcast %nothing to [16, 4, 3] : tensor<f32>
    %leaves = pdg.for %zero to %four carry (%none : tensor<16x4x3xf32>) -> tensor<16x4x3xf32> {
    ^bb0(%i: tensor<i64>, %l: tensor<16x4x3xf32>):
      %row = pdg.take_row %l at %i axis 1 : tensor<16x4x3xf32>, tensor<i64>
      %next = pdg.sum_leaves %x onto %row : tensor<?x3xf32>, tensor<16x3xf32>
      %part = pdg.reshape %next to [16, 1, 3] : tensor<16x3xf32>
      %all = pdg.put_slice %l, %part at %i axis 1 : tensor<16x4x3xf32>, tensor<16x1x3xf32>
      pdg.yield %all : tensor<16x4x3xf32>
    }
    %sum = pdg.join_leaves %leaves : tensor<16x4x3xf32>
    pdg.fetch "sum", %sum : tensor<4x3xf32>
  }
  pdg.yield
}
//--- seen.mlir
pdg.source @train "csv" ["a.csv"] batch 64 : [tensor<3xf32>]
pdg.program {
  %zero = pdg.constant dense<0> : tensor<i64>
  %four = pdg.constant dense<4> : tensor<i64>
  %nothing = pdg.constant dense<0.0> : tensor<f32>
  pdg.for_each @train {
  ^bb0(%step: tensor<i64>, %x: tensor<?x3xf32>):
    %none = pdg.broadcast %nothing to [16, 3] : tensor<f32>
    %leaves = pdg.for %zero to %four carry (%none : tensor<16x3xf32>) -> tensor<16x3xf32> {
    ^bb0(%i: tensor<i64>, %l: tensor<16x3xf32>):
      %e = pdg.exp %x : tensor<?x3xf32>
      %next = pdg.sum_leaves %e onto %l : tensor<?x3xf32>, tensor<16x3xf32>
      pdg.yield %next : tensor<16x3xf32>
    }
    pdg.fetch "leaves", %leaves : tensor<16x3xf32>
    // SEEN-COUNT-2: pdg.sum_leaves {{.*}} tensor<8x3xf32>
    %other = pdg.sum_leaves %x onto %none : tensor<?x3xf32>, tensor<16x3xf32>
    %sum = pdg.join_leaves %other : tensor<16x3xf32>
    pdg.fetch "sum", %sum : tensor<3xf32>
  }
  pdg.yield
}
