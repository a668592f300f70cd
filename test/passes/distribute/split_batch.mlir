// Slices of batches: what is computed on them, what is joined, what is gathered.
// RUN: %pdc-opt --pdg-split-batch=replicas=2 %s | FileCheck %s
// RUN: %pdc-opt --pdg-split-batch=replicas=3 %s | FileCheck %s --check-prefix=THREE
// SPDX-License-Identifier: Apache-2.0

pdg.source @train "csv" ["a.csv"] batch 64 : [tensor<3xf32>, tensor<f32>]
pdg.variable <"w"> : tensor<3xf32> param {
  %0 = pdg.constant dense<0.0> : tensor<f32>
  %1 = pdg.broadcast %0 to [3] : tensor<f32>
  pdg.yield %1 : tensor<3xf32>
}

// CHECK-LABEL: pdg.program
// THREE-LABEL: pdg.program
pdg.program {
  // CHECK: pdg.for_each @train
  pdg.for_each @train {
  // CHECK: ^bb0(%{{.*}}: tensor<i64>, %[[X:.*]]: tensor<?x3xf32>, %[[Y:.*]]: tensor<?xf32>):
  // CHECK: %[[N:.*]] = pdg.dim %[[X]] axis 0
  // Whole leaves: 2 divides L(64) = 4.
  // CHECK: %[[HALF:.*]] = pdg.part_begin %[[N]] part 1 of 2 leaves
  // CHECK: pdg.part %[[X]] axis 0
  // CHECK: pdg.part %[[X]] axis 0 from %[[HALF]]
  // 3 does not.
  // THREE: pdg.part_begin %{{[0-9]+}} part 1 of 3{{$}}
  // THREE: pdg.part_begin %{{[0-9]+}} part 2 of 3{{$}}
  ^bb0(%step: tensor<i64>, %x: tensor<?x3xf32>, %y: tensor<?xf32>):
    // A variable is read once; what is repeated for each example is repeated for each of a slice.
    // CHECK: %[[W:.*]] = pdg.read
    // CHECK-NOT: pdg.read
    %w = pdg.read <"w"> : tensor<3xf32>
    %n = pdg.dim %x axis 0 : tensor<?x3xf32>
    %rows = pdg.broadcast %w to [%n, 3] : tensor<3xf32>
    // CHECK: pdg.broadcast %[[W]]
    // CHECK: %[[A0:.*]] = pdg.mul
    // CHECK: pdg.broadcast %[[W]]
    // CHECK: %[[A1:.*]] = pdg.mul
    %a = pdg.mul %x, %rows : tensor<?x3xf32>, tensor<?x3xf32>
    // CHECK: %[[P0:.*]] = pdg.sum %[[A0]] axis 1
    // CHECK: %[[P1:.*]] = pdg.sum %[[A1]] axis 1
    %p = pdg.sum %a axis 1 : tensor<?x3xf32>
    // A sum over the batch: partial sums are joined at once.
    // CHECK: %[[S0:.*]] = pdg.sum %[[P0]] axis 0
    // CHECK: %[[S1:.*]] = pdg.sum %[[P1]] axis 0
    // CHECK: %[[S:.*]] = pdg.add %[[S0]], %[[S1]] : tensor<f32>
    %s = pdg.sum %p axis 0 : tensor<?xf32>
    // THREE: %[[T0:.*]] = pdg.sum %{{.*}} axis 0
    // THREE: %[[T1:.*]] = pdg.sum %{{.*}} axis 0
    // THREE: %[[T2:.*]] = pdg.sum %{{.*}} axis 0
    // THREE: %[[T01:.*]] = pdg.add %[[T0]], %[[T1]]
    // THREE: pdg.add %[[T01]], %[[T2]]
    // CHECK: pdg.reduce_max %[[P0]] axis 0
    // CHECK: pdg.reduce_max %[[P1]] axis 0
    // CHECK: pdg.maximum
    %m = pdg.reduce_max %p axis 0 : tensor<?xf32>
    // An op that needs its axis whole gathers.
    // CHECK: %[[P:.*]] = pdg.concat %[[P0]], %[[P1]] axis 0
    // CHECK: pdg.cumsum %[[P]]
    %c = pdg.cumsum %p axis 0 : tensor<?xf32>
    pdg.fetch "c", %c : tensor<?xf32>
    // Updates happen once.
    // CHECK: pdg.contract "ki,k->i" %{{.*}}, %{{.*}} leaves
    // CHECK: pdg.contract "ki,k->i" %{{.*}}, %{{.*}} leaves
    // CHECK: %[[G:.*]] = pdg.add
    %g = pdg.contract "ki,k->i" %x, %p leaves : tensor<?x3xf32>, tensor<?xf32>
    // CHECK: pdg.assign {{.*}}, %[[G]]
    // CHECK-NOT: pdg.assign
    pdg.assign <"w">, %g : tensor<3xf32>
    pdg.print ["", " ", ""] [#pdg.format<>, #pdg.format<>] (%s, %m : tensor<f32>, tensor<f32>)
  }
  pdg.yield
}
