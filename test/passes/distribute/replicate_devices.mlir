// R20: the first device keeps the true name; no name occurs twice over nodes and devices.
// RUN: %pdc-opt --pdg-insert-send-recv --pdg-replicate-devices %s | FileCheck %s
// RUN: %pdc-opt --pdg-insert-send-recv --pdg-replicate-devices --pdg-rename-replicas %s | FileCheck %s --check-prefix=NAME
// RUN: sed 's/, devices = 2//' %s | %pdc-opt --pdg-insert-send-recv --pdg-replicate-devices | FileCheck %s --check-prefix=ONE
// SPDX-License-Identifier: Apache-2.0
#any = #pdg.role<anywhere>
#t = #pdg.role<trainer>
#s = #pdg.role<server>

// ONE-NOT: pdg.device
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1, devices = 2>} {
  pdg.source @train "csv" ["a.csv"] batch 64 : [tensor<f32>]
  pdg.variable <"w"> : tensor<f32> param {
    %0 = pdg.constant dense<0.0> : tensor<f32>
    pdg.yield %0 : tensor<f32>
  } {pdg.home = #s}
  pdg.program {
    %r = pdg.replica {pdg.place = #t}
    %two = pdg.constant {pdg.place = #any} dense<2> : tensor<i64>
    %first = pdg.mul %r, %two {pdg.place = #t} : tensor<i64>, tensor<i64>
    pdg.for_each @train {
    ^bb0(%step: tensor<i64>, %x: tensor<?xf32>):
      // One Recv for the node, and a copy for the second device.
      // CHECK: %[[W:.*]] = pdg.recv <subject = <"w">, kind = variable,
      // CHECK-NEXT: pdg.enqueue %[[W]], <subject = <"w">, kind = variable, number = 1, {{.*}}> capacity 1
      // CHECK-NEXT: %[[W1:.*]] = pdg.dequeue <subject = <"w">, kind = variable, number = 1, {{.*}} {pdg.device = 1 : i64}
      // NAME: %[[W:.*]] = pdg.recv <subject = <"w">, kind = variable,
      // NAME-NEXT: pdg.enqueue %[[W]], <subject = <"w", replica = 1>, kind = variable, from
      // NAME-NEXT: pdg.dequeue <subject = <"w", replica = 1>, kind = variable, from
      %w = pdg.read <"w"> : tensor<f32> {pdg.place = #s}
      %n = pdg.dim %x axis 0 {pdg.place = #t} : tensor<?xf32>
      %b0 = pdg.part_begin %n part 0 plus %first of 4 leaves {pdg.place = #t}
      %b1 = pdg.part_begin %n part 1 plus %first of 4 leaves {pdg.place = #t}
      %b2 = pdg.part_begin %n part 2 plus %first of 4 leaves {pdg.place = #t}
      %n0 = pdg.sub %b1, %b0 {pdg.place = #t} : tensor<i64>, tensor<i64>
      %n1 = pdg.sub %b2, %b1 {pdg.place = #t} : tensor<i64>, tensor<i64>
      // The slices are cut where the batch is; each device gets its own.
      // CHECK: pdg.part %
      // CHECK-NEXT: %[[PART:.*]] = pdg.part %
      // CHECK-NEXT: %[[SIZE:.*]] = pdg.dim %[[PART]]
      // CHECK-NEXT: pdg.enqueue %[[PART]]
      // CHECK-NEXT: %[[X1:.*]] = pdg.dequeue {{.*}} to [%[[SIZE]]] {pdg.device = 1 : i64}
      %x0 = pdg.part %x axis 0 from %b0 size %n0 {pdg.place = #t} : tensor<?xf32>
      %x1 = pdg.part %x axis 0 from %b1 size %n1 {pdg.place = #t} : tensor<?xf32>
      // CHECK: pdg.sum %{{[0-9]+}} axis 0 :
      // CHECK: pdg.sum %[[X1]] axis 0 {pdg.device = 1 : i64}
      %s0 = pdg.sum %x0 axis 0 {pdg.place = #t} : tensor<?xf32>
      %s1 = pdg.sum %x1 axis 0 {pdg.place = #t} : tensor<?xf32>
      // CHECK: %[[G0:.*]] = pdg.mul %{{[0-9]+}}, %[[W]] :
      // CHECK: %[[G1:.*]] = pdg.mul %{{[0-9]+}}, %[[W1]] {pdg.device = 1 : i64}
      %g0 = pdg.mul %s0, %w {pdg.place = #t} : tensor<f32>, tensor<f32>
      %g1 = pdg.mul %s1, %w {pdg.place = #t} : tensor<f32>, tensor<f32>
      // Joined on the first device, and sent once.
      // CHECK-NEXT: pdg.enqueue %[[G1]], {{.*}} {pdg.device = 1 : i64}
      // CHECK-NEXT: %[[G1THERE:.*]] = pdg.dequeue
      // CHECK-NEXT: %[[G:.*]] = pdg.add %[[G0]], %[[G1THERE]]
      // CHECK-NEXT: pdg.send %[[G]], <subject = <"w">, kind = gradient
      // CHECK-NOT: pdg.send {{.*}}kind = gradient
      // NAME: pdg.enqueue {{.*}}, replica = 1>, kind = value, from
      %g = pdg.add %g0, %g1 {pdg.place = #t} : tensor<f32>, tensor<f32>
      %sum = pdg.all_reduce %g sum of 2 {pdg.place = #t} : tensor<f32>
      pdg.assign <"w">, %sum : tensor<f32> {pdg.place = #s}
      pdg.yield
    }
    pdg.yield
  }
}
