// Where trainers join, and what each of them has.
// RUN: %pdc-opt --pdg-propagate-shardings %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.source @train "csv" ["a.csv"] batch 64 : [tensor<3xf32>]

// CHECK-LABEL: pdg.program
pdg.program {
  %zero = pdg.constant dense<0> : tensor<i64>
  %three = pdg.constant dense<3> : tensor<i64>
  // CHECK: pdg.replica {pdg.sharding = ["own"]}
  %r = pdg.replica
  pdg.for_each @train {
  ^bb0(%step: tensor<i64>, %x: tensor<?x3xf32>):
    %n = pdg.dim %x axis 0 : tensor<?x3xf32>
    // CHECK: pdg.part_begin {{.*}} {pdg.sharding = ["own"]}
    %b = pdg.part_begin %n part 0 plus %r of 2 leaves
    %e = pdg.part_begin %n part 1 plus %r of 2 leaves
    %s = pdg.sub %e, %b : tensor<i64>, tensor<i64>
    // CHECK: pdg.part {{.*}} {pdg.sharding = ["slices of axis 0"]}
    %x0 = pdg.part %x axis 0 from %b size %s : tensor<?x3xf32>
    // CHECK: pdg.transpose {{.*}} {pdg.sharding = ["slices of axis 1"]}
    %t = pdg.transpose %x0 [1, 0] : tensor<?x3xf32>
    %p = pdg.sum %t axis 0 : tensor<3x?xf32>
    // CHECK: pdg.sum {{.*}} {pdg.sharding = ["partial sum"]}
    %q = pdg.sum %p axis 0 : tensor<?xf32>
    // CHECK: pdg.reduce_max {{.*}} {pdg.sharding = ["partial extremum"]}
    %m = pdg.reduce_max %p axis 0 : tensor<?xf32>
    // Needed in every round: stays. Joined values have no mark.
    // CHECK: pdg.all_reduce {{.*}} max of 2 : tensor<f32>
    // CHECK-NOT: pdg.all_reduce
    %all = pdg.all_reduce %m max of 2 : tensor<f32>
    // Nobody needs it.
    %none = pdg.all_reduce %q sum of 2 : tensor<f32>
    // One branch alone needs it, and what is computed from it.
    %joined = pdg.all_reduce %q sum of 2 : tensor<f32>
    %mean = pdg.exp %joined : tensor<f32>
    %first = pdg.eq %step, %zero : tensor<i64>, tensor<i64>
    // CHECK: pdg.if
    // CHECK-NEXT: pdg.all_reduce {{.*}} sum of 2
    // CHECK-NEXT: pdg.exp
    // CHECK: } else {
    pdg.if %first {
      pdg.print ["", ""] [#pdg.format<>] (%mean : tensor<f32>)
    } else {
    }
    pdg.print ["", ""] [#pdg.format<>] (%all : tensor<f32>)
    // A loop that changes nothing of it: gathered once.
    // CHECK: %[[WHOLE:.*]] = pdg.all_gather
    // CHECK: pdg.for
    // CHECK: pdg.add %{{.*}}, %[[WHOLE]]
    // CHECK: pdg.for {{.*}} {
    %w = pdg.for %zero to %three carry (%x : tensor<?x3xf32>) -> tensor<?x3xf32> {
    ^bb0(%i: tensor<i64>, %h: tensor<?x3xf32>):
      %size = pdg.dim %x0 axis 0 : tensor<?x3xf32>
      %whole = pdg.all_gather %x0 axis 0 of 2 to [%n, 3] : tensor<?x3xf32> -> tensor<?x3xf32>
      %next = pdg.add %h, %whole : tensor<?x3xf32>, tensor<?x3xf32>
      pdg.yield %next : tensor<?x3xf32>
    }
    // What a loop carries in slices.
    // CHECK: } {pdg.sharding = ["slices of axis 0", "whole"]}
    %c:2 = pdg.for %zero to %three carry (%x0, %zero : tensor<?x3xf32>, tensor<i64>)
        -> tensor<?x3xf32>, tensor<i64> {
    ^bb0(%i: tensor<i64>, %h: tensor<?x3xf32>, %k: tensor<i64>):
      %next = pdg.exp %h : tensor<?x3xf32>
      pdg.yield %next, %i : tensor<?x3xf32>, tensor<i64>
    }
    // What a loop yields is needed.
    // CHECK: pdg.all_reduce
    // CHECK-NEXT: pdg.yield
    %sum = pdg.for %zero to %three carry (%all : tensor<f32>) -> tensor<f32> {
    ^bb0(%i: tensor<i64>, %h: tensor<f32>):
      %last = pdg.dim %c#0 axis 0 : tensor<?x3xf32>
      %rows = pdg.broadcast %h to [%last] : tensor<f32>
      %own = pdg.sum %rows axis 0 : tensor<?xf32>
      %next = pdg.all_reduce %own sum of 2 : tensor<f32>
      pdg.yield %next : tensor<f32>
    }
    pdg.fetch "sum", %sum : tensor<f32>
    %end = pdg.all_gather %c#0 axis 0 of 2 to [%n, 3] : tensor<?x3xf32> -> tensor<?x3xf32>
    pdg.fetch "end", %end : tensor<?x3xf32>
    pdg.fetch "w", %w : tensor<?x3xf32>
    pdg.yield
  }
  pdg.yield
}
