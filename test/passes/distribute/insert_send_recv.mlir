// R2 R3: one Send and one Recv for each variable and gradient, whatever the number of trainers.
// RUN: %pdc-opt --pdg-insert-send-recv %s | FileCheck %s
// RUN: %pdc-opt --pdg-insert-send-recv --pdg-split-roles %s | FileCheck %s --check-prefix=ROLE
// RUN: sed 's/trainers = 2/trainers = 9/; s/of 2/of 9/' %s | %pdc-opt --pdg-insert-send-recv | grep -c "pdg.send\|pdg.recv\|pdg.accumulate" > %t.9
// RUN: %pdc-opt --pdg-insert-send-recv %s | grep -c "pdg.send\|pdg.recv\|pdg.accumulate" | diff - %t.9
// SPDX-License-Identifier: Apache-2.0
#any = #pdg.role<anywhere>
#t = #pdg.role<trainer>
#s0 = #pdg.role<server>
#s1 = #pdg.role<server, 1>

module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 2>} {
  pdg.source @train "csv" ["a.csv"] batch 64 : [tensor<3xf32>]
  pdg.variable <"w"> : tensor<3xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<3xf32>
    pdg.yield %0 : tensor<3xf32>
  } {pdg.home = #s0}
  pdg.variable <"b"> : tensor<f32> param {
    %0 = pdg.constant dense<0.0> : tensor<f32>
    pdg.yield %0 : tensor<f32>
  } {pdg.home = #s1}

  // CHECK: pdg.program
  pdg.program {
    %r = pdg.replica {pdg.place = #t}
    // What anybody can compute is computed by those who need it.
    // CHECK: pdg.constant {pdg.place = #pdg.role<server>} dense<1.000000e-01>
    // CHECK-NEXT: pdg.constant {pdg.place = #pdg.role<server, 1>} dense<1.000000e-01>
    %rate = pdg.constant {pdg.place = #any} dense<0.1> : tensor<f32>
    // CHECK-NOT: 3.0
    %unused = pdg.constant {pdg.place = #any} dense<3.0> : tensor<f32>
    // CHECK: pdg.for_each
    pdg.for_each @train {
    ^bb0(%step: tensor<i64>, %x: tensor<?x3xf32>):
      // The first trainer tells each server that there is another round.
      // CHECK: %[[YES:.*]] = pdg.constant dense<true>
      // CHECK-NEXT: pdg.send %[[YES]], <{{.*}}, kind = control, from = <trainer>, to = <server>, first = true>
      // CHECK-NEXT: pdg.send %[[YES]], <{{.*}}, kind = control, number = 1, from = <trainer>, to = <server, 1>, first = true>
      %n = pdg.dim %x axis 0 {pdg.place = #t} : tensor<?x3xf32>
      %begin = pdg.part_begin %n part 0 plus %r of 2 leaves {pdg.place = #t}
      %end = pdg.part_begin %n part 1 plus %r of 2 leaves {pdg.place = #t}
      %size = pdg.sub %end, %begin {pdg.place = #t} : tensor<i64>, tensor<i64>
      %x0 = pdg.part %x axis 0 from %begin size %size {pdg.place = #t} : tensor<?x3xf32>
      // CHECK: pdg.recv <subject = <"w">, kind = variable, from = <server>, to = <trainer>> to [3]
      %w = pdg.read <"w"> : tensor<3xf32> {pdg.place = #s0}
      %b = pdg.read <"b"> : tensor<f32> {pdg.place = #s1}
      // CHECK: %[[P:.*]] = pdg.contract
      %p = pdg.contract "ik,k->i" %x0, %w {pdg.place = #t} : tensor<?x3xf32>, tensor<3xf32>
      // CHECK: %[[GB:.*]] = pdg.sum
      // CHECK-NEXT: pdg.send %[[GB]], <subject = <"b">, kind = gradient, from = <trainer>, to = <server, 1>>
      // CHECK-NEXT: %[[ALL:.*]] = pdg.recv <subject = <"b">, kind = joined, from = <server, 1>, to = <trainer>>
      %gb0 = pdg.sum %p axis 0 {pdg.place = #t} : tensor<?xf32>
      %gb = pdg.all_reduce %gb0 sum of 2 {pdg.place = #t} : tensor<f32>
      // CHECK: pdg.send %{{.*}}, <subject = <"w">, kind = gradient, from = <trainer>, to = <server>>
      // CHECK-NOT: pdg.recv
      %gw0 = pdg.contract "ki,k->i" %x0, %p leaves {pdg.place = #t}
          : tensor<?x3xf32>, tensor<?xf32>
      %gw = pdg.all_reduce %gw0 sum of 2 {pdg.place = #t} : tensor<3xf32>
      %rates = pdg.broadcast %rate to [3] {pdg.place = #any} : tensor<f32>
      %dw = pdg.mul %gw, %rates {pdg.place = #s0} : tensor<3xf32>, tensor<3xf32>
      %nw = pdg.sub %w, %dw {pdg.place = #s0} : tensor<3xf32>, tensor<3xf32>
      pdg.assign <"w">, %nw : tensor<3xf32> {pdg.place = #s0}
      %db = pdg.mul %gb, %rate {pdg.place = #s1} : tensor<f32>, tensor<f32>
      %nb = pdg.sub %b, %db {pdg.place = #s1} : tensor<f32>, tensor<f32>
      pdg.assign <"b">, %nb : tensor<f32> {pdg.place = #s1}
      // All trainers have the value, the first one prints it.
      // CHECK: pdg.if
      // CHECK-NEXT: pdg.print ["", ""] [#pdg.format<>](%[[ALL]]
      pdg.print ["", ""] [#pdg.format<>] (%gb : tensor<f32>) {pdg.place = #t}
      pdg.yield
    // CHECK: } {pdg.place = #pdg.role<trainer>, pdg.region = 0 : i64}
    }
    pdg.yield
  }

  // A server runs as many rounds as it is told.
  // CHECK: pdg.loop_forever
  // CHECK-NEXT: %[[GO:.*]] = pdg.recv <{{.*}}, kind = control
  // CHECK-NEXT: pdg.if %[[GO]]
  // CHECK-NEXT: %[[W:.*]] = pdg.read <"w">
  // CHECK-NEXT: pdg.send %[[W]], <subject = <"w">, kind = variable
  // CHECK-NEXT: pdg.accumulate <subject = <"w">, kind = gradient, {{.*}}> sum of 2 to [3]
  // CHECK: pdg.assign <"w">
  // CHECK: pdg.yield while %[[GO]]
  // CHECK-NEXT: pdg.place = #pdg.role<server>, pdg.region = 0
  // CHECK: pdg.loop_forever
  // CHECK: pdg.accumulate <subject = <"b">
  // CHECK: pdg.place = #pdg.role<server, 1>, pdg.region = 0
  // Behind the loop of the trainers:
  // CHECK-NEXT: %[[NO:.*]] = pdg.constant {{.*}} dense<false>
  // CHECK-NEXT: pdg.send %[[NO]], <{{.*}}, kind = control,
  // CHECK-NEXT: pdg.send %[[NO]], <{{.*}}, kind = control, number = 1,

  // R20 R21: each name is in one module; all modules know all edges.
  // ROLE-LABEL: module @trainer attributes
  // ROLE-SAME: pdg.edges = [#pdg.edge<{{.*}}], pdg.role = #pdg.role<trainer>}
  // ROLE-NEXT: pdg.source @train
  // ROLE-NEXT: pdg.program
  // ROLE-NOT: pdg.read
  // ROLE-LABEL: module @server_0 attributes
  // ROLE-SAME: pdg.edges = [#pdg.edge<{{.*}}], pdg.role = #pdg.role<server>}
  // ROLE-NEXT: pdg.variable <"w">
  // ROLE-NOT: pdg.read <"b">
  // ROLE-LABEL: module @server_1 attributes
  // ROLE-NEXT: pdg.variable <"b">
  // ROLE-NOT: pdg.read <"w">
}
