// The program of each of several trainers: its slices, what all join and what all gather.
// RUN: %pdc-opt --pdg-split-batch=trainers=4 %s | FileCheck %s
// RUN: %pdc-opt --pdg-split-batch="replicas=4 trainers=2" %s | FileCheck %s --check-prefix=TWO
// Compile time does not depend on the number of trainers.
// RUN: %pdc-opt --pdg-split-batch=trainers=10000 %s | FileCheck %s --check-prefix=MANY
// SPDX-License-Identifier: Apache-2.0

pdg.source @train "csv" ["a.csv"] batch 64 : [tensor<3xf32>]

// CHECK-LABEL: pdg.program
// TWO-LABEL: pdg.program
pdg.program {
  // CHECK: %[[R:.*]] = pdg.replica
  // The first of two slices of each trainer.
  // TWO: %[[R:.*]] = pdg.replica
  // TWO: %[[D:.*]] = pdg.constant dense<2> : tensor<i64>
  // TWO: %[[FIRST:.*]] = pdg.mul %[[R]], %[[D]]
  %begin = pdg.constant dense<0.0> : tensor<f32>
  // CHECK: %[[LAST:.*]]:2 = pdg.for_each @train carry(%{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>)
  %sums:2 = pdg.for_each @train carry (%begin, %begin : tensor<f32>, tensor<f32>)
      -> tensor<f32>, tensor<f32> {
  // CHECK: ^bb0(%{{.*}}: tensor<i64>, %[[X:.*]]: tensor<?x3xf32>,
  // CHECK: %[[N:.*]] = pdg.dim %[[X]] axis 0
  // CHECK: %[[B:.*]] = pdg.part_begin %[[N]] part 0 plus %[[R]] of 4 leaves
  // CHECK: %[[E:.*]] = pdg.part_begin %[[N]] part 1 plus %[[R]] of 4 leaves
  // CHECK: %[[S:.*]] = pdg.sub %[[E]], %[[B]]
  // CHECK: %[[X0:.*]] = pdg.part %[[X]] axis 0 from %[[B]] size %[[S]]
  // TWO: pdg.part_begin %{{.*}} part 0 plus %[[FIRST]] of 4 leaves
  // TWO: pdg.part_begin %{{.*}} part 1 plus %[[FIRST]] of 4 leaves
  // TWO: pdg.part_begin %{{.*}} part 2 plus %[[FIRST]] of 4 leaves
  // MANY-COUNT-2: pdg.part_begin
  // MANY-NOT: pdg.part_begin
  ^bb0(%step: tensor<i64>, %x: tensor<?x3xf32>, %a: tensor<f32>, %b: tensor<f32>):
    // CHECK: %[[P:.*]] = pdg.sum %[[X0]] axis 1
    // CHECK: %[[Q:.*]] = pdg.sum %[[P]] axis 0
    // CHECK: %[[ALL:.*]] = pdg.all_reduce %[[Q]] sum of 4 : tensor<f32>
    // A trainer joins its own first: a subtree.
    // TWO: %[[Q:.*]] = pdg.add
    // TWO: pdg.all_reduce %[[Q]] sum of 2 : tensor<f32>
    // MANY: pdg.all_reduce {{.*}} sum of 10000
    %p = pdg.sum %x axis 1 : tensor<?x3xf32>
    %s = pdg.sum %p axis 0 : tensor<?xf32>
    // CHECK: %[[M:.*]] = pdg.reduce_min %[[P]] axis 0
    // CHECK: pdg.all_reduce %[[M]] min of 4 : tensor<f32>
    %m = pdg.reduce_min %p axis 0 : tensor<?xf32>
    // CHECK: %[[WHOLE:.*]] = pdg.all_gather %[[P]] axis 0 of 4 to [%[[N]]]
    // CHECK: pdg.cumsum %[[WHOLE]]
    // TWO: %[[OWN:.*]] = pdg.concat
    // TWO: pdg.all_gather %[[OWN]] axis 0 of 2 to
    %c = pdg.cumsum %p axis 0 : tensor<?xf32>
    pdg.fetch "c", %c : tensor<?xf32>
    // CHECK: %[[NEXT:.*]] = pdg.add %{{.*}}, %[[ALL]]
    %next = pdg.add %a, %s : tensor<f32>, tensor<f32>
    %least = pdg.minimum %b, %m : tensor<f32>, tensor<f32>
    pdg.yield %next, %least : tensor<f32>, tensor<f32>
  }
  // CHECK: pdg.print {{.*}}(%[[LAST]]#0, %[[LAST]]#1
  pdg.print ["", " ", ""] [#pdg.format<>, #pdg.format<>]
      (%sums#0, %sums#1 : tensor<f32>, tensor<f32>)
  pdg.yield
}
